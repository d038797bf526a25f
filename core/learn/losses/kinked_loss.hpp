// The base of losses that ignore errors up to epsilon (Ho & Lin 2012). Their conjugate is quadratic
// on both sides of a kink at 0: conjugate(C, alpha) = epsilon |alpha| + ridge(C) alpha^2 / 2. Such
// a loss defines upper, value and ridge; the rest is here, in closed form.
#pragma once

#include <algorithm>
#include <cmath>

namespace filbert {

template <class L>
struct KinkedLoss {
  static constexpr bool is_quadratic = false;
  static constexpr bool moves_jointly = true;
  double epsilon = 0.1;

  double lower(double C) const { return -self().upper(C); }

  double conjugate(double C, double alpha) const {
    return std::fabs(alpha) * (epsilon + 0.5 * self().ridge(C) * std::fabs(alpha));
  }
  double gap(double C, double alpha, double r) const {
    return std::max(0.0, self().value(C, r) + conjugate(C, alpha) - alpha * r);
  }
  bool rests(double C, double alpha, double r) const {
    return (alpha == 0.0 && std::fabs(r) <= epsilon) ||
           (alpha >= self().upper(C) && r >= epsilon) || (alpha <= lower(C) && r <= -epsilon);
  }
  double best(double C, double alpha, double r, double q) const {
    const double pull = q * alpha + r, curvature = q + self().ridge(C);
    const double beyond = std::max(0.0, std::fabs(pull) - epsilon), most = self().upper(C);
    if (beyond == 0.0) return 0.0;
    return std::copysign(curvature > 0.0 ? std::min(most, beyond / curvature) : most, pull);
  }

  // Between these values the conjugate is quadratic. At the kink they are both 0: there sweeps
  // decide to which side alpha moves. Without epsilon there is no kink.
  double face_lower(double C, double alpha) const {
    return alpha < 0.0 || epsilon == 0.0 ? lower(C) : 0.0;
  }
  double face_upper(double C, double alpha) const {
    return alpha > 0.0 || epsilon == 0.0 ? self().upper(C) : 0.0;
  }
  double gradient(double C, double alpha, double r) const {
    const double side = alpha > 0.0 ? epsilon : (alpha < 0.0 ? -epsilon : 0.0);
    return self().ridge(C) * alpha + side - r;
  }

 private:
  const L& self() const { return static_cast<const L&>(*this); }
};

}  // namespace filbert
