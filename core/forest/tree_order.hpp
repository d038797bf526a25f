// The order in which trees have their nodes and labels. It depends only on the trees, not on how
// their forest was built. A forest that was read from one text is in this order.
#pragma once

#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

struct TreeOrder {
  std::vector<NodeId> nodes;    // by first occurrence, children before their parents
  std::vector<LabelId> labels;  // by first occurrence, those of parents before their children's
};

TreeOrder tree_order(const Dag& dag, std::span<const NodeId> roots);

// Whether all nodes and labels of a forest belong to these trees and are in their order.
bool is_in_order(const Dag& dag, std::span<const NodeId> roots);

}  // namespace filbert
