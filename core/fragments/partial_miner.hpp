// Searches for partial trees, from single nodes to larger ones.
//
// A fragment grows by one node at a time, the last in preorder, so each fragment grows from exactly
// one other. It may occur in several ways at a node. Each way has the weight sqrt(mu) for each node
// times lambda to the power that its nodes cost (kernels/tree.py). The weight in the model is the
// sum over all ways.
#pragma once

#include "fragments/mined.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// B: the relevance of the best single node that is frequent enough.
double best_single_node(const PartialTree& kernel, const Dag& dag, const WeightedNodes& nodes,
                        Criterion criterion, std::uint64_t min_frequency);

// The fragments that pass the filter and grew from fragments that pass it, or all that pass.
MinedFragments mine_partial_trees(const PartialTree& kernel, const MiningTask& task, bool complete);

}  // namespace filbert
