// The base of losses whose conjugate is quadratic: conjugate(C, alpha) = ridge(C) alpha^2 / 2.
// Such a loss defines lower, upper, value and ridge; the rest is here, in closed form.
#pragma once

#include <algorithm>

namespace filbert {

template <class L>
struct QuadraticLoss {
  static constexpr bool is_quadratic = true;
  static constexpr bool moves_jointly = true;

  double conjugate(double C, double alpha) const { return 0.5 * (self().ridge(C) * alpha * alpha); }

  double gap(double C, double alpha, double r) const {
    return self().value(C, r) + alpha * (0.5 * self().ridge(C) * alpha - r);
  }

  double face_lower(double C, double) const { return self().lower(C); }
  double face_upper(double C, double) const { return self().upper(C); }

  // The derivative of the dual objective with respect to alpha.
  double gradient(double C, double alpha, double r) const { return self().ridge(C) * alpha - r; }

  // Whether alpha is at a bound and a step down the gradient would lead beyond it. Equal trees
  // often have a gradient of 0. Its rounding errors must not decide about the order of later
  // visits.
  bool rests(double C, double alpha, double r) const {
    const double g = gradient(C, alpha, r);
    return (alpha <= self().lower(C) && g >= -kFlat) || (alpha >= self().upper(C) && g <= kFlat);
  }

  double best(double C, double alpha, double r, double q) const {
    const double g = gradient(C, alpha, r);
    const double lower = self().lower(C), upper = self().upper(C);
    const double curvature = q + self().ridge(C);
    // Nothing can be learned from a tree without fragments: its loss is constant.
    const double wanted = curvature > 0.0 ? alpha - g / curvature : (g < 0.0 ? upper : lower);
    if (wanted < lower + kFlat) return lower;
    return wanted > upper - kFlat ? upper : wanted;
  }

 private:
  static constexpr double kFlat = 1e-13;

  const L& self() const { return static_cast<const L&>(*this); }
};

}  // namespace filbert
