// The exact kernel SVM by dual coordinate descent on the factors of the kernel matrix, for any
// loss.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "factors/sum_factors.hpp"
#include "learn/svm/condensed_factors.hpp"
#include "learn/svm/dual_problem.hpp"
#include "learn/svm/joint_descent.hpp"
#include "learn/svm/sweep.hpp"

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
// another such pass. Between two such passes, the few active examples have condensed factors.
//
// If the conjugate is not quadratic, most examples may lie between the bounds, as with the logistic
// loss. Then examples with a negligible share of the gap are set aside too.
//
// If C is large, sweeps take long. Then the active examples also move together (JointDescent).
//
// F is SingleFactors or SumFactors.
template <class F, Loss L>
class DualDescent {
 public:
  // Condensing takes as long as several sweeps. It only pays if w has so many columns that it does
  // not fit into the processor's caches.
  static constexpr std::size_t kManyColumns = std::size_t{1} << 19;

  DualDescent(const F& factors, const L& loss, const SvmProblem& problem,
              std::size_t many_columns = kManyColumns)
      : f_(factors), p_(loss, problem), rng_(problem.seed), at_{p_.first_alpha(), 0.0} {
    if (factors.n_columns() >= many_columns) condensed_.emplace(factors);
    rebuild();
  }

  // Between two passes over all examples, the dual variables and the place are the whole state: all
  // else is computed from them. So the solver can pause there.
  SvmSolution run(SolverProgress& progress, const StopToken& token) {
    SvmSolution solution;
    if (p_.place != nullptr) go_to(*p_.place, solution);
    const std::uint32_t n_before = solution.n_sweeps;
    look_at_all(solution, token);
    const double first_gap = std::max(solution.gap, p_.tol);
    while (solution.gap > p_.tol && solution.n_sweeps < p_.max_sweeps && !active_.empty()) {
      if (solution.n_sweeps - n_before >= p_.pause) {
        solution.is_paused = true;
        break;
      }
      is_slow_ = is_slow_ || is_slow(solution);
      if (is_slow_) {
        descend_jointly(solution, token);
      } else {
        descend(solution, token);
        look_again(solution, token);
      }
      progress = thousandths_done(first_gap, solution.gap, p_.tol);
    }
    progress = 1000;
    solution.place = place(solution);
    solution.alpha = std::move(at_.alpha);
    solution.intercept = at_.bias;
    return solution;
  }

 private:
  void go_to(const SvmPlace& place, SvmSolution& solution) {
    rng_.set_state(place.rng);
    is_slow_ = place.is_slow;
    solution.n_sweeps = place.n_sweeps;
    if (place.n_sweeps_before < place.n_sweeps) {
      solution.looks.push_back({place.n_sweeps_before, 0.0, place.gap_before});
    }
  }

  SvmPlace place(const SvmSolution& solution) const {
    SvmPlace now{rng_.state(), solution.n_sweeps, solution.n_sweeps, solution.gap, is_slow_};
    if (solution.looks.size() > 1) {
      const SvmLook& before = solution.looks[solution.looks.size() - 2];
      now.n_sweeps_before = before.n_sweeps;
      now.gap_before = before.gap;
    }
    return now;
  }

  // y times the decision value of a training tree.
  double margin(std::size_t i) const {
    const double dot = w_is_zero_ ? 0.0 : f_.dot(i, z_.data());
    return p_.y[i] * (dot + at_.bias) + f_.diagonal[i] * at_.alpha[i];
  }

  // w as a sweep over all examples needs it.
  struct Whole {
    const F& f;
    double* z;
    double dot(std::size_t i) const { return f.dot(i, z); }
    void add(std::size_t i, double weight) { f.add(i, weight, z); }
    double diagonal(std::size_t i) const { return f.diagonal[i]; }
    double self(std::size_t i) const { return f.self[i]; }
    void prefetch(std::size_t i) const { f.prefetch(i); }
  };

  // The part of the gap that the active examples may have left before the next pass over all.
  double gap_to_reach(const SvmSolution& solution, double share) const {
    return share * std::max(p_.tol, 0.1 * solution.gap) * solution.primal;
  }

  // Whether sweeps take long, and would go on for long at the rate of the last ones. Joint steps
  // pay only then, and they depend more on rounding.
  bool is_slow(const SvmSolution& solution) const {
    constexpr std::uint32_t kFirst = 20;
    constexpr double kMany = 50;
    if (solution.n_sweeps < kFirst) return false;
    const SvmLook& before = solution.looks[solution.looks.size() - 2];
    const double n_sweeps = solution.n_sweeps - before.n_sweeps;
    const double rate = std::log(before.gap / solution.gap) / n_sweeps;
    return !(rate * kMany > std::log(solution.gap / p_.tol));
  }

