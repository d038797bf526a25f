// Descent over a few examples by joint steps, for problems in which sweeps make little progress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/compact_factors.hpp"
#include "learn/svm/conjugate_gradients.hpp"
#include "learn/svm/dual_problem.hpp"
#include "learn/svm/equal_examples.hpp"
#include "learn/svm/heavy_columns.hpp"

namespace filbert {

// Solves the dual problem over some examples while the others stay fixed:
//
//   min over alpha of  1/2 alpha' Q alpha + sum_i (ridge_i alpha_i^2 / 2 - target_i alpha_i) +
//   fixed
//
// with lower_i <= alpha_i <= upper_i. If the conjugate has a kink, these are the ends of the piece
// that alpha_i lies in, and only sweeps cross the kink. This is the gradient projection method of
// More & Toraldo 1991 with sweeps of coordinate descent in place of gradient projection. The sweeps
// find out which examples are at a bound. Then the others, which are free, move together towards
// the minimum of the objective on their face of the box, found by conjugate gradients. If C is
// large, nearly all support vectors are free, and the minimum on a face is what takes sweeps so
// long.
//
// Sweeps move equal examples at once (equal_examples.hpp). If the conjugate has no quadratic
// pieces, there are only sweeps.
//
// Conjugate gradients stop when the gradient is small or when many examples would leave the box:
// the face is then the wrong one. Examples that leave the box are moved to its boundary, and the
// step is shortened until the objective decreases. So each step is at least as good as none.
template <Loss L>
class JointDescent {
 public:
  using Vector = std::vector<double>;

  // `alpha` is by example of the whole problem, `margins` are those of the chosen examples. F is
  // SingleFactors or SumFactors.
  template <class F>
  JointDescent(const F& factors, const DualProblem<L>& problem,
               std::span<const std::uint32_t> examples, std::span<const double> alpha,
               Vector margins, const StopToken& token)
      : p_(problem),
        examples_(examples),
        factors_(factors, examples, problem.y, problem.intercept, token),
        start_margin_(std::move(margins)),
        z_(factors_.n_columns(), 0.0) {
    for (const std::uint32_t i : examples) {
      start_.push_back(alpha[i]);
      self_.push_back(factors.self[i]);
    }
    alpha_ = start_;
    token.check();
    groups_ = EqualExamples(factors_.keys(examples, problem.y));
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      group_square_.push_back(factors_.square(groups_[g][0], z_));
    }
  }

  // Sweeps and joint steps in turn, until the examples have at most this gap left. After kRounds
  // the other examples may matter again, so it stops. Returns the number of sweeps.
  std::uint32_t run(double enough, std::uint32_t most_sweeps, Rng& rng, const StopToken& token) {
    constexpr int kRounds = 10;
    constexpr std::uint32_t kSweeps = 3;
    std::uint32_t n = 0;
    for (int round = 0; round < kRounds && n < most_sweeps; ++round) {
      if constexpr (L::moves_jointly) {
        if (round > 0) joint_steps(token);
      }
      const std::uint32_t end = n + std::min(kSweeps, most_sweeps - n);
      for (visit_all(); n < end; ++n) sweep(rng, token);
      if (gap(token) <= enough) break;
    }
    return n;
  }

  const Vector& alpha() const { return alpha_; }

 private:
  double lower(std::size_t k) const { return p_.face_lower(examples_[k], alpha_[k]); }
  double upper(std::size_t k) const { return p_.face_upper(examples_[k], alpha_[k]); }
  double ridge(std::size_t k) const { return p_.loss.ridge(p_.C[examples_[k]]); }
  bool is_free(std::size_t k) const { return alpha_[k] > lower(k) && alpha_[k] < upper(k); }

  double margin(std::size_t k) const {
    return start_margin_[k] + factors_.dot(k, z_.data()) +
           factors_.own[k] * (alpha_[k] - start_[k]);
  }

  // ---------------------------------------------------------------------------- sweeps

  // Groups come after the examples that are in none.
  void visit_all() {
    order_.clear();
    for (std::uint32_t k = 0; k < examples_.size(); ++k) {
      if (!groups_.contains(k)) order_.push_back(k);
    }
    for (std::uint32_t g = 0; g < groups_.size(); ++g) order_.push_back(n_examples() + g);
  }

