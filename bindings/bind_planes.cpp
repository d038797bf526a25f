#include <nanobind/stl/unique_ptr.h>

#include "bindings.hpp"

namespace filbert {

namespace {

void make_trees(TrainingTrees* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                const Array<NodeId>& roots, bool normalize, int n_threads, nb::object progress) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) TrainingTrees(spec, std::move(dag), std::move(ids), normalize, n_threads, watch);
}

void check_below(std::span<const std::uint32_t> numbers, std::size_t n, const char* what) {
  for (const std::uint32_t number : numbers) {
    if (number >= n) throw nb::index_error(what);
  }
}

NumpyArray<double> plane_scores(PlaneStore& planes, const Array<std::uint32_t>& sample,
                                const Array<double>& alpha, int n_threads, nb::object progress) {
  check_below(view(sample), planes.trees().size(), "no such tree");
  if (alpha.shape(0) != planes.size()) throw nb::value_error("alpha: one number for each plane");
  const Watch watch = watch_from_python(std::move(progress));
  auto values =
      without_gil([&] { return planes.scores(view(sample), view(alpha), n_threads, watch); });
  return to_numpy(std::move(values));
}

NumpyArray<double> add(PlaneStore& planes, const Array<std::uint32_t>& places,
                       const Array<double>& weights, int n_threads, nb::object progress) {
  check_below(view(places), planes.n_sampled(), "no such place in the sample");
  if (weights.shape(0) != places.shape(0)) throw nb::value_error("one weight for each place");
  const Watch watch = watch_from_python(std::move(progress));
  auto products =
      without_gil([&] { return planes.add(view(places), view(weights), n_threads, watch); });
  return to_numpy(std::move(products));
}

void restore(PlaneStore& planes, const Array<std::uint32_t>& examples,
             const Array<double>& weights) {
  check_below(view(examples), planes.trees().size(), "no such tree");
  if (weights.shape(0) != examples.shape(0)) throw nb::value_error("one weight for each example");
  const nb::gil_scoped_release release;
  planes.restore(view(examples), view(weights));
}

void keep(PlaneStore& planes, const Array<std::uint32_t>& kept) {
  check_below(view(kept), planes.size(), "no such plane");
  const nb::gil_scoped_release release;
  planes.keep(view(kept));
}

}  // namespace

void bind_planes(nb::module_& m) {
  nb::enum_<PlaneStorage>(m, "PlaneStorage")
      .value("lists", PlaneStorage::lists)
      .value("dags", PlaneStorage::dags)
      .value("one_dag", PlaneStorage::one_dag);

  nb::class_<TrainingTrees>(m, "TrainingTrees")
      .def("__init__", &make_trees, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none())
      .def_prop_ro("largest_self", &TrainingTrees::largest_self);

  nb::class_<PlaneStore>(m, "PlaneStore")
      .def(nb::new_([](PlaneStorage storage, std::shared_ptr<const TrainingTrees> trees) {
             return make_plane_store(storage, std::move(trees));
           }),
           nb::arg("storage"), nb::arg("trees"))
      .def_prop_ro("size", &PlaneStore::size)
      .def_prop_ro("n_nodes", &PlaneStore::n_nodes)
      .def_prop_ro("delta_calls", [](const PlaneStore& p) { return p.counts().calls; })
      .def_prop_ro("delta_computed", [](const PlaneStore& p) { return p.counts().computed; })
      .def("scores", &plane_scores, nb::arg("sample"), nb::arg("alpha"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("add", &add, nb::arg("places"), nb::arg("weights"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("restore", &restore, nb::arg("examples"), nb::arg("weights"))
      .def("keep", &keep, nb::arg("planes"));
}

}  // namespace filbert
