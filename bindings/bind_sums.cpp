#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "factors/pattern_factors.hpp"
#include "factors/sum_factors.hpp"
#include "factors/vectors/vector_factors.hpp"
#include "learn/svm/train.hpp"
#include "lists.hpp"
#include "scoring/factor_scores.hpp"
#include "scoring/operator.hpp"
#include "stored_factors.hpp"
#include "svm_problems.hpp"

namespace filbert {

namespace {

// The factors of a kernel of vectors, or of local patterns.
struct VectorOperator {
  TreeFactors factors;
};

void make_vectors(VectorOperator* self, const Array<std::int64_t>& begin,
                  const Array<std::int64_t>& features, const Array<double>& values,
                  std::uint32_t degree, double gamma, double coef0, bool normalize,
                  std::uint64_t max_bytes, int n_threads, nb::object progress) {
  if (degree == 0) throw nb::value_error("the degree is not positive");
  const SparseRows rows{view(begin), view(features), view(values)};
  if (!rows.is_well_formed()) {
    throw nb::value_error("the arrays are not those of sparse rows with sorted features");
  }
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) VectorOperator{
      vector_factors(rows, {degree, gamma, coef0, normalize}, max_bytes, n_threads, watch)};
}

VectorOperator of_patterns(const PatternSpec& spec, const Dag& dag, const Array<NodeId>& roots,
                           bool normalize, std::uint64_t max_bytes, int n_threads,
                           nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  return without_gil([&] {
    return VectorOperator{
        pattern_factors(spec, {dag, ids}, normalize, max_bytes, n_threads, watch)};
  });
}

std::shared_ptr<const TreeFactors> factors_of(nb::handle object) {
  if (nb::isinstance<KernelOperator>(object)) {
    const auto trees = nb::cast<std::shared_ptr<KernelOperator>>(object);
    return {trees, &trees->trees()};
  }
  if (nb::isinstance<StoredFactors>(object)) return nb::cast<StoredFactors&>(object).factors;
  const auto vectors = nb::cast<std::shared_ptr<VectorOperator>>(object);
  return {vectors, &vectors->factors};
}

// A term is an operator and a scale for each of its trees.
using Term = std::pair<nb::object, Array<double>>;

void make_sum(SumFactors* self, std::size_t n_examples, const Sequence<Term>& terms) {
  std::vector<SumTerm> checked;
  for (const Term& term : to_vector<Term>(terms)) {
    const std::span<const double> scales = view(term.second);
    checked.push_back({factors_of(term.first), {scales.begin(), scales.end()}});
  }
  new (self) SumFactors(n_examples, std::move(checked));
}

std::vector<StoredFactors> terms_of(const SumFactors& sum) {
  std::vector<StoredFactors> terms;
  for (const SumTerm& term : sum.terms()) terms.push_back({term.factors});
  return terms;
}

NumpyMatrix sum_scores(const SumFactors& sum, const MatrixOf<double>& weights, int n_threads) {
  if (weights.shape(0) != sum.n_trees())
    throw nb::value_error("one row of weights for each example");
  const std::size_t n_columns = weights.shape(1);
  const Watch watch = watch_from_python(nb::none());
  auto out = without_gil([&] {
    return factor_scores(sum, {weights.data(), weights.size()}, n_columns, n_threads, watch);
  });
  return to_matrix(std::move(out), sum.n_trees(), n_columns);
}

SvmSolutionArrays train(const SumFactors& sum, const SvmProblemArrays& problems, int n_threads,
                        nb::object progress) {
  return solve(problems, std::move(progress), [&](const SvmProblems& each, const Watch& watch) {
    return train_on_factors(sum, each, n_threads, watch);
  });
}

using Pairs = PairFactors<SumFactors>;

void make_pairs(Pairs* self, const SumFactors& sum, const Array<std::uint32_t>& first,
                const Array<std::uint32_t>& second, int n_threads, nb::object progress) {
  const auto copy = [](std::span<const std::uint32_t> values) {
    return std::vector<std::uint32_t>(values.begin(), values.end());
  };
  std::vector<std::uint32_t> own_first = copy(view(first)), own_second = copy(view(second));
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) Pairs(sum, std::move(own_first), std::move(own_second), n_threads, watch);
}

SvmSolutionArrays train_pairs(const Pairs& pairs, const SvmProblemArrays& problems, int n_threads,
                              nb::object progress) {
  return solve(problems, std::move(progress), [&](const SvmProblems& each, const Watch& watch) {
    return train_on_pairs(pairs, each, n_threads, watch);
  });
}

}  // namespace

void bind_sums(nb::module_& m) {
  nb::class_<VectorOperator>(m, "VectorOperator")
      .def("__init__", &make_vectors, nb::arg("begin"), nb::arg("features"), nb::arg("values"),
           nb::arg("degree"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("normalize"),
           nb::arg("max_bytes"), nb::arg("n_threads"), nb::arg("progress").none())
      .def_static("of_patterns", &of_patterns, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
                  nb::arg("normalize"), nb::arg("max_bytes"), nb::arg("n_threads"),
                  nb::arg("progress").none())
      .def_prop_ro("n_trees", [](const VectorOperator& v) { return v.factors.n_trees(); })
      .def_prop_ro("n_columns", [](const VectorOperator& v) { return v.factors.mass.size(); })
      .def_prop_ro("n_entries", [](const VectorOperator& v) { return v.factors.columns.size(); })
      .def_prop_ro("peak_bytes", [](const VectorOperator& v) { return v.factors.peak_bytes; });

  nb::class_<SumFactors>(m, "SumFactors")
      .def("__init__", &make_sum, nb::arg("n_examples"), nb::arg("terms"))
      .def_prop_ro(
          "kernel_errors", [](const SumFactors& sum) { return to_numpy(sum.lost); },
          nb::rv_policy::move)
      .def_prop_ro(
          "kernel_error_rows", [](const SumFactors& sum) { return to_numpy(sum.lost_rows); },
          nb::rv_policy::move)
      .def_ro("errors_have_sign", &SumFactors::only_lacks)
      .def_prop_ro("n_trees", &SumFactors::n_trees)
      .def_prop_ro("n_columns", &SumFactors::n_columns)
      .def_prop_ro("n_entries", &SumFactors::n_entries)
      .def_prop_ro("terms", &terms_of)
      .def("scores", &sum_scores, nb::arg("weights"), nb::arg("n_threads"))
      .def("train", &train, nb::arg("problems"), nb::arg("n_threads"), nb::arg("progress").none());

  nb::class_<Pairs>(m, "PairFactors")
      .def("__init__", &make_pairs, nb::arg("factors"), nb::arg("first"), nb::arg("second"),
           nb::arg("n_threads"), nb::arg("progress").none(), nb::keep_alive<1, 2>())
      .def_prop_ro("n_pairs", &Pairs::n_trees)
      .def("train", &train_pairs, nb::arg("problems"), nb::arg("n_threads"),
           nb::arg("progress").none());
}

}  // namespace filbert
