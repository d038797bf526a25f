// Training on factors: one problem a task.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "learn/svm/dual_descent.hpp"
#include "svm_arrays.hpp"

namespace filbert {

// F is TreeFactors or SumFactors, of n examples.
template <class F>
Solutions train_problems(const F& factors, std::size_t n, const MatrixOf<std::int8_t>& y,
                         const MatrixOf<double>& C, const std::optional<MatrixOf<double>>& start,
                         bool squared_hinge, bool intercept, double tol,
                         const Array<std::uint64_t>& seeds, std::uint32_t max_sweeps, int n_threads,
                         nb::object progress) {
  const std::size_t k = y.shape(0);
  const int n_threads_each = std::max(1, n_threads / std::max(1, static_cast<int>(k)));
  check_problems(n, y, C, start, seeds);
  std::vector<SvmSolution> solutions(k);
  std::vector<SolverProgress> done(k);
  const Watch report = watch_from_python(std::move(progress));
  const Watch watch = [&](std::size_t, std::size_t) {
    std::size_t sum = 0;
    for (const SolverProgress& d : done) sum += d.load();
    report(sum, 1000 * k);
  };
  {
    const nb::gil_scoped_release release;
    parallel_for(k, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
      const SvmProblem problem{{y.data() + c * n, n},
                               {C.data() + c * n, n},
                               squared_hinge,
                               intercept,
                               tol,
                               seeds.data()[c],
                               max_sweeps,
                               n_threads_each};
      std::span<const double> from;
      if (start) from = {start->data() + c * n, n};
      solutions[c] = train_svm(factors, problem, from, done[c], token);
    });
  }
  return to_arrays(solutions, n);
}

}  // namespace filbert
