// Scores of many trees by weights of other trees, through the factors of their nodes:
//
//   score(t) = sum over nodes u of t of count_t(u) (D f)(u),   D = Phi M Phi^T + diag(r)
//
// with f the weights of trees passed down to their nodes. The sums over the nodes of trees are
// passed up the DAG, so the factors of whole trees are not needed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "factors/factors.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The first trees have weights: weights[i * n_columns + c] is that of tree i in column c. Scores
// the other trees, with the same layout. Kernels are not normalised. Throws what factorize()
// throws, and KernelOverflow if scores are beyond double.
std::vector<double> scores_between(const KernelSpec& spec, const Dag& dag,
                                   std::span<const NodeId> roots, std::span<const double> weights,
                                   std::size_t n_columns, FactorLimits limits, int n_threads,
                                   const Watch& watch);

}  // namespace filbert
