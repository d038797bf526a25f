// Problems and solutions of support vector machines as arrays, one row for each problem.
#pragma once

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

// Sweeps, primal objectives and gaps in the course of training.
using Looks = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<double>, NumpyArray<double>>;

// Dual variables, intercepts, primal and dual objectives, gaps, sweeps; and looks by problem.
using Solutions =
    std::tuple<NumpyMatrix, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>,
               NumpyArray<double>, NumpyArray<std::uint32_t>, std::vector<Looks>>;

inline void check_problems(std::size_t n, const MatrixOf<std::int8_t>& y, const MatrixOf<double>& C,
                           const std::optional<MatrixOf<double>>& start,
                           const Array<std::uint64_t>& seeds) {
  const std::size_t k = y.shape(0);
  if (y.shape(1) != n || C.shape(0) != k || C.shape(1) != n || seeds.shape(0) != k ||
      (start && (start->shape(0) != k || start->shape(1) != n))) {
    throw nb::value_error("y, C, start and seeds do not fit the trees");
  }
}

inline Looks to_arrays(const std::vector<SvmLook>& looks) {
  std::vector<std::uint32_t> sweeps;
  std::vector<double> primal, gap;
  for (const SvmLook& look : looks) {
    sweeps.push_back(look.n_sweeps);
    primal.push_back(look.primal);
    gap.push_back(look.gap);
  }
  return {to_numpy(std::move(sweeps)), to_numpy(std::move(primal)), to_numpy(std::move(gap))};
}

inline Solutions to_arrays(const std::vector<SvmSolution>& solutions, std::size_t n) {
  std::vector<double> alpha, intercepts, primal, dual, gap;
  std::vector<std::uint32_t> sweeps;
  std::vector<Looks> looks;
  for (const SvmSolution& s : solutions) {
    alpha.insert(alpha.end(), s.alpha.begin(), s.alpha.end());
    intercepts.push_back(s.intercept);
    primal.push_back(s.primal);
    dual.push_back(s.dual);
    gap.push_back(s.gap);
    sweeps.push_back(s.n_sweeps);
    looks.push_back(to_arrays(s.looks));
  }
  return {to_matrix(std::move(alpha), solutions.size(), n),
          to_numpy(std::move(intercepts)),
          to_numpy(std::move(primal)),
          to_numpy(std::move(dual)),
          to_numpy(std::move(gap)),
          to_numpy(std::move(sweeps)),
          std::move(looks)};
}

}  // namespace filbert
