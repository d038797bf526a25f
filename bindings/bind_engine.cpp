#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "engine/factors.hpp"
#include "engine/tree_factors.hpp"
#include "learn/dual_descent.hpp"

namespace filbert {

namespace {

template <class T>
using MatrixOf = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumpyMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

NumpyMatrix to_matrix(std::vector<double> values, std::size_t rows, std::size_t columns) {
  auto* owned = new std::vector<double>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return NumpyMatrix(owned->data(), {rows, columns}, owner);
}

// The factors of a forest's kernel matrix, and some figures of how they came about.
struct FactorizedForest {
  TreeFactors trees;
  std::uint64_t n_features = 0;
  std::uint64_t n_node_entries = 0;
  std::uint32_t n_rounds = 0;
  std::uint64_t n_blocks_by_pairs = 0;
  std::uint64_t peak_bytes = 0;
};

template <class Real>
FactorizedForest factorized(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                            bool normalize, const FactorLimits& limits, int n_threads,
                            const Watch& watch) {
  const Factors<Real> factors = factorize<Real>(spec, dag, limits, n_threads, watch);
  FactorizedForest out;
  out.n_features = factors.mass.size();
  out.n_node_entries = factors.features.size();
  out.n_rounds = factors.n_rounds;
  out.n_blocks_by_pairs = factors.n_blocks_by_pairs;
  const AssemblyOptions options{spec.include_leaves, normalize, limits.max_bytes};
  out.trees = assemble(factors, dag, roots, options, n_threads, watch);
  out.peak_bytes = std::max(factors.peak_bytes, out.trees.peak_bytes);
  return out;
}

FactorizedForest factorize_forest(const KernelSpec& spec, const Dag& dag,
                                  const Array<NodeId>& roots, bool normalize, double budget,
                                  std::uint64_t max_bytes, int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  const FactorLimits limits{budget, max_bytes};
  const nb::gil_scoped_release release;
  if (fits_double(spec, dag)) {
    return factorized<double>(spec, dag, ids, normalize, limits, n_threads, watch);
  }
  return factorized<Wide>(spec, dag, ids, normalize, limits, n_threads, watch);
}

// K @ weights, for several columns of weights.
NumpyMatrix scores(const FactorizedForest& forest, const MatrixOf<double>& weights, int n_threads) {
  const TreeFactors& f = forest.trees;
  if (weights.shape(0) != f.n_trees()) throw nb::value_error("one row of weights for each tree");
  const std::size_t n = f.n_trees();
  const std::size_t k = weights.shape(1);
  std::vector<double> out(n * k);
  {
    const nb::gil_scoped_release release;
    parallel_for(k, n_threads, {}, [&](std::size_t column, int, const StopToken& token) {
      std::vector<double> z(f.mass.size(), 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double weight = weights.data()[i * k + column];
        if (weight != 0.0) f.add(i, weight * f.scale[i], z.data());
      }
      token.check();
      for (std::size_t i = 0; i < n; ++i) {
        const double weight = weights.data()[i * k + column];
        out[i * k + column] = f.scale[i] * f.dot(i, z.data()) + f.diagonal[i] * weight;
      }
    });
  }
  return to_matrix(std::move(out), n, k);
}

using Solutions = std::tuple<NumpyMatrix, NumpyArray<double>, NumpyArray<double>,
                             NumpyArray<double>, NumpyArray<double>, NumpyArray<std::uint32_t>>;

// One problem for each row of y: dual variables, intercepts, primal and dual objectives, gaps,
// epochs.
Solutions train(const FactorizedForest& forest, const MatrixOf<std::int8_t>& y,
                const MatrixOf<double>& C, std::optional<MatrixOf<double>> start,
                bool squared_hinge, bool intercept, double tol, const Array<std::uint64_t>& seeds,
                std::uint32_t max_epochs, int n_threads, nb::object progress) {
  const std::size_t n = forest.trees.n_trees();
  const std::size_t k = y.shape(0);
  const int n_threads_each = std::max(1, n_threads / std::max(1, static_cast<int>(k)));
  if (y.shape(1) != n || C.shape(0) != k || C.shape(1) != n || seeds.shape(0) != k ||
      (start && (start->shape(0) != k || start->shape(1) != n))) {
    throw nb::value_error("y, C, start and seeds do not fit the trees");
  }
  std::vector<double> alpha(k * n), intercepts(k), primal(k), dual(k), gap(k);
  std::vector<std::uint32_t> epochs(k);
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
                               max_epochs,
                               n_threads_each};
      std::span<const double> from;
      if (start) from = {start->data() + c * n, n};
      const SvmSolution solution = train_svm(forest.trees, problem, from, done[c], token);
      std::copy(solution.alpha.begin(), solution.alpha.end(), alpha.begin() + c * n);
      intercepts[c] = solution.intercept;
      primal[c] = solution.primal;
      dual[c] = solution.dual;
      gap[c] = solution.gap;
      epochs[c] = solution.n_epochs;
    });
  }
  return {to_matrix(std::move(alpha), k, n), to_numpy(std::move(intercepts)),
          to_numpy(std::move(primal)),       to_numpy(std::move(dual)),
          to_numpy(std::move(gap)),          to_numpy(std::move(epochs))};
}

}  // namespace

void bind_engine(nb::module_& m) {
  nb::class_<FactorizedForest>(m, "FactorizedForest")
      .def_prop_ro("n_trees", [](const FactorizedForest& f) { return f.trees.n_trees(); })
      .def_prop_ro("n_columns", [](const FactorizedForest& f) { return f.trees.mass.size(); })
      .def_prop_ro("n_entries", [](const FactorizedForest& f) { return f.trees.columns.size(); })
      .def_ro("n_features", &FactorizedForest::n_features)
      .def_ro("n_node_entries", &FactorizedForest::n_node_entries)
      .def_ro("n_rounds", &FactorizedForest::n_rounds)
      .def_ro("n_blocks_by_pairs", &FactorizedForest::n_blocks_by_pairs)
      .def_ro("peak_bytes", &FactorizedForest::peak_bytes)
      .def("scores", &scores, nb::arg("weights"), nb::arg("n_threads"))
      .def("train", &train, nb::arg("y"), nb::arg("C"), nb::arg("start").none(),
           nb::arg("squared_hinge"), nb::arg("intercept"), nb::arg("tol"), nb::arg("seeds"),
           nb::arg("max_epochs"), nb::arg("n_threads"), nb::arg("progress").none());

  m.def("factorize", &factorize_forest, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("normalize"), nb::arg("budget"), nb::arg("max_bytes"), nb::arg("n_threads"),
        nb::arg("progress").none());
}

}  // namespace filbert
