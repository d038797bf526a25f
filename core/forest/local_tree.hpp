// One tree taken out of its forest: its distinct nodes under small numbers of their own. The time
// goes with the tree, not with the forest, and the numbers depend on the tree alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"

namespace filbert {

// Nodes are numbered from the leaves up, in the order in which a walk through the text closes them.
struct LocalTree {
  std::vector<NodeId> nodes;               // in the forest
  std::vector<std::uint32_t> counts;       // how often the tree contains each
  std::vector<std::uint32_t> child_begin;  // one more than there are nodes
  std::vector<std::uint32_t> children;     // local numbers

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
  std::span<const std::uint32_t> children_of(std::uint32_t u) const {
    return {children.data() + child_begin[u], child_begin[u + 1] - child_begin[u]};
  }
  bool is_leaf(std::uint32_t u) const { return child_begin[u] == child_begin[u + 1]; }
};

// Throws TooManyOccurrences, naming the tree by its place.
LocalTree take_out(const Dag& dag, NodeId root, std::size_t place, const StopToken& token);

// The nodes of a tree by production: a number for each inner node, kNone for a leaf.
struct LocalProductions {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> example;  // by production: a node that has it
};

LocalProductions local_productions(const Dag& dag, const LocalTree& tree);

}  // namespace filbert
