#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <bit>

#include "learn/svm/train.hpp"
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

constexpr std::size_t kNumbers = 5;  // of a place

NumpyNumbers places_of(const std::vector<SvmSolution>& solutions) {
  auto* numbers = new std::vector<std::uint64_t>;
  nb::capsule owner(numbers,
                    [](void* p) noexcept { delete static_cast<std::vector<std::uint64_t>*>(p); });
  for (const SvmSolution& solution : solutions) {
    const SvmPlace& place = solution.place;
    for (const std::uint64_t number :
         {place.rng, std::uint64_t{place.n_sweeps}, std::uint64_t{place.n_sweeps_before},
          std::bit_cast<std::uint64_t>(place.gap_before), std::uint64_t{place.is_slow}}) {
      numbers->push_back(number);
    }
  }
  return NumpyNumbers(numbers->data(), {solutions.size(), kNumbers}, owner);
}

NumpyArray<double> gaps_of(const SvmProblemArrays& arrays, const MatrixOf<double>& alpha,
                           const MatrixOf<double>& scores, const Array<double>& errors,
                           const Array<double>& rows, bool have_sign) {
  const SvmProblems& problems = arrays.problems;
  const std::size_t n = problems.n_examples, k = problems.size();
  if (alpha.shape(0) != k || alpha.shape(1) != n || scores.shape(0) != n || scores.shape(1) != k ||
      errors.size() != n || (rows.size() != 0 && rows.size() != n)) {
    throw nb::value_error("alpha, scores and errors do not fit the problems");
  }
  return to_numpy(certified_gaps(problems, {alpha.data(), alpha.size()},
                                 {scores.data(), scores.size()},
                                 {view(errors), view(rows), have_sign}));
}

}  // namespace

std::vector<SvmPlace> to_places(const MatrixOf<std::uint64_t>& rows) {
  if (rows.shape(1) != kNumbers) throw nb::value_error("these are not places of a solver");
  std::vector<SvmPlace> places;
  for (std::size_t c = 0; c < rows.shape(0); ++c) {
    const std::uint64_t* const row = rows.data() + c * kNumbers;
    places.push_back({row[0], static_cast<std::uint32_t>(row[1]),
                      static_cast<std::uint32_t>(row[2]), std::bit_cast<double>(row[3]),
                      row[4] != 0});
  }
  return places;
}

SvmSolutionArrays::SvmSolutionArrays(const std::vector<SvmSolution>& solutions,
                                     std::size_t n_examples)
    : alpha(alpha_of(solutions, n_examples)),
      intercept(values_of(solutions, &SvmSolution::intercept)),
      primal(values_of(solutions, &SvmSolution::primal)),
      dual(values_of(solutions, &SvmSolution::dual)),
      gap(values_of(solutions, &SvmSolution::gap)),
      n_sweeps(values_of(solutions, &SvmSolution::n_sweeps)),
      places(places_of(solutions)) {
  for (const SvmSolution& solution : solutions) {
    looks.push_back(to_arrays(solution.looks));
    is_paused = is_paused || solution.is_paused;
  }
}

void bind_svm(nb::module_& m) {
  m.def("loss_names", &loss_names);

  nb::class_<SvmProblemArrays>(m, "SvmProblems")
      .def(nb::init<MatrixOf<std::int8_t>, Array<double>, const std::string&, double, bool, double,
                    Array<std::uint64_t>, std::uint32_t, std::optional<MatrixOf<double>>,
                    std::optional<MatrixOf<double>>, std::optional<MatrixOf<std::uint64_t>>,
                    std::uint32_t>(),
           nb::kw_only(), nb::arg("y"), nb::arg("C"), nb::arg("loss"), nb::arg("epsilon") = 0.0,
           nb::arg("intercept"), nb::arg("tol"), nb::arg("seeds"), nb::arg("max_sweeps"),
           nb::arg("targets").none() = nb::none(), nb::arg("start").none() = nb::none(),
           nb::arg("places").none() = nb::none(), nb::arg("pause") = SvmProblem::kNoPause);

  m.def("certified_gaps", &gaps_of, nb::arg("problems"), nb::arg("alpha"), nb::arg("scores"),
        nb::arg("errors"), nb::arg("rows"), nb::arg("have_sign"));

  constexpr auto kShared = nb::rv_policy::automatic;  // the arrays own their memory
  nb::class_<SvmSolutionArrays>(m, "SvmSolutions")
      .def_ro("alpha", &SvmSolutionArrays::alpha, kShared)
      .def_ro("intercept", &SvmSolutionArrays::intercept, kShared)
      .def_ro("primal", &SvmSolutionArrays::primal, kShared)
      .def_ro("dual", &SvmSolutionArrays::dual, kShared)
      .def_ro("gap", &SvmSolutionArrays::gap, kShared)
      .def_ro("n_sweeps", &SvmSolutionArrays::n_sweeps, kShared)
      .def_ro("looks", &SvmSolutionArrays::looks, kShared)
      .def_ro("places", &SvmSolutionArrays::places, kShared)
      .def_ro("is_paused", &SvmSolutionArrays::is_paused);
}

}  // namespace filbert
