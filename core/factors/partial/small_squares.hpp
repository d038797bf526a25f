// The kernels of small trees with themselves.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// For trees of few nodes, and values in the range of doubles: the sum of Delta over pairs of nodes
// of a tree, not normalised. It takes one value of memory for each pair of nodes. Rows (rows/) are
// made for large trees: preparing them takes longer than all of this.
std::vector<double> small_squares(const PartialTree& kernel, const Dag& dag,
                                  std::span<const NodeId> roots, int n_threads, const Watch& watch);

}  // namespace filbert
