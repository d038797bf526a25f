// An example for each class of fragments: the largest fragment that its nodes have in common.
//
// For subset trees it belongs to the class. Two fragments that occur in the same nodes have a
// union, in each of these nodes, that occurs there too: a class has one largest fragment. For
// partial trees it is a fragment that the nodes share, found by aligning children from left to
// right, and need not be of the class.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "factors/tree_factors.hpp"
#include "scoring/operator.hpp"

namespace filbert {

struct CommonFragments {
  std::shared_ptr<const Dag> dag;  // fragments as trees; nodes that are not grown are leaves
  std::vector<NodeId> roots;       // by wanted column
  std::vector<std::uint8_t> open;  // of all nodes of all fragments, in preorder
};

// For some columns of the factors of the operator's trees. The operator kept its nodes. With
// `whole_productions` a node of a fragment has all its children or none. Where several classes of
// nodes are one column, the largest of their fragments is taken. Fragments are cut at some thousand
// nodes. Throws std::invalid_argument if a column does not exist.
CommonFragments common_fragments(const KernelOperator& trees, const TreeFactors& known,
                                 std::span<const std::uint32_t> columns, bool whole_productions,
                                 int n_threads, const Watch& watch);

}  // namespace filbert
