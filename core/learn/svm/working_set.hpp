// Some examples of a problem with their part of the matrix: a separate small problem, while the
// other examples stay fixed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/dual_problem.hpp"
#include "learn/svm/packed_rows.hpp"

namespace filbert {

template <Loss L>
struct WorkingSet {
  const DualProblem<L>& problem;
  std::vector<std::uint32_t> examples;
  std::vector<double> alpha;    // by index in the set, as all that follow
  std::vector<double> margins;  // y times the decision value
  std::vector<double> self;     // K(t, t)
  std::vector<double> Q;        // by row

  std::size_t size() const { return examples.size(); }
  const double* row(std::size_t k) const { return Q.data() + k * size(); }
  double cost(std::size_t k) const { return problem.C[examples[k]]; }

  // For a loss that moves jointly: between these values, Q_kk + ridge is the curvature of the dual
  // objective, and its gradient is linear.
  double lower(std::size_t k) const { return problem.face_lower(examples[k], alpha[k]); }
  double upper(std::size_t k) const { return problem.face_upper(examples[k], alpha[k]); }
  double ridge(std::size_t k) const { return problem.loss.ridge(cost(k)); }
  double gradient(std::size_t k) const {
    return problem.loss.gradient(cost(k), alpha[k], problem.residual(examples[k], margins[k]));
  }

  void clear() {
    for (auto* values : {&alpha, &margins, &self}) values->clear();
    examples.clear();
  }

  // The part of the gap of its examples.
  double gap() const {
    double sum = 0.0;
    for (std::size_t k = 0; k < size(); ++k) sum += problem.gap(examples[k], alpha[k], margins[k]);
    return sum;
  }

  void move_to(std::size_t k, double updated) {
    const double change = updated - alpha[k];
    if (change == 0.0) return;
    alpha[k] = updated;
    const double* const q = row(k);
    for (std::size_t l = 0; l < size(); ++l) margins[l] += change * q[l];
  }
};

// Q of examples whose trees have these places among the rows, with their signs, row by row.
void fill_Q(std::vector<double>& Q, const PackedRows& rows, std::span<const std::uint32_t> places,
            std::span<const double> signs, double constant, const StopToken& token);

}  // namespace filbert
