// The problem that a support vector machine solves, and what one example adds to it.
//
//   min over alpha of  1/2 alpha' (Q + D) alpha - sum alpha      0 <= alpha_i <= U_i
//
// Q_ij = y_i y_j (K_ij + intercept). Hinge: D = 0, U = C. Squared hinge: D = 1/(2C), U = infinity
// (Hsieh et al. 2008). The margin m_i is y_i times the decision value, (Q alpha)_i.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

// One class against the rest.
struct SvmProblem {
  std::span<const std::int8_t> y;  // +1 or -1
  std::span<const double> C;       // by example; 0 leaves it out
  bool squared_hinge = false;
  bool intercept = true;  // a constant feature of value 1, regularised like the others
  double tol = 1e-3;      // relative duality gap
  std::uint64_t seed = 0;
  std::uint32_t max_sweeps = 1000;  // sweeps over the examples that are not at rest
  int n_threads = kInline;          // for looks at all examples; results do not depend on it

  double upper(std::size_t i) const {
    return squared_hinge && C[i] > 0.0 ? std::numeric_limits<double>::infinity() : C[i];
  }
  double ridge(std::size_t i) const { return squared_hinge ? 0.5 / C[i] : 0.0; }
  double constant() const { return intercept ? 1.0 : 0.0; }

  double loss(std::size_t i, double margin) const {
    const double violation = std::max(0.0, 1.0 - margin);
    return C[i] * (squared_hinge ? violation * violation : violation);
  }

  // The example's share of the gap between the primal and the dual objective; never negative.
  double gap(std::size_t i, double alpha, double margin) const {
    return loss(i, margin) + alpha * (margin - 1.0 + 0.5 * ridge(i) * alpha);
  }

  double gradient(std::size_t i, double alpha, double margin) const {
    return margin - 1.0 + ridge(i) * alpha;
  }

  // At a bound, and a step down the gradient would lead beyond it.
  bool rests(std::size_t i, double alpha, double gradient) const {
    return (alpha <= 0.0 && gradient >= 0.0) || (alpha >= upper(i) && gradient <= 0.0);
  }

  // The best alpha_i while the others stay, given K_ii.
  double best(std::size_t i, double alpha, double gradient, double self) const {
    const double curvature = self + constant() + ridge(i);
    // A tree without fragments has nothing that could be learned: its loss is constant.
    const double wanted =
        curvature > 0.0 ? alpha - gradient / curvature : (gradient < 0.0 ? upper(i) : 0.0);
    return std::clamp(wanted, 0.0, upper(i));
  }
};

// What a look at all examples told in the course of training.
struct SvmLook {
  std::uint32_t n_sweeps = 0;  // before it
  double primal = 0.0;
  double gap = 0.0;
};

struct SvmSolution {
  std::vector<double> alpha;
  double intercept = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;  // (primal - dual) / primal
  std::uint32_t n_sweeps = 0;
  std::vector<SvmLook> looks;  // the last one after each number of sweeps
};

// What examples add to both objectives.
struct SvmSums {
  double norm = 0.0, loss = 0.0, linear = 0.0, ridges = 0.0;

  void add(const SvmProblem& p, std::size_t i, double alpha, double margin) {
    norm += alpha * margin;
    loss += p.loss(i, margin);
    linear += alpha;
    ridges += p.ridge(i) * alpha * alpha;
  }
  void add(const SvmSums& other) {
    norm += other.norm;
    loss += other.loss;
    linear += other.linear;
    ridges += other.ridges;
  }
  void tell(SvmSolution& solution) const {
    solution.primal = 0.5 * norm + loss;
    solution.dual = linear - 0.5 * (norm + ridges);
    const double difference = solution.primal - solution.dual;
    solution.gap = solution.primal > 0.0 ? std::max(0.0, difference / solution.primal) : 0.0;
    std::vector<SvmLook>& looks = solution.looks;
    if (!looks.empty() && looks.back().n_sweeps == solution.n_sweeps) looks.pop_back();
    looks.push_back({solution.n_sweeps, solution.primal, solution.gap});
  }
};

// How far a solver is, for whoever watches: a share of the way from the first gap to the last.
using SolverProgress = std::atomic<std::uint32_t>;  // in thousandths

}  // namespace filbert
