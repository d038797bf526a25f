#pragma once

#include "forest/occurrences.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/spec.hpp"

namespace filbert {

// Partial trees: throws TooExpensive where one pair of nodes would take more than spec.max_steps.
// Two nodes with k1 and k2 children take k1 * k2 steps (times the length of subsequences, where
// that is bounded).
void check_steps(const KernelSpec& spec, const Dag& rows, const Occurrences& row_trees,
                 const Dag& columns, const Occurrences& column_trees, const NodeClasses& classes);

}  // namespace filbert
