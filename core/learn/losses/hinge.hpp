// The hinge loss, C max(0, 1 - m). Its dual variables lie between 0 and C (Hsieh et al. 2008).
#pragma once

#include <algorithm>
#include <string_view>

#include "learn/losses/quadratic_loss.hpp"

namespace filbert {

struct Hinge : QuadraticLoss<Hinge> {
  static constexpr std::string_view name = "hinge";
  static constexpr double target = 1.0;

  double lower(double) const { return 0.0; }
  double upper(double C) const { return C; }
  double ridge(double) const { return 0.0; }
  double value(double C, double r) const { return C * std::max(0.0, r); }
};

}  // namespace filbert
