// Some examples of a problem with their part of the matrix: a small problem of its own, while the
// other examples stay as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

struct WorkingSet {
  const SvmProblem& problem;
  std::vector<std::uint32_t> examples;
  std::vector<double> alpha;    // by place in the set, as all that follow
  std::vector<double> margins;  // y times the decision value
  std::vector<double> self;     // K(t, t)
  std::vector<double> Q;        // of problem's Q without D, row by row

  std::size_t size() const { return examples.size(); }
  const double* row(std::size_t k) const { return Q.data() + k * size(); }
  double gradient(std::size_t k) const {
    return problem.gradient(examples[k], alpha[k], margins[k]);
  }
  double upper(std::size_t k) const { return problem.upper(examples[k]); }

  void clear() {
    for (auto* values : {&alpha, &margins, &self}) values->clear();
    examples.clear();
  }

  // What its examples have of the gap.
  double gap() const {
    double sum = 0.0;
    for (std::size_t k = 0; k < size(); ++k) sum += problem.gap(examples[k], alpha[k], margins[k]);
    return sum;
  }

  void move_to(std::size_t k, double updated) {
    const double change = updated - alpha[k];
    if (change == 0.0) return;
    alpha[k] = updated;
    const double* const q = row(k);
    for (std::size_t l = 0; l < size(); ++l) margins[l] += change * q[l];
  }
};

// Sweeps of coordinate descent over the set, at least one, until it has at most `enough` of the gap
// left or after `most_sweeps`. Returns their number.
std::uint32_t descend(WorkingSet& set, double enough, std::uint32_t most_sweeps, Rng& rng,
                      const StopToken& token);

}  // namespace filbert
