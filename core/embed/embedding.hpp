// Distributed trees (Zanzotto & Dell'Arciprete 2012): a vector for each tree. The dot product of
// two vectors approximates the subset tree kernel of the trees, divided by lambda.
//
// The vector of a tree is the sum of s(n) over its nodes. It is computed as T(n) = s(n) + T(c_1) +
// ... + T(c_m), once for each distinct subtree. So the order of a sum depends only on the tree, and
// a tree gets the same digits with any other trees beside it.
//
// Memory is bounded. The items that are most frequent in all trees are computed first and kept, in
// half of the memory. Then threads take blocks of trees and compute the items that are not kept.
// Children are computed right before their parents, while they are in the cache, and are freed as
// soon as nothing in the block needs them.
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
  Components components = Components::normal;  // of the vectors of labels
};

template <class T>
class TreeEmbedder {
 public:
  explicit TreeEmbedder(const EmbeddingSpec& spec);

  double gamma() const { return composition_.gamma; }
  std::size_t n_components() const { return spec_.n_components; }

  static constexpr std::size_t kFinite = static_cast<std::size_t>(-1);

  // Writes the vector of tree i to row i of `out`. Returns kFinite, or the first tree whose vector
  // is beyond the range of T. Normalised vectors are always finite. `max_bytes` limits the memory
  // for vectors of parts of trees. A block of one tree may take more.
  std::size_t embed(const Dag& dag, std::span<const NodeId> roots, std::size_t max_bytes,
                    int n_threads, const Watch& watch, T* out) const;

 private:
  EmbeddingSpec spec_;
  Composition<T> composition_;
  LabelVectors labels_;
};

}  // namespace filbert
