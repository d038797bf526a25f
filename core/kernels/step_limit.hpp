#pragma once

#include <span>
#include <vector>

#include "forest/occurrences.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/spec.hpp"

namespace filbert {

// Partial trees: the most children of a node, by class (distinct ones, where equal children are
// taken together).
std::vector<std::size_t> most_children(const KernelSpec& spec, const Dag& dag,
                                       const Occurrences& trees,
                                       std::span<const std::uint32_t> class_of,
                                       std::uint32_t n_classes);

// Throws TooExpensive where one pair of nodes would take more than spec.max_steps. Two nodes with
// k1 and k2 children take k1 * k2 steps (times the length of subsequences, where that is bounded).
// Classes are the labels of `named`.
void check_steps(const KernelSpec& spec, std::span<const std::size_t> row_children,
                 std::span<const std::size_t> column_children, const Dag& named);

}  // namespace filbert
