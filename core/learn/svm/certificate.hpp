// A bound on the duality gap under the true kernel K of a solution that was found under a kernel K~
// with a known error: |K_ij - K~_ij| <= sqrt(d_i d_j).
//
// The gap is a sum of shares, one for each example (see losses/loss.hpp). A share is a convex
// function of the example's margin, and the true margin is known up to an interval. So the share is
// largest at an end of the interval, and the gap is at most the sum of these. The proof is in
// docs/certified-factors.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "learn/svm/dual_problem.hpp"

namespace filbert {

struct KernelErrors {
  std::span<const double> bounds;  // d, by example
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
    }
  }

  double down(std::size_t i) const { return reach(i, y_[i] > 0 ? negative_ : positive_); }
  double up(std::size_t i) const { return reach(i, y_[i] > 0 ? positive_ : negative_); }
  double norm_up() const {
    const double both = positive_ + negative_;
    return errors_.have_sign ? positive_ * positive_ + negative_ * negative_ : both * both;
  }

 private:
  double reach(std::size_t i, double sum) const {
    return std::sqrt(errors_.bounds[i]) * (errors_.have_sign ? sum : positive_ + negative_);
  }

  std::span<const std::int8_t> y_;
  const KernelErrors& errors_;
  // Sums of |alpha_j| sqrt(d_j), by the sign of the weight.
  double positive_ = 0.0, negative_ = 0.0;
};

// A bound on (primal - dual) / primal under K; infinity if the dual may be negative. `margin(i)` is
// example i's margin under K~.
template <Loss L, class Margin>
double certified_gap(const DualProblem<L>& p, std::span<const double> alpha, const Margin& margin,
                     const KernelErrors& errors) {
  const MarginErrors change(p, alpha, errors);
  double gap = 0.0;
  double dual = -0.5 * change.norm_up();
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    if (p.C[i] <= 0.0) continue;
    const double m = margin(i);
    gap += std::max(p.gap(i, alpha[i], m - change.down(i)), p.gap(i, alpha[i], m + change.up(i)));
    dual += alpha[i] * (p.target(i) - 0.5 * m) - p.loss.conjugate(p.C[i], alpha[i]);
  }
  if (gap <= 0.0) return 0.0;
  return dual > 0.0 ? gap / (dual + gap) : std::numeric_limits<double>::infinity();
}

}  // namespace filbert
