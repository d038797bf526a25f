// One tree extracted from its forest: its distinct nodes with local numbers. The time depends on
// the size of the tree, not of the forest, and the numbers depend only on the tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"

namespace filbert {

// Nodes are numbered from the leaves up, in the order in which their brackets close in the text.
struct LocalTree {
  std::vector<NodeId> nodes;               // in the forest
  std::vector<std::uint32_t> counts;       // occurrences of each node in the tree
  std::vector<std::uint32_t> child_begin;  // one more entry than there are nodes
  std::vector<std::uint32_t> children;     // local numbers

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
  std::span<const std::uint32_t> children_of(std::uint32_t u) const {
    return {children.data() + child_begin[u], child_begin[u + 1] - child_begin[u]};
  }
  bool is_leaf(std::uint32_t u) const { return child_begin[u] == child_begin[u + 1]; }
};

// Throws TooManyOccurrences with `place` as the index of the tree.
LocalTree take_out(const Dag& dag, NodeId root, std::size_t place, const StopToken& token);

// The productions of a tree: a number for each inner node, kNone for a leaf.
struct LocalProductions {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> example;  // by production: a node that has it
};

LocalProductions local_productions(const Dag& dag, const LocalTree& tree);

}  // namespace filbert
