#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "engine/row_scorer.hpp"

namespace filbert {

namespace {

using Coefficients = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

Scores to_rows(std::vector<double> values, std::size_t n_rows, std::size_t n_columns) {
  auto* owned = new std::vector<double>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Scores(owned->data(), {n_rows, n_columns}, owner);
}

void make_scorer(RowScorer* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                 const Array<NodeId>& roots, const Coefficients& coef, bool normalize,
                 int n_threads, nb::object progress) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  if (coef.shape(1) != ids.size()) throw nb::value_error("one coefficient for each tree");
  if (spec.kernel == TreeKernel::partial_tree) {
    throw nb::value_error("rows are for subtrees and subset trees");
  }
  std::vector<double> weights(coef.data(), coef.data() + coef.shape(0) * coef.shape(1));
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) RowScorer(spec, std::move(dag), std::move(ids), std::move(weights), coef.shape(0),
                       normalize, n_threads, watch);
}

Scores scores(const RowScorer& scorer, const Dag& dag, const Array<NodeId>& roots, int n_threads,
              nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  std::vector<double> values;
  {
    const nb::gil_scoped_release release;
    values = scorer.scores({dag, ids}, n_threads, watch);
  }
  return to_rows(std::move(values), ids.size(), scorer.n_columns());
}

using Contributions =
    std::tuple<NumpyArray<std::uint32_t>, NumpyArray<NodeId>, NumpyArray<std::uint32_t>, Scores>;

Contributions contributions(const RowScorer& scorer, const Dag& dag, const Array<NodeId>& roots,
                            int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  NodeContributions found;
  {
    const nb::gil_scoped_release release;
    found = scorer.contributions({dag, ids}, n_threads, watch);
  }
  const std::size_t n = found.nodes.size();
  return {to_numpy(std::move(found.trees)), to_numpy(std::move(found.nodes)),
          to_numpy(std::move(found.counts)),
          to_rows(std::move(found.values), n, scorer.n_columns())};
}

}  // namespace

void bind_scorer(nb::module_& m) {
  nb::class_<RowScorer>(m, "RowScorer")
      .def("__init__", &make_scorer, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("coef"), nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none())
      .def("scores", &scores, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("contributions", &contributions, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none());
}

}  // namespace filbert
