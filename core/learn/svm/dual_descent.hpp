// The exact kernel SVM by dual coordinate descent on the factors of the kernel matrix, for any
// loss.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "factors/sum_factors.hpp"
#include "learn/svm/dual_problem.hpp"

namespace filbert {

// Hsieh et al. 2008, Algorithm 3, with w in the space of the kernel's factors: z_t = mass_t sum_i
// alpha_i y_i scale_i x_it stands for w. So y_i (w . x_i) costs one pass over a tree's columns, and
// so does changing alpha_i.
//
// Most examples lie at a bound and stay there, so sweeps visit few: an example at a bound that
// would stay there is set aside at once. A pass over all examples then gives the true gap and
// reactivates the examples that would move. The gap is a sum over examples of terms that are never
// negative, so a sweep knows approximately how much of it remains in the examples that it visits.
// When that is small compared with the gap of the last pass over all examples, it is time for
// another such pass.
//
// F is SingleFactors or SumFactors.
template <class F, Loss L>
class DualDescent {
 public:
  DualDescent(const F& factors, const L& loss, const SvmProblem& problem)
      : f_(factors), p_(loss, problem), rng_(problem.seed), alpha_(p_.first_alpha()) {
    rebuild();
  }

  SvmSolution run(SolverProgress& progress, const StopToken& token) {
    SvmSolution solution;
    look_at_all(solution, token);
    const double first_gap = std::max(solution.gap, p_.tol);
    while (solution.gap > p_.tol && solution.n_sweeps < p_.max_sweeps && !active_.empty()) {
      descend(solution, token);
      look_at_all(solution, token);
      if (solution.gap <= p_.tol || solution.n_sweeps >= p_.max_sweeps) {
        rebuild();  // reported values are free of the rounding errors of many small changes
        look_at_all(solution, token);
      }
      progress = thousandths_done(first_gap, solution.gap, p_.tol);
    }
    progress = 1000;
    solution.alpha = std::move(alpha_);
    solution.intercept = bias_;
    return solution;
  }

 private:
  // y times the decision value of a training tree.
  double margin(std::size_t i) const {
    return p_.y[i] * (f_.dot(i, z_.data()) + bias_) + f_.diagonal[i] * alpha_[i];
  }

  // Sweeps over the active examples until they have little of the gap left. After kMostSweeps
  // sweeps the examples set aside may matter again, so it stops.
  void descend(SvmSolution& solution, const StopToken& token) {
    constexpr std::uint32_t kMostSweeps = 20;
    const double enough = 0.5 * std::max(p_.tol, 0.1 * solution.gap) * solution.primal;
    for (std::uint32_t n = 0; n < kMostSweeps && solution.n_sweeps < p_.max_sweeps; ++n) {
      ++solution.n_sweeps;
      if (sweep(token) <= enough || active_.empty()) return;
    }
  }

  // Visits each active example once, in random order. Returns their part of the gap, as met on the
  // way.
  double sweep(const StopToken& token) {
    rng_.shuffle(active_, active_.size());
    double gap = 0.0;
    std::size_t n = active_.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (k % 512 == 0) token.check();
      if (k + kAhead < n) f_.prefetch(active_[k + kAhead]);
      const std::uint32_t i = active_[k];
      const double m = margin(i);
      gap += p_.gap(i, alpha_[i], m);
      if (p_.rests(i, alpha_[i], m)) {
        std::swap(active_[k--], active_[--n]);
      } else {
        move(i, m);
      }
    }
    active_.resize(n);
    return gap;
  }

  void move(std::uint32_t i, double margin_now) {
    const double updated = p_.best(i, alpha_[i], margin_now, f_.self[i]);
    const double change = updated - alpha_[i];
    if (change == 0.0) return;
    alpha_[i] = updated;
    f_.add(i, change * p_.y[i], z_.data());
    if (p_.intercept) bias_ += change * p_.y[i];
  }

  // Computes w from the dual variables.
  void rebuild() {
    z_.assign(f_.n_columns(), 0.0);
    bias_ = 0.0;
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      if (alpha_[i] == 0.0) continue;
      f_.add(i, alpha_[i] * p_.y[i], z_.data());
      if (p_.intercept) bias_ += alpha_[i] * p_.y[i];
    }
  }

  // The sums of a part of the examples for the objectives, and the examples that would move.
  struct Look {
    SvmSums sums;
    std::vector<std::uint32_t> active;
  };

  // Computes both objectives over all examples, and the active examples again. Parts have a fixed
  // size and are summed in order, so the result does not depend on the threads.
  void look_at_all(SvmSolution& solution, const StopToken& token) {
    constexpr std::size_t kPart = 8192;
    const std::size_t n = alpha_.size();
    std::vector<Look> parts((n + kPart - 1) / kPart);
    const int n_threads = threads_for(static_cast<double>(f_.n_entries()), p_.n_threads);
    parallel_for(parts.size(), n_threads, {}, [&](std::size_t part, int, const StopToken&) {
      token.check();
      look_at(parts[part], part * kPart, std::min(n, (part + 1) * kPart));
    });
    token.check();
    SvmSums all;
    active_.clear();
    for (const Look& part : parts) {
      all.add(part.sums);
      active_.insert(active_.end(), part.active.begin(), part.active.end());
    }
    all.tell(solution);
  }

  void look_at(Look& look, std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (p_.C[i] <= 0.0) continue;
      const double m = margin(i);
      look.sums.add(p_, i, alpha_[i], m);
      if (!p_.rests(i, alpha_[i], m)) {
        look.active.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }

  static constexpr std::size_t kAhead = 4;

  const F& f_;
  DualProblem<L> p_;
  Rng rng_;
  std::vector<double> alpha_;
  std::vector<std::uint32_t> active_;
  std::vector<double> z_;
  double bias_ = 0.0;
};

// Solves one problem. Stops when the gap between primal and dual objective, computed again from the
// dual variables over all examples, is within tol of the primal objective, or after max_sweeps.
template <class F, Loss L>
SvmSolution train_svm(const F& factors, const L& loss, const SvmProblem& problem,
                      SolverProgress& progress, const StopToken& token) {
  return DualDescent<F, L>(factors, loss, problem).run(progress, token);
}

}  // namespace filbert
