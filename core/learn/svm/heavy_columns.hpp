// A preconditioner for systems of linear equations with Q + ridges over some examples. A few
// columns that most examples have, such as that of the intercept, make up most of Q. They give it
// its large eigenvalues, which take conjugate gradients long.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/compact_factors.hpp"

namespace filbert {

// Stands for the matrix D + H H^T over some of the examples: H has the heaviest columns, and the
// diagonal D what remains of the diagonal. By the formula of Woodbury, its inverse is
//
//   D^-1 - D^-1 H S^-1 H^T D^-1            S = 1 + H^T D^-1 H
//
// S is small, so it has a Cholesky decomposition, S = L L^T.
class HeavyColumns {
 public:
  using Vector = std::vector<double>;

  // `diagonal` is that of the whole matrix, by example of the factors.
  HeavyColumns(const CompactFactors& factors, std::span<const double> diagonal)
      : inverse_(diagonal.begin(), diagonal.end()) {  // D at first
    const std::vector<std::uint32_t> place = choose_columns(factors);
    list_entries(factors, place);
    const double mean = std::accumulate(inverse_.begin(), inverse_.end(), 0.0) /
                        static_cast<double>(inverse_.size());
    for (double& rest : inverse_) rest = 1.0 / std::max(rest, kLeast * mean);
    is_taken_.assign(inverse_.size(), false);
    sum_.assign(n_ * n_, 0.0);
    for (std::size_t t = 0; t < n_; ++t) sum_[t * n_ + t] = 1.0;
  }

  // Prepares for the matrix over the examples `some`. They are mostly those of the last time, so S
  // is kept, and the others are added and subtracted.
  void take(std::span<const std::uint32_t> some, const StopToken& token) {
    some_.assign(some.begin(), some.end());
    std::vector<bool> is_taken(inverse_.size(), false);
    for (const std::uint32_t k : some_) is_taken[k] = true;
    for (std::uint32_t k = 0; k < inverse_.size(); ++k) {
      if (is_taken[k] != is_taken_[k]) add_product(k, is_taken[k] ? inverse_[k] : -inverse_[k]);
    }
    is_taken_ = std::move(is_taken);
    token.check();
    decompose(token);
  }

  // The solution for this right side, which is by position in `some`.
  const Vector& solve(const Vector& right) {
    heavy_.assign(n_ + kLanes, 0.0);
    solution_.resize(right.size());
    for (std::size_t a = 0; a < right.size(); ++a) {
      const std::uint32_t k = some_[a];
      const double weight = right[a] * inverse_[k];
      solution_[a] = weight;
      for (std::size_t e = begin_[k]; e < begin_[k + 1]; e += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          heavy_[columns_[e + lane]] += values_[e + lane] * weight;
        }
      }
    }
    solve_triangles();
    for (std::size_t a = 0; a < right.size(); ++a) {
      const std::uint32_t k = some_[a];
      solution_[a] -= dot(k) * inverse_[k];
    }
    return solution_;
  }

 private:
  static constexpr double kLeast = 1e-3;  // of the mean diagonal, so that D has an inverse
  static constexpr std::size_t kMostColumns = 512;
  static constexpr double kProducts = 24.0;
  // Entries come in groups, filled up with 0, because short loops with a rest are slow.
  static constexpr std::size_t kLanes = 4;
  static constexpr std::uint32_t kLight = ~std::uint32_t{0};

