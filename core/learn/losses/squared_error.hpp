// The squared error, C (t - f)^2, of kernel ridge regression. Its dual variables have no bounds.
#pragma once

#include <limits>
#include <string_view>

#include "learn/losses/quadratic_loss.hpp"

namespace filbert {

struct SquaredError : QuadraticLoss<SquaredError> {
  static constexpr std::string_view name = "squared_error";

  double lower(double) const { return -std::numeric_limits<double>::infinity(); }
  double upper(double) const { return std::numeric_limits<double>::infinity(); }
  double ridge(double C) const { return 0.5 / C; }
  double value(double C, double r) const { return C * r * r; }
};

}  // namespace filbert
