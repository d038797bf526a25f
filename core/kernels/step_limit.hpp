#pragma once

#include <span>
#include <string_view>
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

// Two nodes with n and m children take n * m steps (times the length of subsequences, where that is
// bounded).
double steps_of_pair(const KernelSpec& spec, std::size_t n, std::size_t m);

// Throws TooExpensive, naming the two nodes.
[[noreturn]] void refuse_steps(std::string_view label, std::size_t n, std::size_t m, double steps);

// Throws TooExpensive where one pair of nodes would take more than spec.max_steps. Classes are the
// labels of `named`.
void check_steps(const KernelSpec& spec, std::span<const std::size_t> row_children,
                 std::span<const std::size_t> column_children, const Dag& named);

}  // namespace filbert
