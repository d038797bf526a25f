#include "bindings.hpp"
#include "scoring/operator.hpp"
#include "scoring/scores_between.hpp"

namespace filbert {

namespace {

void make_operator(KernelOperator* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                   const Array<NodeId>& roots, bool normalize, double budget,
                   std::uint64_t max_bytes, double max_work, bool keep_nodes, std::size_t n_first,
                   int n_threads, nb::object progress, double kernel_tol,
                   const std::optional<Array<double>>& row_weights) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  const std::span<const double> rows = row_weights ? view(*row_weights) : std::span<const double>();
  if (row_weights && rows.size() != ids.size()) throw nb::value_error("one weight for each tree");
  const OperatorOptions options{normalize,  {budget, max_bytes, max_work}, keep_nodes, n_first,
                                kernel_tol, {rows.begin(), rows.end()}};
  const nb::gil_scoped_release release;
  new (self) KernelOperator(spec, std::move(dag), std::move(ids), options, n_threads, watch);
}

std::span<const double> checked_weights(const KernelOperator& k, const MatrixOf<double>& weights) {
  if (weights.shape(0) != k.n_trees()) throw nb::value_error("one row of weights for each tree");
  return {weights.data(), weights.size()};
}

NumpyMatrix operator_scores(const KernelOperator& k, const MatrixOf<double>& weights,
                            int n_threads) {
  const std::span<const double> all = checked_weights(k, weights);
  const std::size_t n_columns = weights.shape(1);
  const Watch watch = watch_from_python(nb::none());
  auto out = without_gil([&] { return k.scores(all, n_columns, n_threads, watch); });
  return to_matrix(std::move(out), k.n_trees(), n_columns);
}

ContributionArrays operator_contributions(const KernelOperator& k, const MatrixOf<double>& weights,
                                          std::size_t first, int n_threads) {
  const std::span<const double> all = checked_weights(k, weights);
  const std::size_t n_columns = weights.shape(1);
  if (first > k.n_trees()) throw nb::index_error("there are not so many trees");
  const Watch watch = watch_from_python(nb::none());
  auto out = without_gil([&] { return k.contributions(all, n_columns, first, n_threads, watch); });
  return contribution_arrays(std::move(out), n_columns);
}

NumpyMatrix symbol_forms(const KernelOperator& k, const MatrixOf<double>& weights,
                         const Array<std::uint32_t>& symbol_of, std::size_t n_symbols,
                         int n_threads) {
  const std::span<const double> all = checked_weights(k, weights);
  const std::size_t n_columns = weights.shape(1);
  const Watch watch = watch_from_python(nb::none());
  auto out = without_gil([&] {
    return k.symbol_forms(all, n_columns, {symbol_of.data(), symbol_of.size()}, n_symbols,
                          n_threads, watch);
  });
  return to_matrix(std::move(out), n_symbols, n_columns);
}

NumpyMatrix scores_of_others(const KernelSpec& spec, const Dag& dag, const Array<NodeId>& roots,
                             const MatrixOf<double>& weights, double max_work, int n_threads) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const std::size_t n_first = weights.shape(0), n_columns = weights.shape(1);
  if (n_first > ids.size()) throw nb::index_error("there are not so many trees");
  if (n_columns == 0) throw nb::value_error("at least one column of weights");
  const FactorLimits limits{.max_work = max_work};
  const Watch watch = watch_from_python(nb::none());
  auto out = without_gil([&] {
    return scores_between(spec, dag, ids, {weights.data(), weights.size()}, n_columns, limits,
                          n_threads, watch);
  });
  return to_matrix(std::move(out), ids.size() - n_first, n_columns);
}

}  // namespace

void bind_engine(nb::module_& m) {
  m.def("scores_between", &scores_of_others, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("weights"), nb::arg("max_work"), nb::arg("n_threads"));
  nb::class_<KernelOperator>(m, "KernelOperator")
      .def("__init__", &make_operator, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("normalize"), nb::arg("budget"), nb::arg("max_bytes"), nb::arg("max_work"),
           nb::arg("keep_nodes"), nb::arg("n_first"), nb::arg("n_threads"),
           nb::arg("progress").none(), nb::arg("kernel_tol") = 0.0,
           nb::arg("row_weights").none() = nb::none())
      .def_prop_ro(
          "kernel_errors", [](const KernelOperator& k) { return to_numpy(k.trees().lost); },
          nb::rv_policy::move)
      .def_prop_ro(
          "kernel_error_rows",
          [](const KernelOperator& k) { return to_numpy(k.trees().lost_rows); },
          nb::rv_policy::move)
      .def_prop_ro("errors_have_sign", [](const KernelOperator& k) { return k.trees().only_lacks; })
      .def_ro("theta", &KernelOperator::theta)
      .def_prop_ro("n_trees", &KernelOperator::n_trees)
      .def_prop_ro("n_columns", [](const KernelOperator& k) { return k.trees().mass.size(); })
      .def_prop_ro("n_entries", [](const KernelOperator& k) { return k.trees().columns.size(); })
      .def_ro("n_features", &KernelOperator::n_features)
      .def_ro("n_node_entries", &KernelOperator::n_node_entries)
      .def_ro("n_rounds", &KernelOperator::n_rounds)
      .def_ro("n_blocks_by_pairs", &KernelOperator::n_blocks_by_pairs)
      .def_ro("peak_bytes", &KernelOperator::peak_bytes)
      .def_ro("cpu_factorizing", &KernelOperator::cpu_factorizing)
      .def_ro("cpu_assembling", &KernelOperator::cpu_assembling)
      .def("scores", &operator_scores, nb::arg("weights"), nb::arg("n_threads"))
      .def("contributions", &operator_contributions, nb::arg("weights"), nb::arg("first"),
           nb::arg("n_threads"))
      .def("symbol_forms", &symbol_forms, nb::arg("weights"), nb::arg("symbol_of"),
           nb::arg("n_symbols"), nb::arg("n_threads"));
}

}  // namespace filbert