  // Sweeps and joint steps of the active examples. At the kink of a loss, equal examples with
  // different targets rest in turn: whichever moves, the others become active, and the gap does not
  // fall. Then all examples are active.
  void descend_jointly(SvmSolution& solution, const StopToken& token) {
    if constexpr (!L::is_quadratic) {
      const std::vector<SvmLook>& looks = solution.looks;
      if (looks.size() > 1 && looks.back().gap > 0.5 * looks[looks.size() - 2].gap) take_all();
    }
    const std::vector<std::uint32_t> chosen = active_;
    std::vector<bool> is_chosen(at_.alpha.size(), false);
    std::vector<double> margins;
    for (const std::uint32_t i : chosen) {
      is_chosen[i] = true;
      margins.push_back(margin(i));
    }
    JointDescent<L> joint(f_, p_, chosen, at_.alpha, std::move(margins), token);
    do {
      solution.n_sweeps +=
          joint.run(gap_to_reach(solution, 0.5), p_.max_sweeps - solution.n_sweeps, rng_, token);
      for (std::size_t k = 0; k < chosen.size(); ++k) at_.alpha[chosen[k]] = joint.alpha()[k];
      look_again(solution, token);
    } while (solution.gap > p_.tol && solution.n_sweeps < p_.max_sweeps &&
             are_still_right(is_chosen, solution));
  }

  // Whether the gap fell, and the other examples have little of what is left of it. Then the chosen
  // ones go on without a new copy of their factors, which takes as long as many sweeps.
  bool are_still_right(const std::vector<bool>& is_chosen, const SvmSolution& solution) const {
    const std::vector<SvmLook>& looks = solution.looks;
    if (looks.size() < 2 || looks.back().gap > 0.5 * looks[looks.size() - 2].gap) return false;
    double others = 0.0;
    for (const std::uint32_t i : active_) {
      if (!is_chosen[i]) others += p_.gap(i, at_.alpha[i], margin(i));
    }
    return others <= gap_to_reach(solution, 1.0);
  }

  void take_all() {
    active_.clear();
    for (std::uint32_t i = 0; i < at_.alpha.size(); ++i) {
      if (p_.C[i] > 0.0) active_.push_back(i);
    }
  }

  // Sweeps over the active examples until they have little of the gap left. After kMostSweeps
  // sweeps the examples set aside may matter again, so it stops.
  void descend(SvmSolution& solution, const StopToken& token) {
    constexpr std::uint32_t kMostSweeps = 20;
    const double enough = gap_to_reach(solution, 0.5);
    const std::uint32_t end = std::min(p_.max_sweeps, solution.n_sweeps + kMostSweeps);
    // The factors of a large part of the examples would hardly be smaller if condensed.
    Whole whole{f_, z_.data()};
    while (!condensed_ || active_.size() > at_.alpha.size() / 4) {
      if (solution.n_sweeps == end || active_.empty()) return;
      ++solution.n_sweeps;
      shuffle_runs();
      if (sweep(p_, whole, at_, active_, negligible_, token) <= enough) return;
    }
    std::sort(active_.begin(), active_.end());
    FewExamples few = take_active();
    while (solution.n_sweeps < end && !few.visited.empty()) {
      ++solution.n_sweeps;
      rng_.shuffle(few.visited, few.visited.size());
      if (sweep(few.problem, *condensed_, few.at, few.visited, negligible_, token) <= enough) break;
    }
    for (std::size_t k = 0; k < active_.size(); ++k) at_.alpha[active_[k]] = few.at.alpha[k];
  }

  // Brings the active examples into random order. If there are very many, successive examples,
  // which often have much in common, stay together: this keeps their columns in the cache. With
  // fewer it would take more sweeps.
  void shuffle_runs() {
    const std::size_t length = active_.size() < (1u << 16) ? 1 : 32;
    std::vector<std::uint32_t> runs((active_.size() + length - 1) / length);
    std::iota(runs.begin(), runs.end(), 0u);
    rng_.shuffle(runs, runs.size());
    std::vector<std::uint32_t> shuffled;
    shuffled.reserve(active_.size());
    for (const std::size_t run : runs) {
      const auto first = active_.begin() + static_cast<std::ptrdiff_t>(run * length);
      const std::size_t n = std::min(length, active_.size() - run * length);
      shuffled.insert(shuffled.end(), first, first + static_cast<std::ptrdiff_t>(n));
    }
    active_ = std::move(shuffled);
  }

  // The problem of the active examples, with the others fixed.
  struct FewExamples {
    std::vector<std::int8_t> y;
    std::vector<double> C, targets;
    DualProblem<L> problem;
    DualPoint at;
    std::vector<std::uint32_t> visited;
  };

