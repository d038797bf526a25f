// Training on a given kernel matrix, for any kernel whose matrix fits into memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/row_cache.hpp"
#include "learn/svm/train.hpp"
#include "rows/row_source.hpp"

namespace filbert {

// The rows of a symmetric matrix of n x n values.
class MatrixRows final : public RowSource {
 public:
  MatrixRows(std::span<const double> values, std::size_t n) : values_(values), self_(n) {
    for (std::size_t i = 0; i < n; ++i) self_[i] = values_[i * n + i];
  }

  std::size_t n_trees() const override { return self_.size(); }
  std::span<const double> self() const override { return self_; }

  void rows(std::span<const std::uint32_t> wanted, std::span<double* const> out, int,
            const Watch&) override {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      std::copy_n(values_.data() + wanted[k] * n_trees(), n_trees(), out[k]);
    }
  }

  void block(std::span<const std::uint32_t> wanted, std::span<double* const> out, int,
             const Watch&) override {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double* const row = values_.data() + wanted[k] * n_trees();
      for (std::size_t l = k; l < wanted.size(); ++l) out[k][l - k] = row[wanted[l]];
    }
  }

 private:
  std::span<const double> values_;
  std::vector<double> self_;
};

class GramTrainer {
 public:
  // The caller keeps the values alive. Memory beside them takes at most max_bytes.
  GramTrainer(std::span<const double> values, std::size_t n, std::uint64_t max_bytes)
      : source_(values, n),
        set_bytes_(max_bytes / 6),
        cache_(source_, max_bytes - set_bytes_),
        tree_of_(n) {
    std::iota(tree_of_.begin(), tree_of_.end(), 0u);
  }

  GramTrainer(const GramTrainer&) = delete;  // the cache refers to the rows
  GramTrainer& operator=(const GramTrainer&) = delete;

  std::size_t n_trees() const { return tree_of_.size(); }
  RowCache& cache() { return cache_; }
  RowState& state() { return state_; }

  std::vector<SvmSolution> train(const SvmProblems& problems, int n_threads, const Watch& report) {
    return train_on_rows(cache_, tree_of_, problems, set_bytes_, n_threads, report, state_);
  }

 private:
  MatrixRows source_;
  std::uint64_t set_bytes_;
  RowCache cache_;
  std::vector<std::uint32_t> tree_of_;
  RowState state_;
};

}  // namespace filbert