  // The place in H of each column, or kLight. The decomposition should take as long as some
  // products with the whole matrix.
  std::vector<std::uint32_t> choose_columns(const CompactFactors& factors) {
    std::vector<double> weight(factors.n_columns(), 0.0);
    double n_entries = 0.0;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      factors.for_each(k, 1.0, [&](std::size_t column, double value) {
        weight[column] += factors.mass(column) * value * value;
        n_entries += 1.0;
      });
    }
    std::vector<std::uint32_t> order(weight.size());
    std::iota(order.begin(), order.end(), 0u);
    n_ = std::min(
        {kMostColumns, order.size(), static_cast<std::size_t>(std::cbrt(kProducts * n_entries))});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(n_);
    std::partial_sort(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
    });
    while (n_ > 0 && !(weight[order[n_ - 1]] > 0.0)) --n_;
    std::vector<std::uint32_t> place(weight.size(), kLight);
    for (std::uint32_t t = 0; t < n_; ++t) place[order[t]] = t;
    return place;
  }

  // By ascending column. An example may have a column several times.
  void list_entries(const CompactFactors& factors, const std::vector<std::uint32_t>& place) {
    std::vector<std::pair<std::uint16_t, double>> entries;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      entries.clear();
      factors.for_each(k, 1.0, [&](std::size_t column, double value) {
        if (place[column] == kLight) return;
        entries.push_back(
            {static_cast<std::uint16_t>(place[column]), value * std::sqrt(factors.mass(column))});
      });
      std::sort(entries.begin(), entries.end());
      for (const auto& [column, value] : entries) {
        if (columns_.size() > begin_.back() && columns_.back() == column) {
          values_.back() += value;
        } else {
          columns_.push_back(column);
          values_.push_back(value);
        }
      }
      for (std::size_t e = begin_.back(); e < columns_.size(); ++e) {
        inverse_[k] -= values_[e] * values_[e];
      }
      for (std::size_t n = 0; columns_.size() % kLanes != 0; ++n) {
        columns_.push_back(static_cast<std::uint16_t>(n_ + n));
        values_.push_back(0.0);
      }
      begin_.push_back(columns_.size());
    }
  }

  // The product of row k of H and heavy_.
  double dot(std::uint32_t k) const {
    double sums[kLanes] = {};
    for (std::size_t e = begin_[k]; e < begin_[k + 1]; e += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sums[lane] += values_[e + lane] * heavy_[columns_[e + lane]];
      }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // S += weight times an example's part of H^T H, on and below the diagonal.
  void add_product(std::uint32_t k, double weight) {
    for (std::size_t e = begin_[k]; e < begin_[k + 1] && columns_[e] < n_; ++e) {
      double* const row = sum_.data() + columns_[e] * n_;
      const double value = values_[e] * weight;
      for (std::size_t d = begin_[k]; d <= e; ++d) row[columns_[d]] += value * values_[d];
    }
  }

  void decompose(const StopToken& token) {
    triangle_ = sum_;
    for (std::size_t i = 0; i < n_; ++i) {
      if (i % 64 == 0) token.check();
      double* const row = triangle_.data() + i * n_;
      for (std::size_t j = 0; j <= i; ++j) {
        const double* const other = triangle_.data() + j * n_;
        const double rest = row[j] - product(row, other, j);
        row[j] = i == j ? std::sqrt(std::max(rest, 1.0)) : rest / other[j];
      }
    }
  }

  // heavy_ becomes S^-1 heavy_.
  void solve_triangles() {
    for (std::size_t i = 0; i < n_; ++i) {
      const double* const row = triangle_.data() + i * n_;
      heavy_[i] = (heavy_[i] - product(row, heavy_.data(), i)) / row[i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      const double* const row = triangle_.data() + i * n_;
      const double own = heavy_[i] /= row[i];
      for (std::size_t j = 0; j < i; ++j) heavy_[j] -= own * row[j];
    }
  }

  static double product(const double* a, const double* b, std::size_t n) {
    constexpr std::size_t kAtOnce = 8;
    double sums[kAtOnce] = {};
    std::size_t t = 0;
    for (; t + kAtOnce <= n; t += kAtOnce) {
      for (std::size_t lane = 0; lane < kAtOnce; ++lane) sums[lane] += a[t + lane] * b[t + lane];
    }
    double sum = 0.0;
    for (; t < n; ++t) sum += a[t] * b[t];
    for (const double lane : sums) sum += lane;
    return sum;
  }

  std::size_t n_ = 0;                  // columns of H
  std::vector<std::size_t> begin_{0};  // of an example's entries of H
  std::vector<std::uint16_t> columns_;
  std::vector<double> values_;
  Vector inverse_;                   // of D, by example
  std::vector<std::uint32_t> some_;  // the examples that the matrix is over
  std::vector<bool> is_taken_;       // the same, by example
  Vector sum_, triangle_;            // S and L, by row, on and below the diagonal
  Vector heavy_, solution_;
};

}  // namespace filbert
