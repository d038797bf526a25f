// Searches for subset trees, from the smallest to larger ones.
//
// A base fragment is a node with its children, or a leaf if the kernel counts leaves. The relevance
// of a fragment depends only on the nodes at which it is rooted and on its size. Growing it at one
// place splits these nodes by the production that they have there.
#pragma once

#include <vector>

#include "fragments/mined.hpp"
#include "fragments/subset_keys.hpp"
#include "kernels/subset_tree.hpp"

namespace filbert {

struct SubsetFragment {
  SubsetKey key;
  std::vector<NodeId> members;  // the nodes at which it is rooted, ascending
};

std::vector<SubsetFragment> subset_base(const SubsetTree& kernel, const Dag& dag,
                                        const WeightedNodes& nodes);

// lambda^(s/2), with s the number of productions (Theorem 1); a leaf counts as one production.
double subset_value(const SubsetTree& kernel, std::span<const std::uint32_t> key);

// The relevance of the best base fragment that is frequent enough.
double best_subset_base(const SubsetTree& kernel, const Dag& dag, const WeightedNodes& nodes,
                        Criterion criterion, std::uint64_t min_frequency);

// Algorithm 5.1 of Pighin & Moschitti 2010.
MinedFragments mine_greedily(const SubsetTree& kernel, const MiningTask& task);

// All fragments that pass the filter.
MinedFragments mine_completely(const SubsetTree& kernel, const MiningTask& task);

}  // namespace filbert