  // Visits the examples and groups in random order, and sets aside those that rest.
  void sweep(Rng& rng, const StopToken& token) {
    rng.shuffle(order_, order_.size());
    std::size_t n = order_.size();
    for (std::size_t at = 0; at < n; ++at) {
      if (at % 512 == 0) token.check();
      const bool is_group = order_[at] >= n_examples();
      const bool rests = is_group ? !move_group(order_[at] - n_examples()) : !move(order_[at]);
      if (rests) std::swap(order_[at--], order_[--n]);
    }
    order_.resize(n);
  }

  std::uint32_t n_examples() const { return static_cast<std::uint32_t>(examples_.size()); }

  // Sets alpha to its best value. Returns false if it rests.
  bool move(std::uint32_t k) {
    const std::uint32_t i = examples_[k];
    const double m = margin(k);
    if (p_.rests(i, alpha_[k], m)) return false;
    const double updated = p_.best(i, alpha_[k], m, self_[k]);
    const double change = updated - alpha_[k];
    if (change == 0.0) return true;
    alpha_[k] = updated;
    factors_.add(k, change, z_.data());
    return true;
  }

  // Sets alpha of all members to their best values together. Returns false if all of them rest.
  // The score of a member is what it was without the group's entries, and `moved`, which is the
  // same for all members.
  bool move_group(std::size_t g) {
    const std::span<const std::uint32_t> members = groups_[g];
    const std::uint32_t first = members[0];
    const auto y = [&](std::uint32_t k) { return static_cast<double>(p_.y[examples_[k]]); };
    const double moved = y(first) * factors_.dot(first, z_.data());
    bool rests = true;
    double beta = 0.0;
    base_.clear();
    for (const std::uint32_t k : members) {
      base_.push_back(start_margin_[k] - factors_.own[k] * start_[k]);
      const double m = base_.back() + y(k) * moved + factors_.own[k] * alpha_[k];
      rests = rests && p_.rests(examples_[k], alpha_[k], m);
      beta += y(k) * alpha_[k];
    }
    if (rests) return false;
    const auto set = [&](double score, Vector& to) {
      double sum = 0.0;
      for (std::size_t a = 0; a < members.size(); ++a) {
        const std::uint32_t k = members[a], i = examples_[k];
        // What is left by rounding would be a curvature without a meaning.
        const double own = factors_.own[k] > 1e-12 * self_[k] ? factors_.own[k] : 0.0;
        to[a] = p_.loss.best(p_.C[i], 0.0, p_.residual(i, base_[a] + y(k) * score), own);
        sum += y(k) * to[a];
      }
      return sum;
    };
    best_.resize(members.size());
    scratch_.resize(members.size());
    balance(moved, beta, group_square_[g], best_, scratch_, set);
    double change = 0.0;
    for (std::size_t a = 0; a < members.size(); ++a) {
      change += y(members[a]) * (best_[a] - alpha_[members[a]]);
      alpha_[members[a]] = best_[a];
    }
    if (change != 0.0) factors_.add(first, y(first) * change, z_.data());
    return true;
  }

  double gap(const StopToken& token) const {
    token.check();
    double sum = 0.0;
    for (std::size_t k = 0; k < alpha_.size(); ++k) {
      sum += p_.gap(examples_[k], alpha_[k], margin(k));
    }
    return sum;
  }

  // ---------------------------------------------------------------------------- joint steps

  // After a step that ends at the boundary, the examples that are still free move again.
  void joint_steps(const StopToken& token) {
    constexpr int kMost = 3;
    for (int n = 0; n < kMost; ++n) {
      list_free();
      const Vector gradient = free_gradient();
      const Vector step = newton_step(gradient, token);
      if (!take(step, gradient, token)) return;
    }
  }

  void list_free() {
    free_.clear();
    for (std::uint32_t k = 0; k < alpha_.size(); ++k) {
      if (is_free(k)) free_.push_back(k);
    }
  }

  Vector free_gradient() const {
    Vector gradient;
    for (const std::uint32_t k : free_) {
      const std::uint32_t i = examples_[k];
      gradient.push_back(p_.loss.gradient(p_.C[i], alpha_[k], p_.residual(i, margin(k))));
    }
    return gradient;
  }

