// Complete subtrees as fragments. No subtree grows from another, so all are checked.
#pragma once

#include "fragments/mined.hpp"
#include "kernels/subtree.hpp"

namespace filbert {

// lambda^(s/2) by node, with s the number of nodes with children in its subtree.
std::vector<double> subtree_values(double decay, const Dag& dag);

// The relevance of the best subtree that is frequent enough.
double best_subtree(const Subtree& kernel, const Dag& dag, const WeightedNodes& nodes,
                    Criterion criterion, std::uint64_t min_frequency);

MinedFragments mine_subtrees(const Subtree& kernel, const MiningTask& task);

}  // namespace filbert
