// The exact kernel SVM by dual coordinate descent on the factors of the kernel matrix.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "engine/tree_factors.hpp"

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
};

struct SvmSolution {
  std::vector<double> alpha;
  double intercept = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;  // (primal - dual) / primal
  std::uint32_t n_sweeps = 0;
};

// How far a solver is, for whoever watches: a share of the way from the first gap to the last.
using SolverProgress = std::atomic<std::uint32_t>;  // in thousandths

// Minimises 1/2 |w|^2 + sum C_i loss(y_i (w . x_i)) over the feature space of the kernel, from
// `start` (empty: zeros). Stops when the gap between primal and dual objective, computed anew from
// the dual variables over all examples, is within tol of the primal one, or after max_sweeps.
SvmSolution train_svm(const TreeFactors& factors, const SvmProblem& problem,
                      std::span<const double> start, SolverProgress& progress,
                      const StopToken& token);

}  // namespace filbert
