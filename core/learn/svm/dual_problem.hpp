// A problem together with its loss: the terms of one example, given its dual variable and margin.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "learn/losses/loss.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

template <Loss L>
struct DualProblem : SvmProblem {
  L loss;

  DualProblem(const L& its_loss, const SvmProblem& problem) : SvmProblem(problem), loss(its_loss) {
    if (!HasTarget<L> && targets.size() != y.size()) {
      throw std::invalid_argument("this loss needs a target for each example");
    }
  }

  double constant() const { return intercept ? 1.0 : 0.0; }

  double target(std::size_t i) const {
    if constexpr (HasTarget<L>) {
      return L::target;
    } else {
      return targets[i];
    }
  }
  double residual(std::size_t i, double margin) const { return target(i) - margin; }

  double lower(std::size_t i) const { return loss.lower(C[i]); }
  double upper(std::size_t i) const { return loss.upper(C[i]); }
  // For a loss that moves jointly: the ends of the piece of the conjugate that alpha lies in.
  double face_lower(std::size_t i, double alpha) const { return loss.face_lower(C[i], alpha); }
  double face_upper(std::size_t i, double alpha) const { return loss.face_upper(C[i], alpha); }
  double gap(std::size_t i, double alpha, double margin) const {
    return loss.gap(C[i], alpha, residual(i, margin));
  }
  bool rests(std::size_t i, double alpha, double margin) const {
    return loss.rests(C[i], alpha, residual(i, margin));
  }
  // `self` is K_ii.
  double best(std::size_t i, double alpha, double margin, double self) const {
    return loss.best(C[i], alpha, residual(i, margin), self + constant());
  }

  // The initial dual variables, within their bounds.
  std::vector<double> first_alpha() const {
    std::vector<double> alpha(y.size(), 0.0);
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (C[i] > 0.0) alpha[i] = std::clamp(start[i], lower(i), upper(i));
    }
    return alpha;
  }
};

// The sums over examples for both objectives.
struct SvmSums {
  double norm = 0.0, loss = 0.0, linear = 0.0, conjugate = 0.0;

  template <Loss L>
  void add(const DualProblem<L>& p, std::size_t i, double alpha, double margin) {
    norm += alpha * margin;
    loss += p.loss.value(p.C[i], p.residual(i, margin));
    linear += p.target(i) * alpha;
    conjugate += p.loss.conjugate(p.C[i], alpha);
  }
  void add(const SvmSums& other) {
    norm += other.norm;
    loss += other.loss;
    linear += other.linear;
    conjugate += other.conjugate;
  }
  void tell(SvmSolution& solution) const {
    solution.tell(0.5 * norm + loss, linear - (0.5 * norm + conjugate));
  }
};

}  // namespace filbert
