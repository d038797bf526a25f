// A bound on the duality gap under the true kernel K of a solution that was found under a kernel K~
// with a known error: |K_ij - K~_ij| <= sqrt(d_i d_j).
//
// The gap is a sum of shares, one for each example (see losses/loss.hpp). A share is a convex
// function of the example's margin, and the true margin is known up to an interval. So the share is
// largest at an end of the interval, and the gap is at most the sum of these. The proof is in
// docs/certified-factors.md.
//
// Most pairs of examples share little of what was dropped. So the sum of a row of errors is far
// below the sum of their bounds. Let E be the sizes of the errors, a symmetric matrix, and rows_i
// at least the sum of its row i. For any a, b >= 0 (Schur's test)
//
//   a E b <= sqrt(sum_i rows_i a_i^2) sqrt(sum_i rows_i b_i^2)
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "learn/svm/dual_problem.hpp"

namespace filbert {

struct KernelErrors {
  std::span<const double> bounds;  // d, by example
  std::span<const double> rows;    // by example, or empty
  bool have_sign = false;          // K~_ij is never above K_ij
};

// The largest changes of the margins and of |w|^2 from K~ to K.
class MarginErrors {
 public:
  MarginErrors(const SvmProblem& problem, std::span<const double> alpha, const KernelErrors& errors)
      : y_(problem.y), errors_(errors) {
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      const double weight = y_[i] * alpha[i];
      (weight > 0.0 ? positive_ : negative_) += std::abs(weight) * std::sqrt(errors_.bounds[i]);
      if (errors_.rows.empty()) continue;
      form_ += errors_.rows[i] * alpha[i] * alpha[i];
      largest_ = std::max(largest_, std::abs(alpha[i]));
    }
    if (errors_.rows.empty()) form_ = std::numeric_limits<double>::infinity();
  }

  double down(std::size_t i) const { return reach(i, y_[i] > 0 ? negative_ : positive_); }
  double up(std::size_t i) const { return reach(i, y_[i] > 0 ? positive_ : negative_); }
  double norm_up() const {
    const double both = positive_ + negative_;
    const double sum =
        errors_.have_sign ? positive_ * positive_ + negative_ * negative_ : both * both;
    return std::min(sum, form_);
  }
  // How much the weighted sum of the sizes of all changes can be, if sum_i rows_i weight_i^2 is
  // `form`.
  double together(double form) const { return std::sqrt(form_ * form); }
  double row(std::size_t i) const { return errors_.rows.empty() ? 0.0 : errors_.rows[i]; }

 private:
  double reach(std::size_t i, double sum) const {
    const double apart =
        std::sqrt(errors_.bounds[i]) * (errors_.have_sign ? sum : positive_ + negative_);
    if (errors_.rows.empty()) return apart;
    return std::min(apart, largest_ * errors_.rows[i]);
  }

  std::span<const std::int8_t> y_;
  const KernelErrors& errors_;
  // Sums of |alpha_j| sqrt(d_j), by the sign of the weight.
  double positive_ = 0.0, negative_ = 0.0;
  double form_ = 0.0;     // the sum of rows_i alpha_i^2
  double largest_ = 0.0;  // |alpha_i|
};

// A bound on (primal - dual) / primal under K; infinity if the dual may be negative. `margin(i)` is
// example i's margin under K~.
template <Loss L, class Margin>
double certified_gap(const DualProblem<L>& p, std::span<const double> alpha, const Margin& margin,
                     const KernelErrors& errors) {
  const MarginErrors change(p, alpha, errors);
  double gap = 0.0, own = 0.0;
  double form = 0.0;
  double dual = -0.5 * change.norm_up();
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    if (p.C[i] <= 0.0) continue;
    const double m = margin(i);
    const double down = change.down(i), up = change.up(i);
    const double share = p.gap(i, alpha[i], m);
    const double below = std::max(0.0, p.gap(i, alpha[i], m - down) - share);
    const double above = std::max(0.0, p.gap(i, alpha[i], m + up) - share);
    own += share;
    gap += share + std::max(below, above);
    // A share grows at most in proportion to the change.
    double slope = 0.0;
    if (below > 0.0) slope = std::max(slope, below / down);
    if (above > 0.0) slope = std::max(slope, above / up);
    form += change.row(i) * slope * slope;
    dual += alpha[i] * (p.target(i) - 0.5 * m) - p.loss.conjugate(p.C[i], alpha[i]);
  }
  gap = std::min(gap, own + change.together(form));
  if (gap <= 0.0) return 0.0;
  return dual > 0.0 ? gap / (dual + gap) : std::numeric_limits<double>::infinity();
}

}  // namespace filbert
