// The gains of symbols: with f the weights that trees pass down to their nodes, f^T D f split up by
// symbol, where D is Delta between nodes of the same symbol and 0 between others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "factors/factors.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// Uses the factors: Delta = Phi M Phi^T + diag(r), where a symbol has the rows of its nodes. The
// entry f[u * n_columns + c] is the weight of node u in column c; the result is by symbol and
// column. Each column is a task for one thread. Throws KernelOverflow if values are beyond double.
template <class Real>
std::vector<double> factor_forms(const Factors<Real>& factors, std::span<const Real> f,
                                 std::size_t n_columns, std::span<const std::uint32_t> symbol_of,
                                 std::size_t n_symbols, int n_threads, const Watch& watch);

// Uses pairs of distinct nodes, for kernels with too many factors. The weights belong to trees.
// Throws what TrainingTrees throws.
std::vector<double> pair_forms(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                               std::vector<NodeId> roots, bool normalize,
                               std::span<const double> weights, std::size_t n_columns,
                               std::span<const std::uint32_t> symbol_of, std::size_t n_symbols,
                               int n_threads, const Watch& watch);

}  // namespace filbert
