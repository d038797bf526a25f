// The features that each node has gathered so far, with their values: a chain of chunks, one for
// each round that gave it any, newest first. While a round is on, nothing of the rounds before
// moves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

template <class Real>
class ValueLists {
 public:
  // A round and a chunk of it. Rounds start with 1.
  struct Place {
    std::uint32_t round = 0;  // 0: nowhere
    std::uint32_t chunk = 0;
  };

  struct Chunk {
    Place previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> features;
    std::span<const Real> values;
  };

  // What a round's chunks are written into.
  struct Room {
    std::span<std::uint32_t> features;
    std::span<Real> values;
  };

  void add_round(std::size_t n_chunks, std::size_t n_entries) {
    rounds_.emplace_back();
    rounds_.back().heads.resize(n_chunks);
    rounds_.back().features.resize(n_entries);
    rounds_.back().values.resize(n_entries);
    bytes_ += n_chunks * sizeof(Head) + n_entries * (sizeof(std::uint32_t) + sizeof(Real));
  }

  // The caller fills in the features. Different chunks may be written by different threads.
  Room write(std::uint32_t chunk, std::uint64_t begin, std::uint32_t size, Place previous,
             std::uint32_t private_feature) {
    Round& round = rounds_.back();
    round.heads[chunk] = {previous, private_feature, size, begin};
    return {{round.features.data() + begin, size}, {round.values.data() + begin, size}};
  }

  Chunk read(Place place) const {
    const Round& round = rounds_[place.round - 1];
    const Head& head = round.heads[place.chunk];
    return {head.previous,
            place.round,
            head.private_feature,
            {round.features.data() + head.begin, head.size},
            {round.values.data() + head.begin, head.size}};
  }

  template <class Visit>
  void for_each_chunk(Place newest, const Visit& visit) const {
    for (Place at = newest; at.round != 0;) {
      const Chunk chunk = read(at);
      visit(chunk);
      at = chunk.previous;
    }
  }

  std::uint64_t bytes() const { return bytes_; }
  static std::uint64_t bytes_of(std::size_t n_chunks, std::size_t n_entries) {
    return n_chunks * sizeof(Head) + n_entries * (sizeof(std::uint32_t) + sizeof(Real));
  }

 private:
  struct Head {
    Place previous;
    std::uint32_t private_feature = kNone;
    std::uint32_t size = 0;
    std::uint64_t begin = 0;
  };
  struct Round {
    std::vector<Head> heads;
    std::vector<std::uint32_t> features;
    std::vector<Real> values;
  };

  std::vector<Round> rounds_;
  std::uint64_t bytes_ = 0;
};

}  // namespace filbert
