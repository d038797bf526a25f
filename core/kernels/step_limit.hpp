// Kernels with a StepLimit: estimates the steps for pairs of nodes before anything is computed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "forest/occurrences.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The maximum number of children of a node, by class. If equal children are taken together, only
// distinct children count.
std::vector<std::size_t> most_children(const StepLimit& limit, const Dag& dag,
                                       const Occurrences& trees,
                                       std::span<const std::uint32_t> class_of,
                                       std::uint32_t n_classes);

// Throws TooExpensive, naming the two nodes.
[[noreturn]] void refuse_steps(std::string_view label, std::size_t n, std::size_t m, double steps);

// Throws TooExpensive if one pair of nodes would take more than the limit. Classes are the labels
// of `named`.
void check_steps(const StepLimit& limit, std::span<const std::size_t> row_children,
                 std::span<const std::size_t> column_children, const Dag& named);

}  // namespace filbert
