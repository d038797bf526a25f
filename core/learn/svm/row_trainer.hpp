// Training on the trees of a forest by rows of their kernel matrix. Rows are kept from one training
// to the next, for example for several values of C.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/distinct_trees.hpp"
#include "learn/svm/row_cache.hpp"
#include "learn/svm/train.hpp"
#include "rows/tile_rows.hpp"

namespace filbert {

class RowTrainer {
 public:
  // Rows and working sets take at most max_bytes.
  RowTrainer(const KernelSpec& spec, std::shared_ptr<const Dag> dag, std::span<const NodeId> roots,
             bool normalize, std::uint64_t max_bytes, int n_threads, const Watch& watch)
      : RowTrainer(distinct_trees(*dag, roots), spec, dag, normalize, max_bytes, n_threads, watch) {
  }

  std::size_t n_trees() const { return tree_of_.size(); }
  const RowCache& cache() const { return cache_; }
  RowCache& cache() { return cache_; }
  RowState& state() { return state_; }

  std::vector<SvmSolution> train(const SvmProblems& problems, int n_threads, const Watch& report) {
    return train_on_rows(cache_, tree_of_, problems, set_bytes_, n_threads, report, state_);
  }

 private:
  // Equal trees are one.
  RowTrainer(DistinctTrees trees, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
             bool normalize, std::uint64_t max_bytes, int n_threads, const Watch& watch)
      : tree_of_(std::move(trees.tree_of)),
        source_(spec, std::move(dag), std::move(trees.roots), trees.first, normalize, n_threads,
                watch),
        set_bytes_(max_bytes / 6),
        cache_(source_, max_bytes - set_bytes_) {}

  std::vector<std::uint32_t> tree_of_;
  TileRows source_;
  std::uint64_t set_bytes_;
  RowCache cache_;
  RowState state_;
};

}  // namespace filbert
