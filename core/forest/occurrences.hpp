// The matrix X: for each tree, its distinct nodes and how often each occurs in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"

namespace filbert {

// Compressed rows. Within a row the nodes ascend.
struct Occurrences {
  std::vector<std::uint64_t> row_begin;  // one more entry than there are trees
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> counts;

  std::size_t n_trees() const { return row_begin.size() - 1; }
  std::span<const NodeId> nodes_of(std::size_t tree) const {
    return {nodes.data() + row_begin[tree], row_begin[tree + 1] - row_begin[tree]};
  }
  std::span<const std::uint32_t> counts_of(std::size_t tree) const {
    return {counts.data() + row_begin[tree], row_begin[tree + 1] - row_begin[tree]};
  }
};

// Nodes with class_of[u] == kNone are left out.
Occurrences count_occurrences(const Dag& dag, std::span<const NodeId> roots,
                              std::span<const std::uint32_t> class_of, int n_threads = 1,
                              const Watch& watch = {});

}  // namespace filbert
