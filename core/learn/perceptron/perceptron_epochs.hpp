// The perceptron on in-memory data, in the space of the kernel's factors: z_t = mass_t sum_i
// amount_i scale_i x_it stands for w, so that a score costs one pass over an example's columns, and
// so does learning from it. It makes the same updates as the online perceptron.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "learn/perceptron/perceptron_rule.hpp"

namespace filbert {

// Factors: SingleFactors or SumFactors (see factors/sum_factors.hpp).
template <class Factors>
class PerceptronEpochs {
 public:
  PerceptronEpochs(const Factors& factors, const PerceptronTargets& targets, bool intercept)
      : f_(factors),
        targets_(targets),
        n_(factors.n_trees()),
        intercept_(intercept),
        rule_(n_ == 0 ? 0 : targets.y.size() / n_),
        z_(rule_.n_problems(), std::vector<double>(factors.n_columns(), 0.0)),
        own_(rule_.n_problems(), std::vector<double>(n_, 0.0)),
        bias_(rule_.n_problems(), 0.0),
        support_of_(n_, kNone) {}

  // Repeats the updates of a log: gives the same weights to the last bit. `support` has the example
  // of each support vector. Call it before `run`.
  void replay(const PerceptronLog& log, std::span<const std::uint32_t> support) {
    for (const PerceptronUpdate& u : log.updates) {
      log_.n_seen = u.time - 1;
      const std::uint32_t i = support[u.support];
      update(i, u.problem, u.amount, norm(i));
    }
    log_ = log;
  }

  // Learns from each example of an epoch in turn.
  void run(std::span<const std::uint32_t> order, PerceptronProgress& progress,
           const StopToken& token) {
    std::vector<double> scores(rule_.n_problems());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k % 64 == 0) token.check();
      if (k + kAhead < order.size()) f_.prefetch(order[k + kAhead]);
      const std::uint32_t i = order[k];
      if (targets_.weights[i] == 0.0) continue;
      const double norm = this->norm(i);
      for (std::size_t p = 0; p < scores.size(); ++p) {
        scores[p] = f_.dot(i, z_[p].data()) + f_.diagonal[i] * own_[p][i] + bias_[p];
      }
      const bool error = rule_.is_error(targets_, i, n_, scores, norm);
      for (std::uint32_t p = 0; p < scores.size(); ++p) {
        const double y = targets_.y[p * n_ + i];
        if (rule_.learns(p, y, scores[p], norm, targets_.margin)) {
          update(i, p, y * targets_.weights[i], norm);
        }
      }
      rule_.note_example(log_, error, progress);
    }
  }

  const PerceptronLog& log() const { return log_; }
  // The example of each support vector.
  const std::vector<std::uint32_t>& support() const { return support_; }

 private:
  double norm(std::uint32_t i) const { return std::sqrt(f_.self[i] + (intercept_ ? 1.0 : 0.0)); }

  void update(std::uint32_t i, std::uint32_t problem, double amount, double norm) {
    if (support_of_[i] == kNone) {
      support_of_[i] = static_cast<std::uint32_t>(support_.size());
      support_.push_back(i);
    }
    log_.updates.push_back({support_of_[i], problem, amount, log_.n_seen + 1});
    f_.add(i, amount, z_[problem].data());
    own_[problem][i] += amount;
    if (intercept_) bias_[problem] += amount;
    rule_.note_update(problem, amount, norm);
  }

  static constexpr std::size_t kAhead = 4;

  const Factors& f_;
  const PerceptronTargets targets_;
  const std::size_t n_;
  const bool intercept_;
  PerceptronRule rule_;
  // By problem.
  std::vector<std::vector<double>> z_;    // by column
  std::vector<std::vector<double>> own_;  // by example: its amounts so far
  std::vector<double> bias_;
  std::vector<std::uint32_t> support_of_;  // by example
  std::vector<std::uint32_t> support_;
  PerceptronLog log_;
};

}  // namespace filbert
