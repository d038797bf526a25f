// A joint step of many examples, for problems in which single examples make little progress. It
// needs a loss whose conjugate is quadratic or has quadratic pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/conjugate_gradients.hpp"
#include "learn/svm/working_set.hpp"

namespace filbert {

// The examples of a working set that are at no bound, with vectors over them.
template <Loss L>
class FreeExamples {
 public:
  using Vector = std::vector<double>;

  explicit FreeExamples(WorkingSet<L>& set) : set_(set) {
    for (std::uint32_t k = 0; k < set.size(); ++k) {
      if (set.alpha[k] > set.lower(k) && set.alpha[k] < set.upper(k)) free_.push_back(k);
    }
  }

  std::size_t size() const { return free_.size(); }

  Vector gradient() const {
    Vector values;
    for (const std::uint32_t k : free_) values.push_back(set_.gradient(k));
    return values;
  }

  // Approximately -(Q + ridges)^-1 gradient, by conjugate gradients.
  Vector newton_step(const Vector& gradient, const StopToken& token) const {
    Vector wanted;
    for (const double g : gradient) wanted.push_back(-g);
    // Equal trees with different targets may move together as far as their bounds allow.
    const CgLimits limits{.most_rounds = std::min<std::size_t>(gradient.size(), 30), .flat = 1e14};
    return conjugate_gradients(
        std::move(wanted), limits,
        [&](const Vector& direction) {
          token.check();
          return times_Q(direction);
        },
        [](const Vector&) { return false; });
  }

  // The decrease of the objective by a step.
  double gain(const Vector& gradient, const Vector& step) const {
    return -dot(gradient, step) - 0.5 * dot(step, times_Q(step));
  }

  // Shortens the whole step until it is within the bounds, and each component separately. Returns
  // the remaining fraction of the whole step.
  double keep_in_bounds(Vector& together, Vector& each) const {
    double share = 1.0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
      const double alpha = set_.alpha[free_[a]];
      each[a] = std::clamp(alpha + each[a], set_.lower(free_[a]), set_.upper(free_[a])) - alpha;
      if (together[a] != 0.0) share = std::min(share, each[a] / together[a]);
    }
    share = std::max(share, 0.0);
    for (double& part : together) part *= share;
    return share;
  }

  void take(const Vector& step) {
    for (std::size_t a = 0; a < step.size(); ++a) {
      const std::uint32_t k = free_[a];
      const double lower = set_.lower(k), upper = set_.upper(k);
      double updated = std::clamp(set_.alpha[k] + step[a], lower, upper);
      // An example that just meets the bound must not miss it by rounding.
      if (updated - lower < 1e-14 * std::fabs(step[a])) updated = lower;
      if (upper - updated < 1e-14 * set_.cost(k)) updated = upper;
      set_.move_to(k, updated);
    }
  }

 private:
  // (Q + ridges) x.
  Vector times_Q(const Vector& x) const {
    Vector product(x.size());
    for (std::size_t a = 0; a < x.size(); ++a) {
      const double* const q = set_.row(free_[a]);
      double sum = set_.ridge(free_[a]) * x[a];
      for (std::size_t b = 0; b < x.size(); ++b) sum += q[free_[b]] * x[b];
      product[a] = sum;
    }
    return product;
  }

  WorkingSet<L>& set_;
  std::vector<std::uint32_t> free_;
};

// If trees are very similar, many sweeps make little progress. So now and then the examples at no
// bound move together towards the point at which their gradients vanish, found by conjugate
// gradients: either all until the first meets a bound, or each as far as its own bounds allow,
// whichever is better. Examples that met a bound stay there, and the others go on.
template <Loss L>
void free_step(WorkingSet<L>& set, const StopToken& token) {
  constexpr int kMostLegs = 5;
  constexpr std::size_t kMostFree = 512;  // above this, it takes longer than sweeps
  for (int leg = 0; leg < kMostLegs; ++leg) {
    FreeExamples<L> free(set);
    if (free.size() > kMostFree) return;
    const auto gradient = free.gradient();
    auto together = free.newton_step(gradient, token);
    auto each = together;
    const double share = free.keep_in_bounds(together, each);
    const double gain = free.gain(gradient, together);
    const double gain_each = share < 1.0 ? free.gain(gradient, each) : gain;
    if (!(std::max(gain, gain_each) > 0.0)) return;
    free.take(gain_each > gain ? each : together);
    if (share == 1.0) return;
  }
}

}  // namespace filbert
