// The features that each node has gathered so far, as a chain of chunks, one for each round that
// added features, newest first. The chunks of a round lie in one arena that is allocated at the end
// of the round: during a round, chunks of earlier rounds do not move.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "base/ids.hpp"
#include "base/large_array.hpp"
#include "factors/factor_state.hpp"

namespace filbert {

class FeatureLists {
 public:
  using Place = std::uint64_t;  // a round and a position in its arena
  static constexpr Place kNowhere = ~Place{0};

  struct Chunk {
    Place previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> shared;
  };

  static constexpr std::size_t kHeader = 4;

  // Adds the arena of the next round. Rounds start at 1.
  void add_round(std::uint64_t n_words) {
    if (arenas_.size() >= (std::size_t{1} << (64 - kOffsetBits)) - 1 ||
        n_words >> kOffsetBits != 0) {
      throw CapacityError("the trees are too deep or too many to be factorised: split the corpus");
    }
    arenas_.emplace_back().resize(n_words);
    n_words_ += n_words;
  }

  // Writes the head of a chunk of the newest round at a position in its arena; the caller fills in
  // the shared features. Different threads may write chunks at different positions.
  std::span<std::uint32_t> write(std::uint64_t offset, Place previous,
                                 std::uint32_t private_feature, std::uint32_t n_shared) {
    std::uint32_t* const p = arenas_.back().data() + offset;
    p[0] = static_cast<std::uint32_t>(previous);
    p[1] = static_cast<std::uint32_t>(previous >> 32);
    p[2] = private_feature;
    p[3] = n_shared;
    return {p + kHeader, n_shared};
  }

  Place newest(std::uint64_t offset) const { return (arenas_.size() << kOffsetBits) | offset; }

  static std::uint32_t round_of(Place place) {  // for kNowhere: a round that never comes
    return static_cast<std::uint32_t>(place >> kOffsetBits);
  }

  void prefetch(Place place) const { __builtin_prefetch(at(place)); }

  Chunk read(Place place) const {
    const std::uint32_t round = round_of(place);
    const std::uint32_t* const p = at(place);
    return {p[0] | (static_cast<Place>(p[1]) << 32), round, p[2], {p + kHeader, p[3]}};
  }

  template <class Visit>
  void for_each_chunk(Place newest, const Visit& visit) const {
    for (Place at = newest; at != kNowhere;) {
      const Chunk chunk = read(at);
      visit(chunk);
      at = chunk.previous;
    }
  }

  std::uint64_t bytes() const { return n_words_ * sizeof(std::uint32_t); }

 private:
  const std::uint32_t* at(Place place) const {
    return arenas_[round_of(place) - 1].data() + (place & kOffsetMask);
  }

  static constexpr int kOffsetBits = 40;
  static constexpr Place kOffsetMask = (Place{1} << kOffsetBits) - 1;

  std::vector<LargeArray<std::uint32_t>> arenas_;
  std::uint64_t n_words_ = 0;
};

}  // namespace filbert
