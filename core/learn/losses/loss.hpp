// The definition of a loss. The solvers are templates over it.
//
//   min over w of  1/2 |w|^2 + sum_i value(C_i, r_i)             r_i = target_i - margin_i
//
// The margin m_i is y_i times the decision value, and r_i is the residual. A loss for
// classification names one target for all examples in a constant `target`; a loss without that
// constant is for regression, and each example has its own target. The solvers work on the dual
// problem,
//
//   min over alpha of  1/2 alpha' Q alpha + sum_i (conjugate(C_i, alpha_i) - target_i alpha_i)
//
// with Q_ij = y_i y_j (K_ij + intercept) and lower(C_i) <= alpha_i <= upper(C_i). At the optimum,
// alpha_i is the derivative of value(C_i, .) at r_i. C is always positive.
//
//   name                           its name in the interface
//   is_quadratic                   it is a QuadraticLoss: examples between the bounds are few
//   moves_jointly                  the conjugate is quadratic, or has quadratic pieces: many
//   examples
//                                  can move in a joint step
//   lower(C), upper(C)             the range of alpha; it may be open or unbounded
//   value(C, r)                    the loss itself
//   conjugate(C, alpha)            the largest value of  alpha r - value(C, r)  over all r
//   gap(C, alpha, r)               value + conjugate - alpha r, the example's share of the duality
//                                  gap: never negative, 0 at the optimum
//   rests(C, alpha, r)             no step of alpha lowers the dual objective, and this is likely
//                                  to stay so: the solver sets the example aside for a while
//   best(C, alpha, r, q)           the best alpha while the others stay, in closed form or by
//                                  Newton's method: it minimises
//                                  q/2 (new - alpha)^2 - r (new - alpha) + conjugate(C, new)
//                                  with q = Q_ii, which is 0 for a tree without fragments;
//                                  with q = 0 and alpha = 0 it is the derivative of value at r
//
// A loss that moves jointly has also
//
//   face_lower(C, alpha), face_upper(C, alpha)   the ends of the piece that alpha lies in
//   ridge(C), gradient(C, alpha, r)              the second derivative of the conjugate in a piece,
//                                                and the derivative of the dual objective
#pragma once

#include <concepts>
#include <string_view>

namespace filbert {

template <class L>
concept Loss = requires(const L loss, double C, double alpha, double r, double q) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::is_quadratic } -> std::convertible_to<bool>;
  { L::moves_jointly } -> std::convertible_to<bool>;
  { loss.lower(C) } -> std::same_as<double>;
  { loss.upper(C) } -> std::same_as<double>;
  { loss.value(C, r) } -> std::same_as<double>;
  { loss.conjugate(C, alpha) } -> std::same_as<double>;
  { loss.gap(C, alpha, r) } -> std::same_as<double>;
  { loss.rests(C, alpha, r) } -> std::same_as<bool>;
  { loss.best(C, alpha, r, q) } -> std::same_as<double>;
};

// All examples share one target, which the loss names.
template <class L>
concept HasTarget = requires {
  { L::target } -> std::convertible_to<double>;
};

}  // namespace filbert
