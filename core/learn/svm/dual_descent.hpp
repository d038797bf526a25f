// The exact kernel SVM by dual coordinate descent on the factors of the kernel matrix.
#pragma once

#include <span>

#include "base/parallel.hpp"
#include "factors/sum_factors.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

// Minimises 1/2 |w|^2 + sum C_i loss(y_i (w . x_i)) over the feature space of the kernel, from
// `start` (empty: zeros). Stops when the gap between primal and dual objective, computed anew from
// the dual variables over all examples, is within tol of the primal one, or after max_sweeps.
SvmSolution train_svm(const TreeFactors& factors, const SvmProblem& problem,
                      std::span<const double> start, SolverProgress& progress,
                      const StopToken& token);
SvmSolution train_svm(const SumFactors& factors, const SvmProblem& problem,
                      std::span<const double> start, SolverProgress& progress,
                      const StopToken& token);

}  // namespace filbert
