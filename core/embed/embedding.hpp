// Distributed trees (Zanzotto & Dell'Arciprete 2012): a vector for each tree, so that the product
// of two vectors approximates the subset tree kernel of the trees, divided by lambda.
//
// A tree's vector is the sum of s(n) over its nodes. Here that is T(n) = s(n) + T(c_1) + ... +
// T(c_m), once for each distinct subtree. So the order of a sum depends on the tree alone, and a
// tree has the same digits whatever else is embedded with it.
//
// Memory is bounded: what is most frequent in all trees is computed first and kept, for half of it.
// Then threads take blocks of trees, compute what is not kept, children right before their parents
// and so while they are in the cache, and forget it as soon as nothing in the block needs it.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "embed/composition.hpp"
#include "forest/dag.hpp"

namespace filbert {

struct EmbeddingSpec {
  std::size_t n_components = 8192;
  ComposeBy by = ComposeBy::convolution;
  double decay = 0.4;
  bool normalize = true;
  std::uint64_t seed = 0;
  Components components = Components::normal;  // of labels' vectors
};

template <class T>
class TreeEmbedder {
 public:
  explicit TreeEmbedder(const EmbeddingSpec& spec);

  double gamma() const { return composition_.gamma; }
  std::size_t n_components() const { return spec_.n_components; }

  static constexpr std::size_t kFinite = static_cast<std::size_t>(-1);

  // Row i of `out` becomes the vector of tree i. Returns kFinite, or the first tree whose vector is
  // beyond the range of T, which none is that is normalised. `max_bytes` is for vectors of parts of
  // trees; a block of one tree may take more.
  std::size_t embed(const Dag& dag, std::span<const NodeId> roots, std::size_t max_bytes,
                    int n_threads, const Watch& watch, T* out) const;

 private:
  EmbeddingSpec spec_;
  Composition<T> composition_;
  LabelVectors labels_;
};

}  // namespace filbert
