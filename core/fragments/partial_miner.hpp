// Searches for partial trees, from single nodes to larger ones.
//
// A fragment grows by one node at a time, the last in preorder, so each comes from one other. Where
// it occurs it may do so in several ways; a way weighs sqrt(mu) for each node and lambda to the
// power of what its nodes pay (kernels/tree.py): its weight in the model is the sum over all.
#pragma once

#include "fragments/mined.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// B: the heaviest single node that is frequent enough.
double best_single_node(const PartialTree& kernel, const Dag& dag, const WeightedNodes& nodes,
                        Criterion criterion, std::uint64_t min_frequency);

// Those that pass the filter and grew from such that do; or all that pass.
MinedFragments mine_partial_trees(const PartialTree& kernel, const MiningTask& task, bool complete);

}  // namespace filbert
