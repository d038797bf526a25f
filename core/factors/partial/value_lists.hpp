// The features that each node has gathered so far, with their values: a chain of chunks, one for
// each round that added features, newest first. During a round, chunks of earlier rounds do not
// move. Pruning needs tails too: it skips the light features at the end of a chunk.
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

  struct Chunk {
    Place previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> features;
    const Real* values;  // beside them
    // If there are tails, beside them: mass * value^2, summed from here to the end of the chunk.
    const float* tails;

    std::size_t size() const { return features.size(); }
  };

  // The memory into which a round's chunks are written.
  struct Room {
    std::uint32_t* features;
    Real* values;
    float* tails;
  };

  explicit ValueLists(bool has_tails) : has_tails_(has_tails) {}

  // The number of words of a chunk.
  std::uint64_t words(std::uint64_t n_features) const {
    const std::uint64_t halves = (n_features + 1) / 2;
    return kHead + halves + n_features * kValue + (has_tails_ ? halves : 0);
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
    return {reinterpret_cast<std::uint32_t*>(at + kHead),
            reinterpret_cast<Real*>(at + values_at(size)),
            reinterpret_cast<float*>(at + values_at(size) + size * kValue)};
  }

  Chunk read(Place place) const {
    const Word* const at = rounds_[place.round - 1].data() + place.word;
    const Head& head = *reinterpret_cast<const Head*>(at);
    return {head.previous,
            place.round,
            head.private_feature,
            {reinterpret_cast<const std::uint32_t*>(at + kHead), head.size},
            reinterpret_cast<const Real*>(at + values_at(head.size)),
            reinterpret_cast<const float*>(at + values_at(head.size) + head.size * kValue)};
  }

  // Prefetches a chunk before it is needed.
  void prefetch(Place place) const {
    if (place.round != 0) __builtin_prefetch(rounds_[place.round - 1].data() + place.word);
  }

  template <class Visit>
  void for_each_chunk(Place newest, const Visit& visit) const {
    for (Place at = newest; at.round != 0;) {
      const Chunk chunk = read(at);
      visit(chunk);
      at = chunk.previous;
    }
  }

  std::uint64_t bytes() const { return n_words_ * sizeof(Word); }

 private:
  // Head, features and values of a chunk are contiguous: reading them waits for memory once.
  using Word = std::uint64_t;
  struct Head {
    Place previous;
    std::uint32_t private_feature;
    std::uint32_t size;
  };
  static constexpr std::uint64_t kHead = sizeof(Head) / sizeof(Word);
  static constexpr std::uint64_t kValue = sizeof(Real) / sizeof(Word);
  static_assert(sizeof(Head) % sizeof(Word) == 0 && alignof(Real) <= sizeof(Word));
  static std::uint64_t values_at(std::uint64_t size) { return kHead + (size + 1) / 2; }

  std::vector<LargeArray<Word>> rounds_;
  std::uint64_t n_words_ = 0;
  bool has_tails_;
};

}  // namespace filbert
