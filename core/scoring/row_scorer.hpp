// Scores of new trees by a weighted sum of kernels with a fixed forest, the support vectors:
//
//   score(t) = sum_i coef_i K(t, t_i) = sum over nodes u of t of count_t(u) (D f)(u)
//
//   (D f)(u) = sum_v Delta(u, v) f(v),    f(v) = sum_i coef_i scale_i count_i(v)
//
// with scale_i one over the norm of t_i, or 1. Data that depend on the support vectors alone are
// prepared once; a tree then takes one row of Delta for each of its distinct nodes. (D f)(u) is
// also the contribution of each occurrence of a node to the score.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/column_tile.hpp"
#include "rows/tile_pass.hpp"
#include "scoring/mapped_tree.hpp"
#include "scoring/node_contributions.hpp"
#include "scoring/row_pass.hpp"

namespace filbert {

// For kernels whose scores_by_rows() is true.
class RowScorer {
 public:
  // coef[c * roots.size() + i]: the weight of tree i in column c. Throws std::invalid_argument for
  // other kernels.
  RowScorer(const KernelSpec& spec, std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
            std::vector<double> coef, std::size_t n_columns, bool normalize, int n_threads,
            const Watch& watch);
  ~RowScorer();
  RowScorer(const RowScorer&) = delete;
  RowScorer& operator=(const RowScorer&) = delete;

  std::size_t n_columns() const { return n_columns_; }

  // By tree and column. Throws KernelOverflow if values that are not normalised are beyond double.
  std::vector<double> scores(Trees trees, int n_threads, const Watch& watch) const;

  // Nodes that cannot contribute are left out. Throws TooExpensive for trees that would take more
  // than about a minute; scores() has another algorithm for them.
  NodeContributions contributions(Trees trees, int n_threads, const Watch& watch) const;

 private:
  // A pool of passes, which keep memory for rows from tree to tree.
  template <class Real>
  struct Idle {
    std::mutex mutex;
    std::vector<std::unique_ptr<RowPass<Real>>> passes;
  };

  template <class Real>
  RowWeights<Real> weights(int n_threads, const Watch& watch) const;

  std::vector<MappedTree> map(Trees trees, std::size_t first, std::size_t last, int n_threads,
                              const Watch& watch) const;
  void large_norms(Trees trees, std::vector<MappedTree>& mapped, double max_steps, int n_threads,
                   const Watch& watch) const;
  Wide norm_of(const MappedTree& mapped) const;

  template <class Real>
  bool node_values(const MappedTree& mapped, const Wide& norm, const StopToken& token,
                   std::vector<double>& values) const;
  std::vector<double> node_values(const MappedTree& mapped, const StopToken& token) const;

  template <class Take>
  std::vector<std::size_t> visit(Trees trees, double max_steps, int n_threads, const Watch& watch,
                                 const Take& take) const;
  void score_by_pairs(Trees trees, std::span<const std::size_t> places, int n_threads,
                      const Watch& watch, std::vector<double>& out) const;

  const KernelSpec spec_;
  const std::shared_ptr<const Dag> dag_;
  const std::vector<NodeId> roots_;
  const std::vector<double> coef_;
  const std::size_t n_columns_;
  const bool normalize_;

  std::vector<std::uint32_t> class_of_;
  std::uint32_t n_classes_ = 0;
  std::unique_ptr<ColumnTile> tile_;  // all support vectors
  std::vector<Wide> norms_;
  bool narrow_ = true;  // doubles suffice for the support vectors
  RowWeights<double> weights_;
  mutable std::once_flag wide_once_;
  mutable RowWeights<Wide> wide_weights_;  // made when a tree needs them
  mutable Idle<double> idle_;
  mutable Idle<Wide> wide_idle_;
};

}  // namespace filbert
