// The update rule of a perceptron and its log, independent of how scores are computed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

// w changes by amount x at the time-th example, counted from 1. After T examples, w is
//   sum of amount x,
// and the average of the T vectors after each example is
//   sum of amount (T - time + 1) / T x = w - sum of amount (time - 1) x / T.
struct PerceptronUpdate {
  std::uint32_t support;  // the number of x
  std::uint32_t problem;
  double amount;
  std::uint64_t time;
};

struct PerceptronLog {
  std::vector<PerceptronUpdate> updates;
  std::uint64_t n_seen = 0;
  std::uint64_t n_errors = 0;
  std::vector<std::uint32_t> errors;  // of each kErrorBlock examples in turn

  static constexpr std::uint64_t kErrorBlock = 1000;
};

struct PerceptronTargets {
  std::span<const std::int8_t> y;   // by problem and example, +1 or -1
  std::span<const double> weights;  // by example; examples of weight 0 are skipped
  double margin = 0.0;
};

// Read by another thread.
struct PerceptronProgress {
  std::atomic<std::uint64_t> n_done{0};
  std::atomic<std::uint64_t> n_errors{0};
};

class PerceptronRule {
 public:
  explicit PerceptronRule(std::size_t n_problems) : reach_(n_problems, 0.0) {}

  std::size_t n_problems() const { return reach_.size(); }

  // Whether y score is at most the margin. Scores that should equal the margin, such as differences
  // of equal kernels, do so only up to rounding, which depends on how they are computed. So a score
  // counts as equal to the margin if the difference is tiny compared with the maximum of |w| |x|.
  bool learns(std::size_t problem, double y, double score, double norm, double margin) const {
    return y * score <= margin + kRounding * reach_[problem] * norm;
  }

  void note_update(std::size_t problem, double amount, double norm) {
    reach_[problem] += std::abs(amount) * norm;
  }

  // Whether the scores would have led to a wrong prediction. For two classes the sign decides, and
  // 0 is wrong. For more classes the largest score decides, and ties are wrong.
  bool is_error(const PerceptronTargets& targets, std::size_t row, std::size_t n_rows,
                std::span<const double> scores, double norm) const {
    const auto y = [&](std::size_t p) { return double{0.0} + targets.y[p * n_rows + row]; };
    if (scores.size() == 1) return learns(0, y(0), scores[0], norm, 0.0);
    double own = 0.0;
    double others = -INFINITY;
    double slack = 0.0;
    for (std::size_t p = 0; p < scores.size(); ++p) {
      slack = std::max(slack, kRounding * reach_[p] * norm);
      if (y(p) > 0.0) {
        own = scores[p];
      } else {
        others = std::max(others, scores[p]);
      }
    }
    return own <= others + slack;
  }

  static void note_example(PerceptronLog& log, bool error, PerceptronProgress& progress) {
    if (log.n_seen % PerceptronLog::kErrorBlock == 0) log.errors.push_back(0);
    ++log.n_seen;
    log.n_errors += error ? 1 : 0;
    log.errors.back() += error ? 1 : 0;
    progress.n_done.fetch_add(1, std::memory_order_relaxed);
    if (error) progress.n_errors.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static constexpr double kRounding = 1e-12;

  std::vector<double> reach_;  // by problem: an upper bound of |w|
};

}  // namespace filbert
