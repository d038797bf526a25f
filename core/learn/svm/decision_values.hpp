// Decision values of all trees: a change of alpha_i adds a multiple of row i to them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/packed_rows.hpp"

namespace filbert {

class DecisionValues {
 public:
  DecisionValues(std::size_t n_trees, bool has_intercept)
      : values_(n_trees, 0.0), has_intercept_(has_intercept) {}

  // Those of an earlier time. The intercept is the last.
  DecisionValues(std::span<const double> numbers, bool has_intercept)
      : values_(numbers.begin(), numbers.end() - 1),
        has_intercept_(has_intercept),
        intercept_(numbers.back()) {}

  double of(std::uint32_t tree) const { return values_[tree] + intercept_; }
  double intercept() const { return intercept_; }
  std::vector<double> numbers() const {
    std::vector<double> all = values_;
    all.push_back(intercept_);
    return all;
  }

  // Takes rows by ascending place, with the changes of y_i alpha_i as weights.
  void add(const PackedRows& rows, std::span<const PackedRows::Weighted> weights,
           const StopToken& token) {
    std::vector<double> sums(values_.size(), 0.0);
    rows.add_to(sums, weights, token);
    for (std::size_t place = 0; place < sums.size(); ++place) {
      values_[rows.trees()[place]] += sums[place];
    }
    if (!has_intercept_) return;
    for (const PackedRows::Weighted& row : weights) intercept_ += row.weight;
  }

 private:
  std::vector<double> values_;  // by tree, without the intercept
  bool has_intercept_;
  double intercept_ = 0.0;
};

}  // namespace filbert
