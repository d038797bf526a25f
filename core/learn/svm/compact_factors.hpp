// A copy of the factors of some examples, small enough for the processor's caches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

// Q_kl = y_k y_l (K_kl + intercept) of the chosen examples, as Q = A M A^T + diag(own). Only
// columns that at least two of these entries share are kept, and numbered anew. The others are in
// `own`. The entries of an example are stored in runs of equal value: most kernels have one run for
// each example.
class CompactFactors {
 public:
  // F is SingleFactors or SumFactors.
  template <class F>
  CompactFactors(const F& factors, std::span<const std::uint32_t> examples,
                 std::span<const std::int8_t> y, bool intercept, const StopToken& token) {
    std::vector<std::uint32_t> place = number_columns(factors, examples);
    first_run_.push_back(0);
    for (const std::uint32_t i : examples) {
      if (own.size() % 512 == 0) token.check();
      own.push_back(factors.diagonal[i]);
      constant_.push_back(intercept ? y[i] : 0.0);
      factors.for_each(i, [&](std::size_t column, double value, double mass) {
        if (place[column] == kSingle) {
          own.back() += mass * value * value;
        } else {
          mass_[place[column]] = mass;
          append(place[column], y[i] * value);
        }
      });
      first_run_.push_back(runs_.size());
    }
    runs_.push_back({columns_.size(), 0.0});
  }

  std::size_t size() const { return own.size(); }
  std::size_t n_columns() const { return mass_.size(); }  // with that of the intercept, the last

  // The product of row k of A and z.
  double dot(std::size_t k, const double* z) const {
    double sum = constant_[k] * z[constant_column()];
    for (std::size_t r = first_run_[k]; r < first_run_[k + 1]; ++r) {
      const std::uint32_t* column = columns_.data() + runs_[r].begin;
      const std::uint32_t* const end = columns_.data() + runs_[r + 1].begin;
      // Several sums, so that an addition need not wait for the one before it.
      double sums[4] = {0.0, 0.0, 0.0, 0.0};
      for (; end - column >= 4; column += 4) {
        for (int lane = 0; lane < 4; ++lane) sums[lane] += z[column[lane]];
      }
      for (; column != end; ++column) sums[0] += z[*column];
      sum += runs_[r].value * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    return sum;
  }

  // z += M A^T e_k weight
  void add(std::size_t k, double weight, double* z) const {
    for_each(k, weight,
             [&](std::size_t column, double value) { z[column] += value * mass_[column]; });
  }

  // z = M A^T weights, with weights for the examples `some`. Returns weights' A M A^T weights.
  double sum(std::span<const std::uint32_t> some, const std::vector<double>& weights,
             std::vector<double>& z) const {
    z.assign(n_columns(), 0.0);
    for (std::size_t a = 0; a < some.size(); ++a) {
      for_each(some[a], weights[a], [&](std::size_t column, double value) { z[column] += value; });
    }
    double square = 0.0;
    for (std::size_t t = 0; t < z.size(); ++t) {
      const double without_mass = z[t];
      z[t] *= mass_[t];
      square += z[t] * without_mass;
    }
    return square;
  }

  std::vector<double> own;  // by example: what it shares with no other

 private:
  struct Run {
    std::size_t begin;  // in columns_
    double value;
  };
  static constexpr std::uint32_t kSingle = ~std::uint32_t{0};

  // The new number of each column, or kSingle.
  template <class F>
  std::vector<std::uint32_t> number_columns(const F& factors,
                                            std::span<const std::uint32_t> examples) {
    std::vector<std::uint32_t> place(factors.n_columns(), 0);  // first the number of entries
    for (const std::uint32_t i : examples) {
      factors.for_each(i, [&](std::size_t column, double, double) { ++place[column]; });
    }
    for (std::uint32_t& number : place) {
      const bool is_shared = number > 1;
      number = is_shared ? static_cast<std::uint32_t>(mass_.size()) : kSingle;
      if (is_shared) mass_.push_back(0.0);
    }
    mass_.push_back(1.0);
    return place;
  }

  void append(std::uint32_t column, double value) {
    if (runs_.size() == first_run_.back() || runs_.back().value != value) {
      runs_.push_back({columns_.size(), value});
    }
    columns_.push_back(column);
  }

  // visit(column, weight * value) for the entries of an example.
  template <class Visit>
  void for_each(std::size_t k, double weight, const Visit& visit) const {
    visit(constant_column(), weight * constant_[k]);
    for (std::size_t r = first_run_[k]; r < first_run_[k + 1]; ++r) {
      const double value = weight * runs_[r].value;
      for (std::size_t e = runs_[r].begin; e < runs_[r + 1].begin; ++e)
        visit(std::size_t{columns_[e]}, value);
    }
  }

  std::size_t constant_column() const { return mass_.size() - 1; }

  std::vector<double> constant_;        // by example: y, or 0 without an intercept
  std::vector<std::size_t> first_run_;  // by example, and one more
  std::vector<Run> runs_;               // and one more
  std::vector<std::uint32_t> columns_;
  std::vector<double> mass_;  // by column
};

}  // namespace filbert
