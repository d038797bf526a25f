// Approximate subset tree kernels of two large trees: from the pairs of chosen nodes downwards, so
// that only pairs of nodes are met that one of them leads to. Where few symbols are chosen, time
// and memory go with the size of the trees and not with its square (Rieck, Brefeld & Krueger 2008,
// section 4.3). Rows of Delta would go through all pairs of a production.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/spec.hpp"
#include "rows/long_chains.hpp"

namespace filbert {

// By tree: whether it is large, and has so few chosen nodes that pairs of them are not more than
// all its nodes. Of such trees the pairs below are fewer than those that rows go through.
std::vector<bool> few_chosen(const ChosenSymbols& chosen, const Dag& dag,
                             std::span<const NodeId> roots);

// Nodes of the count 0 are no roots of fragments. Nothing where more than max_pairs are needed.
std::optional<Wide> sum_of_needed_pairs(const KernelSpec& spec, const CountedTree& a,
                                        const CountedTree& b, std::size_t max_pairs,
                                        const StopToken& token);

}  // namespace filbert
