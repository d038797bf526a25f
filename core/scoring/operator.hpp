// The computations of learners with a kernel on the trees of one forest, all through the factors:
//
//   scores                K w, for several columns w at once
//   node contributions    (D f)[u] = sum over nodes v of Delta(u, v) f[v], with f the weights of
//                         the trees passed down to their nodes: what a node adds to its tree's
//                         score
//   kernel matrices       K itself
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/parallel.hpp"
#include "factors/factors.hpp"
#include "factors/tree_factors.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/tile_pass.hpp"
#include "scoring/node_contributions.hpp"

namespace filbert {

struct OperatorOptions {
  bool normalize = true;
  FactorLimits limits;
  bool keep_nodes = false;  // for contributions
  // For partial trees, if not 0: only the kernels between the first n_first trees and the others
  // are needed. Then only scores of the other trees by weights of the first are correct.
  std::size_t n_first = 0;
  // For partial trees, if not 0: light fragments are dropped, such that TreeFactors::lost of a tree
  // is at most this share of K(i, i).
  double kernel_tol = 0.0;
  // By tree: the weights of TreeFactors::lost_rows. Empty: 1.
  std::vector<double> row_weights = {};
};

class KernelOperator {
 public:
  KernelOperator(const KernelSpec& spec, std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
                 const OperatorOptions& options, int n_threads, const Watch& watch);

  std::size_t n_trees() const { return trees_.n_trees(); }
  const TreeFactors& trees() const { return trees_; }
  const Dag& dag() const { return *dag_; }
  // The factors of the nodes, with keep_nodes.
  const std::variant<Factors<double>, Factors<Wide>>& nodes() const { return nodes_; }

  // weights[i * n_columns + c]: the weight of tree i in column c; the scores have the same layout.
  std::vector<double> scores(std::span<const double> weights, std::size_t n_columns, int n_threads,
                             const Watch& watch) const;

  // The contributions in the trees from `first` on. Needs keep_nodes.
  NodeContributions contributions(std::span<const double> weights, std::size_t n_columns,
                                  std::size_t first, int n_threads, const Watch& watch) const;

  // By symbol and column: f^T D f between nodes of the same symbol. Symbols are numbers below
  // n_symbols. Needs keep_nodes. Throws KernelOverflow if values are beyond double.
  std::vector<double> symbol_forms(std::span<const double> weights, std::size_t n_columns,
                                   std::span<const std::uint32_t> symbol_of, std::size_t n_symbols,
                                   int n_threads, const Watch& watch) const;

  // Statistics of the factorisation.
  std::uint64_t n_features = 0;
  std::uint64_t n_node_entries = 0;
  std::uint32_t n_rounds = 0;
  std::uint64_t n_blocks_by_pairs = 0;
  std::uint64_t peak_bytes = 0;
  double theta = 0.0;            // fragments that weigh less in all nodes were dropped
  double cpu_factorizing = 0.0;  // seconds of all threads
  double cpu_assembling = 0.0;

 private:
  template <class Real>
  void make(const KernelSpec& spec, const OperatorOptions& options,
            const std::vector<double>& selves, int n_threads, const Watch& watch);
  void make_pruned(const KernelSpec& spec, OperatorOptions options, int n_threads,
                   const Watch& watch);
  // K(i, i) before it is normalised.
  std::vector<double> selves_of_trees(const KernelSpec& spec, int n_threads,
                                      const Watch& watch) const;
  double largest_share_lost() const;
  std::vector<double> weights_of_nodes(const OperatorOptions& options,
                                       const std::vector<double>& selves) const;

  template <class Real>
  std::vector<Real> node_weights(const Factors<Real>& factors, std::span<const double> weights,
                                 std::size_t n_columns) const;

  std::shared_ptr<const Dag> dag_;
  std::vector<NodeId> roots_;
  std::vector<std::uint8_t> counted_;  // by node: whether it is a root of fragments; empty: all
  TreeFactors trees_;
  std::variant<Factors<double>, Factors<Wide>> nodes_;
};

// K between all trees of one forest, or of two forests. Uses the factors if they are likely to be
// cheaper than pairs, otherwise pairs. Throws what kernel_matrix of rows/matrix.hpp throws. Pruned
// factors do not pay here: their products take as long as the pairs.
void cheapest_kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                            const Watch& watch, double* out);
void cheapest_kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                            const Watch& watch, double* out);

}  // namespace filbert
