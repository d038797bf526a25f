#include "learn/dual_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.hpp"

namespace filbert {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Hsieh et al. 2008, Algorithm 3, with w in the space of the kernel's factors:
//
//   min over alpha of  1/2 alpha' (Q + D) alpha - sum alpha      0 <= alpha_i <= U_i
//
// Q_ij = y_i y_j (K_ij + intercept). Hinge: D = 0, U = C. Squared hinge: D = 1/(2C), U = infinity.
// z_t = mass_t sum_i alpha_i y_i scale_i x_it stands for w: y_i (w . x_i) costs one pass over a
// tree's columns, and so does changing alpha_i.
class DualDescent {
 public:
  DualDescent(const TreeFactors& factors, const SvmProblem& problem, std::span<const double> start)
      : f_(factors), p_(problem), rng_(problem.seed), alpha_(factors.n_trees(), 0.0) {
    for (std::size_t i = 0; i < start.size(); ++i) {
      alpha_[i] = std::clamp(start[i], 0.0, upper(i));
    }
    for (std::uint32_t i = 0; i < f_.n_trees(); ++i) {
      if (p_.C[i] > 0.0) index_.push_back(i);
    }
    rebuild();
  }

  SvmSolution run(SolverProgress& progress, const StopToken& token) {
    SvmSolution solution;
    measure(solution);
    const double first_gap = std::max(solution.gap, p_.tol);
    while (solution.gap > p_.tol && solution.n_epochs < p_.max_epochs && !index_.empty()) {
      descend(solution, token);
      rebuild();
      measure(solution);
      const double way = std::log(first_gap / p_.tol);
      const double gone = std::log(first_gap / std::max(solution.gap, p_.tol));
      progress =
          static_cast<std::uint32_t>(way > 0.0 ? std::max(0.0, 1000.0 * gone / way) : 1000.0);
      looseness_ *= 0.3;
    }
    progress = 1000;
    solution.alpha = std::move(alpha_);
    solution.intercept = bias_;
    return solution;
  }

 private:
  double upper(std::size_t i) const {
    return p_.squared_hinge && p_.C[i] > 0.0 ? kInfinity : p_.C[i];
  }
  double ridge(std::size_t i) const { return p_.squared_hinge ? 0.5 / p_.C[i] : 0.0; }

  // The decision value of a training tree.
  double decision(std::size_t i) const {
    return f_.scale[i] * f_.dot(i, z_.data()) + f_.diagonal[i] * alpha_[i] * p_.y[i] + bias_;
  }

  // Epochs over the active examples until their projected gradients are within `looseness_`, or a
  // number of them is done that makes a look at the gap worth its time.
  void descend(SvmSolution& solution, const StopToken& token) {
    constexpr std::uint32_t kLook = 5;
    std::size_t n_active = index_.size();
    double highest_before = kInfinity;
    double lowest_before = -kInfinity;
    for (std::uint32_t epoch = 0; epoch < kLook && solution.n_epochs < p_.max_epochs; ++epoch) {
      ++solution.n_epochs;
      rng_.shuffle(index_, n_active);
      double highest = -kInfinity;
      double lowest = kInfinity;
      for (std::size_t k = 0; k < n_active; ++k) {
        if (k % 512 == 0) token.check();
        const std::uint32_t i = index_[k];
        const double gradient = p_.y[i] * decision(i) - 1.0 + ridge(i) * alpha_[i];
        const bool at_lower = alpha_[i] <= 0.0;
        const bool at_upper = alpha_[i] >= upper(i);
        // Shrinking: what lies at a bound and wants to stay there by more than any example wanted
        // to move in the epoch before is left out until the end.
        if ((at_lower && gradient > highest_before) || (at_upper && gradient < lowest_before)) {
          std::swap(index_[k--], index_[--n_active]);
          continue;
        }
        const double projected = at_lower   ? std::min(gradient, 0.0)
                                 : at_upper ? std::max(gradient, 0.0)
                                            : gradient;
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
        if (projected != 0.0) move(i, gradient);
      }
      if (n_active == 0 || highest - lowest <= looseness_) {
        if (n_active == index_.size()) return;
        n_active = index_.size();  // a last look at those that were left out
        highest_before = kInfinity;
        lowest_before = -kInfinity;
        continue;
      }
      highest_before = highest > 0.0 ? highest : kInfinity;
      lowest_before = lowest < 0.0 ? lowest : -kInfinity;
    }
  }

  void move(std::uint32_t i, double gradient) {
    const double curvature = f_.self[i] + (p_.intercept ? 1.0 : 0.0) + ridge(i);
    // A tree without fragments has nothing that could be learned: its loss is constant.
    const double wanted =
        curvature > 0.0 ? alpha_[i] - gradient / curvature : (gradient < 0.0 ? upper(i) : 0.0);
    const double updated = std::clamp(wanted, 0.0, upper(i));
    const double change = updated - alpha_[i];
    if (change == 0.0) return;
    alpha_[i] = updated;
    f_.add(i, change * p_.y[i] * f_.scale[i], z_.data());
    if (p_.intercept) bias_ += change * p_.y[i];
  }

  // w from the dual variables, without the rounding that many small changes leave.
  void rebuild() {
    z_.assign(f_.mass.size(), 0.0);
    bias_ = 0.0;
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      if (alpha_[i] == 0.0) continue;
      f_.add(i, alpha_[i] * p_.y[i] * f_.scale[i], z_.data());
      if (p_.intercept) bias_ += alpha_[i] * p_.y[i];
    }
  }

  void measure(SvmSolution& solution) const {
    double norm = 0.0;
    double loss = 0.0;
    double linear = 0.0;
    double ridges = 0.0;
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      if (p_.C[i] <= 0.0) continue;
      const double margin = p_.y[i] * decision(i);
      const double violation = std::max(0.0, 1.0 - margin);
      norm += alpha_[i] * margin;
      loss += p_.C[i] * (p_.squared_hinge ? violation * violation : violation);
      linear += alpha_[i];
      ridges += ridge(i) * alpha_[i] * alpha_[i];
    }
    solution.primal = 0.5 * norm + loss;
    solution.dual = linear - 0.5 * (norm + ridges);
    const double difference = solution.primal - solution.dual;
    solution.gap = solution.primal > 0.0 ? std::max(0.0, difference / solution.primal) : 0.0;
  }

  const TreeFactors& f_;
  const SvmProblem& p_;
  Rng rng_;
  std::vector<double> alpha_;
  std::vector<std::uint32_t> index_;
  std::vector<double> z_;
  double bias_ = 0.0;
  double looseness_ = 0.3;
};

}  // namespace

SvmSolution train_svm(const TreeFactors& factors, const SvmProblem& problem,
                      std::span<const double> start, SolverProgress& progress,
                      const StopToken& token) {
  return DualDescent(factors, problem, start).run(progress, token);
}

}  // namespace filbert