  FewExamples take_active() {
    const auto taken = [&](const auto& from) {
      std::vector<std::remove_cvref_t<decltype(from[0])>> to;
      if (from.size() == 0) return to;
      for (const std::uint32_t i : active_) to.push_back(from[i]);
      return to;
    };
    FewExamples few{taken(p_.y), taken(p_.C), taken(p_.targets), p_, {taken(at_.alpha), at_.bias},
                    {}};
    few.problem.y = few.y;
    few.problem.C = few.C;
    few.problem.targets = few.targets;
    few.visited.resize(active_.size());
    std::iota(few.visited.begin(), few.visited.end(), 0u);
    condensed_->start(active_, z_.data());
    return few;
  }

  // Computes w without the rounding errors of many small changes, and the gap.
  void look_again(SvmSolution& solution, const StopToken& token) {
    rebuild();
    look_at_all(solution, token);
  }

  // Computes w from the dual variables.
  void rebuild() {
    z_.assign(f_.n_columns(), 0.0);
    at_.bias = 0.0;
    w_is_zero_ = true;
    for (std::size_t i = 0; i < at_.alpha.size(); ++i) {
      if (at_.alpha[i] == 0.0) continue;
      w_is_zero_ = false;
      f_.add(i, at_.alpha[i] * p_.y[i], z_.data());
      if (p_.intercept) at_.bias += at_.alpha[i] * p_.y[i];
    }
  }

  // The sums of a part of the examples for the objectives, and the examples that would move. If
  // shares of the gap may be negligible, they are beside them.
  struct Look {
    SvmSums sums;
    std::vector<std::uint32_t> active;
    std::vector<double> shares;
  };

  // Computes both objectives over all examples, and the active examples again. Parts have a fixed
  // size and are summed in order, so the result does not depend on the threads.
  void look_at_all(SvmSolution& solution, const StopToken& token) {
    constexpr std::size_t kPart = 8192;
    const std::size_t n = at_.alpha.size();
    std::vector<Look> parts((n + kPart - 1) / kPart);
    const int n_threads = threads_for(static_cast<double>(f_.n_entries()), p_.n_threads);
    parallel_for(parts.size(), n_threads, {}, [&](std::size_t part, int, const StopToken&) {
      token.check();
      look_at(parts[part], part * kPart, std::min(n, (part + 1) * kPart));
    });
    token.check();
    SvmSums all;
    for (const Look& part : parts) all.add(part.sums);
    all.tell(solution);
    list_active(parts, solution);
  }

  // What is negligible adds up to less than sweeps may leave. If C is large, a share does not stay
  // negligible while others move. Without faces there are only sweeps then, and they visit all.
  void list_active(const std::vector<Look>& parts, const SvmSolution& solution) {
    const bool sets_aside = kSetsAsideByShare && (L::moves_jointly || !is_slow_);
    active_.clear();
    if constexpr (kSetsAsideByShare) {
      negligible_ = gap_to_reach(solution, 0.2) / static_cast<double>(at_.alpha.size());
    }
    for (const Look& part : parts) {
      for (std::size_t k = 0; k < part.active.size(); ++k) {
        if (sets_aside && part.shares[k] <= negligible_) continue;
        active_.push_back(part.active[k]);
      }
    }
  }

  void look_at(Look& look, std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (p_.C[i] <= 0.0) continue;
      const double m = margin(i);
      look.sums.add(p_, i, at_.alpha[i], m);
      if (!p_.rests(i, at_.alpha[i], m)) {
        look.active.push_back(static_cast<std::uint32_t>(i));
        if constexpr (kSetsAsideByShare) look.shares.push_back(p_.gap(i, at_.alpha[i], m));
      }
    }
  }

  static constexpr bool kSetsAsideByShare = !L::is_quadratic;

  const F& f_;
  DualProblem<L> p_;
  Rng rng_;
  DualPoint at_;
  std::vector<double> z_;  // stands for w
  bool w_is_zero_ = true;  // at the last call of rebuild()
  std::vector<std::uint32_t> active_;
  std::optional<CondensedFactors<F>> condensed_;  // of the active examples
  double negligible_ = -1.0;                      // a share of the gap
  bool is_slow_ = false;
};

// Solves one problem. Stops when the gap between primal and dual objective, computed again from the
// dual variables over all examples, is within tol of the primal objective, or after max_sweeps.
template <class F, Loss L>
SvmSolution train_svm(const F& factors, const L& loss, const SvmProblem& problem,
                      SolverProgress& progress, const StopToken& token) {
  return DualDescent<F, L>(factors, loss, problem).run(progress, token);
}

}  // namespace filbert
