#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "svm_problems.hpp"

namespace filbert {

namespace {

// One value of each solution.
template <class T>
NumpyArray<T> values_of(const std::vector<SvmSolution>& solutions, T SvmSolution::* value) {
  std::vector<T> values;
  for (const SvmSolution& solution : solutions) values.push_back(solution.*value);
  return to_numpy(std::move(values));
}

NumpyMatrix alpha_of(const std::vector<SvmSolution>& solutions, std::size_t n_examples) {
  std::vector<double> alpha;
  for (const SvmSolution& s : solutions) alpha.insert(alpha.end(), s.alpha.begin(), s.alpha.end());
  return to_matrix(std::move(alpha), solutions.size(), n_examples);
}

Looks to_arrays(const std::vector<SvmLook>& looks) {
  std::vector<std::uint32_t> sweeps;
  std::vector<double> primal, gap;
  for (const SvmLook& look : looks) {
    sweeps.push_back(look.n_sweeps);
    primal.push_back(look.primal);
    gap.push_back(look.gap);
  }
  return {to_numpy(std::move(sweeps)), to_numpy(std::move(primal)), to_numpy(std::move(gap))};
}

}  // namespace

SvmSolutionArrays::SvmSolutionArrays(const std::vector<SvmSolution>& solutions,
                                     std::size_t n_examples)
    : alpha(alpha_of(solutions, n_examples)),
      intercept(values_of(solutions, &SvmSolution::intercept)),
      primal(values_of(solutions, &SvmSolution::primal)),
      dual(values_of(solutions, &SvmSolution::dual)),
      gap(values_of(solutions, &SvmSolution::gap)),
      n_sweeps(values_of(solutions, &SvmSolution::n_sweeps)) {
  for (const SvmSolution& solution : solutions) looks.push_back(to_arrays(solution.looks));
}

void bind_svm(nb::module_& m) {
  m.def("loss_names", &loss_names);

  nb::class_<SvmProblemArrays>(m, "SvmProblems")
      .def(nb::init<MatrixOf<std::int8_t>, Array<double>, const std::string&, bool, double,
                    Array<std::uint64_t>, std::uint32_t, std::optional<MatrixOf<double>>>(),
           nb::kw_only(), nb::arg("y"), nb::arg("C"), nb::arg("loss"), nb::arg("intercept"),
           nb::arg("tol"), nb::arg("seeds"), nb::arg("max_sweeps"),
           nb::arg("start").none() = nb::none());

  constexpr auto kShared = nb::rv_policy::automatic;  // the arrays own their memory
  nb::class_<SvmSolutionArrays>(m, "SvmSolutions")
      .def_ro("alpha", &SvmSolutionArrays::alpha, kShared)
      .def_ro("intercept", &SvmSolutionArrays::intercept, kShared)
      .def_ro("primal", &SvmSolutionArrays::primal, kShared)
      .def_ro("dual", &SvmSolutionArrays::dual, kShared)
      .def_ro("gap", &SvmSolutionArrays::gap, kShared)
      .def_ro("n_sweeps", &SvmSolutionArrays::n_sweeps, kShared)
      .def_ro("looks", &SvmSolutionArrays::looks, kShared);
}

}  // namespace filbert
