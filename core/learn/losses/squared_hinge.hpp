// The squared hinge loss, C max(0, 1 - m)^2. Its dual variables have no upper bound; instead the
// dual objective grows by alpha^2 / 4C (Hsieh et al. 2008).
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>

#include "learn/losses/quadratic_loss.hpp"

namespace filbert {

struct SquaredHinge : QuadraticLoss<SquaredHinge> {
  static constexpr std::string_view name = "squared_hinge";
  static constexpr double target = 1.0;

  double lower(double) const { return 0.0; }
  double upper(double) const { return std::numeric_limits<double>::infinity(); }
  double ridge(double C) const { return 0.5 / C; }
  double value(double C, double r) const {
    const double violation = std::max(0.0, r);
    return C * (violation * violation);
  }
};

}  // namespace filbert
