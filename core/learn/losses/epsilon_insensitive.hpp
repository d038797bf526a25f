// The epsilon-insensitive loss, C max(0, |t - f| - epsilon). Its dual variables lie between -C and
// C (Ho & Lin 2012).
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "learn/losses/kinked_loss.hpp"

namespace filbert {

struct EpsilonInsensitive : KinkedLoss<EpsilonInsensitive> {
  static constexpr std::string_view name = "epsilon_insensitive";

  double upper(double C) const { return C; }
  double ridge(double) const { return 0.0; }
  double value(double C, double r) const { return C * std::max(0.0, std::fabs(r) - epsilon); }
};

}  // namespace filbert
