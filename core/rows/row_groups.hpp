// The trees of the rows side in groups of eight. The sums of a group are kept side by side in one
// vector, so that one pass over the columns' trees serves eight rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/occurrences.hpp"

namespace filbert {

inline constexpr std::size_t kLanes = 8;

struct RowGroups {
  // One tree of the group contains the node `count` times.
  struct Entry {
    NodeId node;
    std::uint32_t lane;
    std::uint32_t count;
  };

  std::vector<std::uint64_t> group_begin;  // one more entry than there are groups
  std::vector<Entry> entries;              // of a group: ascending by node
  std::size_t trees_per_group = kLanes;    // the last group may have fewer
  std::size_t n_trees = 0;

  std::size_t size() const { return group_begin.size() - 1; }
  std::span<const Entry> group(std::size_t g) const {
    return {entries.data() + group_begin[g], group_begin[g + 1] - group_begin[g]};
  }
};

RowGroups group_rows(const Occurrences& x, std::size_t trees_per_group);

}  // namespace filbert