  // Approximately -(Q + ridges)^-1 gradient over the free examples.
  Vector newton_step(const Vector& gradient, const StopToken& token) {
    constexpr CgLimits kLimits{.most_rounds = 15, .rest = 1e-2, .flat = 1e14};
    constexpr std::size_t kBetweenChecks = 5;
    Vector wanted, image(gradient.size());
    for (const double g : gradient) wanted.push_back(-g);
    std::size_t n = 0;
    heavy().take(free_, token);
    return conjugate_gradients(
        std::move(wanted), kLimits,
        [&](const Vector& direction) -> const Vector& {
          token.check();
          factors_.sum(free_, direction, change_);
          for (std::size_t a = 0; a < free_.size(); ++a) {
            const std::uint32_t k = free_[a];
            image[a] =
                factors_.dot(k, change_.data()) + (factors_.own[k] + ridge(k)) * direction[a];
          }
          return image;
        },
        [&](const Vector& step) { return ++n % kBetweenChecks == 0 && leaves_box(step); },
        [&](const Vector& rest) -> const Vector& { return heavy().solve(rest); });
  }

  HeavyColumns& heavy() {
    if (!heavy_) {
      Vector diagonal;
      for (std::uint32_t k = 0; k < alpha_.size(); ++k) {
        diagonal.push_back(self_[k] + p_.constant() + ridge(k));
      }
      heavy_.emplace(factors_, diagonal);
    }
    return *heavy_;
  }

  // Whether many examples would.
  bool leaves_box(const Vector& step) const {
    const std::size_t many = 10 + free_.size() / 100;
    std::size_t n = 0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
      const double wanted = alpha_[free_[a]] + step[a];
      if (wanted < lower(free_[a]) || wanted > upper(free_[a])) ++n;
    }
    return n > many;
  }

  // Goes along the step, each example up to its bounds, if the objective decreases: first the whole
  // step, then half of it and so on, at last until the first example meets a bound. Returns whether
  // the step ended at the boundary.
  bool take(const Vector& step, const Vector& gradient, const StopToken& token) {
    constexpr int kTries = 10;
    double share = 1.0;
    for (int n = 0; n < kTries; ++n, share *= 0.5) {
      token.check();
      if (n + 1 == kTries) share = std::min(share, share_in_box(step));
      const Vector within = in_box(step, share);
      if (!(gain(within, gradient) > 0.0)) continue;
      bool at_boundary = false;
      for (std::size_t a = 0; a < free_.size(); ++a) {
        const std::uint32_t k = free_[a];
        alpha_[k] = std::clamp(alpha_[k] + share * step[a], lower(k), upper(k));
        at_boundary = at_boundary || !is_free(k);
      }
      for (std::size_t t = 0; t < z_.size(); ++t) z_[t] += change_[t];
      return at_boundary;
    }
    return false;
  }

  // The share of the step until the first example meets a bound.
  double share_in_box(const Vector& step) const {
    double share = 1.0;
    for (std::size_t a = 0; a < step.size(); ++a) {
      const std::uint32_t k = free_[a];
      if (step[a] < 0.0) share = std::min(share, (lower(k) - alpha_[k]) / step[a]);
      if (step[a] > 0.0) share = std::min(share, (upper(k) - alpha_[k]) / step[a]);
    }
    return share;
  }

  Vector in_box(const Vector& step, double share) const {
    Vector within(step.size());
    for (std::size_t a = 0; a < step.size(); ++a) {
      const std::uint32_t k = free_[a];
      within[a] = std::clamp(alpha_[k] + share * step[a], lower(k), upper(k)) - alpha_[k];
    }
    return within;
  }

  // The decrease of the objective by a step; change_ is then the change of z_.
  double gain(const Vector& step, const Vector& gradient) {
    double square = factors_.sum(free_, step, change_);
    for (std::size_t a = 0; a < step.size(); ++a) {
      square += (factors_.own[free_[a]] + ridge(free_[a])) * step[a] * step[a];
    }
    return -dot(gradient, step) - 0.5 * square;
  }

  const DualProblem<L>& p_;
  std::span<const std::uint32_t> examples_;
  CompactFactors factors_;
  Vector start_, start_margin_, self_;  // at the start, by chosen example; K_kk
  Vector alpha_;
  Vector z_;       // the change of w since the start
  Vector change_;  // that of z_ by a step
  EqualExamples groups_;
  Vector group_square_;               // q of balance(), by group
  Vector base_, best_, scratch_;      // of a group
  std::vector<std::uint32_t> order_;  // the examples and groups that the next sweep visits
  std::vector<std::uint32_t> free_;
  std::optional<HeavyColumns> heavy_;  // once it is needed
};

}  // namespace filbert
