// The part of Delta between the nodes of a block that has been found so far: row by row, by adding
// each feature's mass to the nodes that have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/set_keys.hpp"
#include "factors/subset/subset_state.hpp"

namespace filbert {

template <class Real>
class KnownPairs {
 public:
  explicit KnownPairs(const SubsetState<Real>& state) : state_(state) {}

  void start(std::span<const NodeId> nodes) {
    row_.assign(nodes.size(), Real(0.0));
    number_of_feature_.clear();
    mass_.clear();
    begin_.assign(1, 0);
    numbers_.clear();
    for (const NodeId u : nodes) {
      state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const FeatureLists::Chunk& chunk) {
        for (const std::uint32_t t : chunk.shared) numbers_.push_back(number_of(t));
      });
      begin_.push_back(numbers_.size());
    }
    find_nodes();
  }

  // Node i with the nodes after it. Call it in ascending order of i.
  std::span<const Real> row(std::uint32_t i) {
    std::fill(row_.begin() + i, row_.end(), Real(0.0));
    for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) {
      const std::uint32_t t = numbers_[k];
      ++next_[t];  // node i itself
      for (std::size_t at = next_[t]; at < end_[t]; ++at) row_[nodes_[at]] += mass_[t];
    }
    return row_;
  }

 private:
  std::uint32_t number_of(std::uint32_t feature) {
    std::uint32_t& known = number_of_feature_.at(feature);
    if (known == 0) {
      mass_.push_back(state_.mass[feature]);
      known = static_cast<std::uint32_t>(mass_.size());
    }
    return known - 1;
  }

  // The nodes that have each feature, ascending.
  void find_nodes() {
    end_.assign(mass_.size(), 0);
    for (const std::uint32_t t : numbers_) ++end_[t];
    next_.resize(mass_.size());
    std::size_t sum = 0;
    for (std::size_t t = 0; t < mass_.size(); ++t) {
      next_[t] = sum;
      sum += end_[t];
      end_[t] = next_[t];
    }
    nodes_.resize(sum);
    for (std::uint32_t i = 0; i + 1 < begin_.size(); ++i) {
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) nodes_[end_[numbers_[k]]++] = i;
    }
  }

  const SubsetState<Real>& state_;
  ScratchMap<std::uint32_t, std::uint32_t> number_of_feature_;  // number + 1; 0: none
  std::vector<Real> mass_;                                      // by number
  std::vector<std::size_t> begin_;                              // of a node, in numbers_
  std::vector<std::uint32_t> numbers_;
  std::vector<std::size_t> next_, end_;  // of a feature, in nodes_
  std::vector<std::uint32_t> nodes_;
  std::vector<Real> row_;
};

}  // namespace filbert
