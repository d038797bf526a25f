// The squared epsilon-insensitive loss, C max(0, |t - f| - epsilon)^2. Its dual variables have no
// bounds (Ho & Lin 2012). With an epsilon of 0 use SquaredError, whose conjugate has no kink.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "learn/losses/kinked_loss.hpp"

namespace filbert {

struct SquaredEpsilonInsensitive : KinkedLoss<SquaredEpsilonInsensitive> {
  static constexpr std::string_view name = "squared_epsilon_insensitive";

  double upper(double) const { return std::numeric_limits<double>::infinity(); }
  double ridge(double C) const { return 0.5 / C; }
  double value(double C, double r) const {
    const double beyond = std::max(0.0, std::fabs(r) - epsilon);
    return C * (beyond * beyond);
  }
};

}  // namespace filbert
