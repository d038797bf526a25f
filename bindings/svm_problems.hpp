// Problems and solutions of support vector machines as arrays.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

// Problems with the arrays that they refer to.
struct SvmProblemArrays {
  SvmProblemArrays(MatrixOf<std::int8_t> given_y, Array<double> given_C, const std::string& loss,
                   bool intercept, double tol, Array<std::uint64_t> given_seeds,
                   std::uint32_t max_sweeps, std::optional<MatrixOf<double>> given_start)
      : y(std::move(given_y)),
        C(std::move(given_C)),
        seeds(std::move(given_seeds)),
        start(std::move(given_start)),
        problems{y.shape(1),  {y.data(), y.size()}, view(C),   {},
                 view(seeds), loss_named(loss),     intercept, tol,
                 max_sweeps} {
    if (start && (start->shape(0) != y.shape(0) || start->shape(1) != y.shape(1))) {
      throw nb::value_error("start and y differ in shape");
    }
    if (start) problems.start = {start->data(), start->size()};
    problems.check(y.shape(1));
  }

  MatrixOf<std::int8_t> y;
  Array<double> C;
  Array<std::uint64_t> seeds;
  std::optional<MatrixOf<double>> start;
  SvmProblems problems;
};

// Sweeps, primal objectives and gaps during training.
using Looks = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<double>, NumpyArray<double>>;

// The solutions, by problem.
struct SvmSolutionArrays {
  SvmSolutionArrays(const std::vector<SvmSolution>& solutions, std::size_t n_examples);

  NumpyMatrix alpha;  // by problem and example
  NumpyArray<double> intercept, primal, dual, gap;
  NumpyArray<std::uint32_t> n_sweeps;
  std::vector<Looks> looks;
};

// Calls train(problems, watch) without the GIL.
template <class Train>
SvmSolutionArrays solve(const SvmProblemArrays& arrays, nb::object progress, const Train& train) {
  const Watch watch = watch_from_python(std::move(progress));
  std::vector<SvmSolution> solutions;
  {
    const nb::gil_scoped_release release;
    solutions = train(arrays.problems, watch);
  }
  return SvmSolutionArrays(solutions, arrays.problems.n_examples);
}

}  // namespace filbert
