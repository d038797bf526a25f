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

using NumpyNumbers = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<2>, nb::c_contig>;

// Places as rows of numbers that only the core understands.
std::vector<SvmPlace> to_places(const MatrixOf<std::uint64_t>& rows);

// Problems with the arrays that they refer to.
struct SvmProblemArrays {
  SvmProblemArrays(MatrixOf<std::int8_t> given_y, Array<double> given_C, const std::string& loss,
                   double epsilon, bool intercept, double tol, Array<std::uint64_t> given_seeds,
                   std::uint32_t max_sweeps, std::optional<MatrixOf<double>> given_targets,
                   std::optional<MatrixOf<double>> given_start,
                   const std::optional<MatrixOf<std::uint64_t>>& given_places, std::uint32_t pause)
      : y(std::move(given_y)),
        C(std::move(given_C)),
        seeds(std::move(given_seeds)),
        targets(std::move(given_targets)),
        start(std::move(given_start)),
        places(given_places ? to_places(*given_places) : std::vector<SvmPlace>()) {
    problems.n_examples = y.shape(1);
    problems.y = {y.data(), y.size()};
    problems.C = view(C);
    problems.targets = values_like_y(targets, "targets");
    problems.start = values_like_y(start, "start");
    problems.seeds = view(seeds);
    problems.loss = loss_named(loss, epsilon);
    problems.intercept = intercept;
    problems.tol = tol;
    problems.max_sweeps = max_sweeps;
    problems.places = places;
    problems.pause = pause;
    problems.check(y.shape(1));
  }

  MatrixOf<std::int8_t> y;
  Array<double> C;
  Array<std::uint64_t> seeds;
  std::optional<MatrixOf<double>> targets, start;
  std::vector<SvmPlace> places;
  SvmProblems problems;

 private:
  // Empty if there are none.
  std::span<const double> values_like_y(const std::optional<MatrixOf<double>>& values,
                                        const char* name) const {
    if (!values) return {};
    if (values->shape(0) != y.shape(0) || values->shape(1) != y.shape(1)) {
      throw nb::value_error((std::string(name) + " and y differ in shape").c_str());
    }
    return {values->data(), values->size()};
  }
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
  NumpyNumbers places;
  bool is_paused = false;  // any of the problems
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
