#include "bindings.hpp"

namespace filbert {

namespace {

void make_row_scorer(RowScorer* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                     const Array<NodeId>& roots, const MatrixOf<double>& coef, bool normalize,
                     int n_threads, nb::object progress) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  if (coef.shape(1) != ids.size()) throw nb::value_error("one coefficient for each tree");
  std::vector<double> weights(coef.data(), coef.data() + coef.shape(0) * coef.shape(1));
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) RowScorer(spec, std::move(dag), std::move(ids), std::move(weights), coef.shape(0),
                       normalize, n_threads, watch);
}

NumpyMatrix row_scores(const RowScorer& scorer, const Dag& dag, const Array<NodeId>& roots,
                       int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto values = without_gil([&] { return scorer.scores({dag, ids}, n_threads, watch); });
  return to_matrix(std::move(values), ids.size(), scorer.n_columns());
}

ContributionArrays row_contributions(const RowScorer& scorer, const Dag& dag,
                                     const Array<NodeId>& roots, int n_threads,
                                     nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto found = without_gil([&] { return scorer.contributions({dag, ids}, n_threads, watch); });
  return contribution_arrays(std::move(found), scorer.n_columns());
}

}  // namespace

void bind_scorer(nb::module_& m) {
  nb::class_<RowScorer>(m, "RowScorer")
      .def("__init__", &make_row_scorer, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("coef"), nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none())
      .def("scores", &row_scores, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("contributions", &row_contributions, nb::arg("dag"), nb::arg("roots"),
           nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace filbert
