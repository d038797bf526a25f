// The logistic loss, C log(1 + exp(-m)). Its dual variables lie strictly between 0 and C, and its
// conjugate is an entropy (Yu, Huang & Lin 2011).
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

namespace filbert {

struct Logistic {
  static constexpr std::string_view name = "logistic";
  static constexpr bool is_quadratic = false;
  static constexpr bool moves_jointly = false;
  static constexpr double target = 0.0;

  double lower(double) const { return 0.0; }
  double upper(double C) const { return C; }
  double value(double C, double r) const {
    return C * (std::max(0.0, r) + std::log1p(std::exp(-std::fabs(r))));
  }
  double conjugate(double C, double alpha) const {
    const double p = alpha / C;
    return C * (x_log_x(p) + x_log_x(1.0 - p));
  }
  double gap(double C, double alpha, double r) const {
    return std::max(0.0, value(C, r) + conjugate(C, alpha) - alpha * r);
  }
  // Every example has a best value strictly between the bounds, so none is at rest.
  bool rests(double, double, double) const { return false; }

  // With t = log(a / (C - a)), the derivative is t + q (a - alpha) - r. It grows with t, and
  // Newton's method finds where it is 0. A step is replaced by bisection if it leaves the interval
  // in which the zero must lie, or if it is not at most half as long as the step before.
  double best(double C, double alpha, double r, double q) const {
    constexpr int kMostSteps = 100;
    constexpr double kEnough = 1e-12;
    double low = r - q * (C - alpha), high = r + q * alpha;
    double t = std::clamp(alpha > 0.0 && alpha < C ? std::log(alpha / (C - alpha)) : r, low, high);
    double before = high - low;
    for (int n = 0; n < kMostSteps; ++n) {
      const double p = 1.0 / (1.0 + std::exp(-t));
      const double slope = t + q * (C * p - alpha) - r;
      (slope > 0.0 ? high : low) = t;
      double next = t - slope / (1.0 + q * C * p * (1.0 - p));
      const bool is_good = next >= low && next <= high && 2.0 * std::fabs(next - t) <= before;
      if (!is_good) next = 0.5 * (low + high);
      before = std::fabs(next - t);
      t = next;
      if (before <= kEnough * (1.0 + std::fabs(t))) break;
    }
    return C / (1.0 + std::exp(-t));
  }

 private:
  static double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
};

}  // namespace filbert
