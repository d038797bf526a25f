// The features that each node has gathered so far, with their values: a chain of chunks, one for
// each round that added features, newest first. During a round, chunks of earlier rounds do not
// move. Pruning needs weights too: it skips the light features at the end of a chunk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/large_array.hpp"

namespace filbert {

template <class Real>
class ValueLists {
 public:
  // A round and the position of a chunk in it. Rounds start at 1.
  struct Place {
    std::uint32_t round = 0;  // 0: no chunk
    std::uint32_t word = 0;
  };

  // What a feature weighs: its mass, and mass * value^2 summed from here to the end of the chunk.
  struct Weight {
    float mass, tail;
  };

  struct Chunk {
    Place previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> features;
    const Real* values;     // beside them
    const Weight* weights;  // beside them, with pruning

    std::size_t size() const { return features.size(); }
  };

  // The memory into which a round's chunks are written.
  struct Room {
    std::uint32_t* features;
    Real* values;
    Weight* weights;
  };

  explicit ValueLists(bool has_weights) : has_weights_(has_weights) {}

  // The number of words of a chunk.
  std::uint64_t words(std::uint64_t n_features) const {
    return values_at(n_features) + n_features * kValue;
  }

  void add_round(std::uint64_t n_words) {
    rounds_.emplace_back();
    rounds_.back().resize(n_words);
    n_words_ += n_words;
  }

  // The caller fills in the features. Different chunks may be written by different threads.
  Room write(std::uint64_t word, std::uint32_t size, Place previous,
             std::uint32_t private_feature) {
    Word* const at = rounds_.back().data() + word;
    *reinterpret_cast<Head*>(at) = {previous, private_feature, size};
    return {reinterpret_cast<std::uint32_t*>(at + features_at(size)),
            reinterpret_cast<Real*>(at + values_at(size)), reinterpret_cast<Weight*>(at + kHead)};
  }

  Chunk read(Place place) const {
    const Word* const at = rounds_[place.round - 1].data() + place.word;
    const Head& head = *reinterpret_cast<const Head*>(at);
    return {head.previous,
            place.round,
            head.private_feature,
            {reinterpret_cast<const std::uint32_t*>(at + features_at(head.size)), head.size},
            reinterpret_cast<const Real*>(at + values_at(head.size)),
            reinterpret_cast<const Weight*>(at + kHead)};
  }

  // Prefetches a chunk before it is needed.
  void prefetch(Place place) const {
    if (place.round == 0) return;
    const Word* const at = rounds_[place.round - 1].data() + place.word;
    __builtin_prefetch(at);
    __builtin_prefetch(at + 8);
  }

  template <class Visit>
  void for_each_chunk(Place newest, const Visit& visit) const {
    for (Place at = newest; at.round != 0;) {
      const Chunk chunk = read(at);
      prefetch(chunk.previous);
      visit(chunk);
      at = chunk.previous;
    }
  }

  std::uint64_t bytes() const { return n_words_ * sizeof(Word); }

 private:
  // All of a chunk is contiguous: reading it waits for memory once. The weights come first, because
  // many chunks are skipped by their first one.
  using Word = std::uint64_t;
  struct Head {
    Place previous;
    std::uint32_t private_feature;
    std::uint32_t size;
  };
  static constexpr std::uint64_t kHead = sizeof(Head) / sizeof(Word);
  static constexpr std::uint64_t kValue = sizeof(Real) / sizeof(Word);
  static_assert(sizeof(Weight) == sizeof(Word));
  static_assert(sizeof(Head) % sizeof(Word) == 0 && alignof(Real) <= sizeof(Word));
  std::uint64_t features_at(std::uint64_t size) const { return kHead + (has_weights_ ? size : 0); }
  std::uint64_t values_at(std::uint64_t size) const { return features_at(size) + (size + 1) / 2; }

  std::vector<LargeArray<Word>> rounds_;
  std::uint64_t n_words_ = 0;
  bool has_weights_;
};

}  // namespace filbert
