// The features that each node has gathered so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

// The features of each node, in chunks of one round, newest first: while a round is on, the chunks
// of the rounds before do not move.
class FeatureLists {
 public:
  explicit FeatureLists(std::size_t n_nodes) : head_(n_nodes, kNoChunk) {}

  // The newest chunk of a node is that of `round`, if it has one of that round.
  struct Chunk {
    std::uint64_t previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> shared;
  };

  template <class Visit>
  void for_each_chunk(NodeId u, const Visit& visit) const {
    for (std::uint64_t at = head_[u]; at != kNoChunk;) {
      const Chunk chunk = read(at);
      visit(chunk);
      at = chunk.previous;
    }
  }

  // The newest one, if it is of this round.
  template <class Visit>
  void newest_chunk(NodeId u, std::uint32_t round, const Visit& visit) const {
    if (head_[u] == kNoChunk) return;
    const Chunk chunk = read(head_[u]);
    if (chunk.round == round) visit(chunk);
  }

  void add(NodeId u, std::uint32_t round, std::uint32_t private_feature,
           std::span<const std::uint32_t> shared) {
    const std::uint64_t at = data_.size();
    data_.push_back(static_cast<std::uint32_t>(head_[u]));
    data_.push_back(static_cast<std::uint32_t>(head_[u] >> 32));
    data_.push_back(round);
    data_.push_back(private_feature);
    data_.push_back(static_cast<std::uint32_t>(shared.size()));
    data_.insert(data_.end(), shared.begin(), shared.end());
    head_[u] = at;
  }

  std::uint64_t bytes() const { return data_.size() * sizeof(std::uint32_t); }

 private:
  static constexpr std::uint64_t kNoChunk = ~std::uint64_t{0};

  Chunk read(std::uint64_t at) const {
    const std::uint32_t* p = data_.data() + at;
    return {p[0] | (static_cast<std::uint64_t>(p[1]) << 32), p[2], p[3], {p + 5, p[4]}};
  }

  std::vector<std::uint64_t> head_;
  std::vector<std::uint32_t> data_;
};

}  // namespace filbert
