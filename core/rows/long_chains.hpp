// Subset trees of trees that are long chains. If most nodes have a single child, almost every pair
// of them shares its production, and the rows of Delta would take time quadratic in the depth:
// 10^12 steps for two chains of a million nodes. This algorithm takes N log N.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/subset_tree.hpp"
#include "rows/counted_tree.hpp"

namespace filbert {

// Whether the rows of Delta would be too slow for this tree with a similar one and this algorithm
// is not: the tree has very many pairs of nodes with one child, and few pairs of other nodes.
bool is_long_chain(const CountedTree& tree);

// K(a, b) of two such trees, exactly.
Wide subset_tree_of_chains(const SubsetTree& kernel, const CountedTree& a, const CountedTree& b,
                           const StopToken& token);

}  // namespace filbert
