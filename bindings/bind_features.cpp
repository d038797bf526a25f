#include <stdexcept>
#include <utility>

#include "bindings.hpp"
#include "features/common_fragments.hpp"
#include "features/match_columns.hpp"
#include "features/new_rows.hpp"
#include "features/stored_factors.hpp"
#include "stored_factors.hpp"

namespace filbert {

namespace {

template <class T>
NumpyArray<T> copied(std::span<const T> values) {
  return to_numpy(std::vector<T>(values.begin(), values.end()));
}

template <class T, class Given>
NumpyArray<T> owned(LargeArray<Given> values) {
  static_assert(sizeof(T) == sizeof(Given));
  auto* kept = new LargeArray<Given>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<LargeArray<Given>*>(p); });
  return NumpyArray<T>(reinterpret_cast<T*>(kept->data()), {kept->size()}, owner);
}

// The first entries of rows, the columns and the values.
using StoredRowArrays =
    std::tuple<NumpyArray<std::uint64_t>, NumpyArray<std::int32_t>, NumpyArray<double>>;

StoredRowArrays as_arrays(KernelFeatures rows) {
  return {to_numpy(std::move(rows.begin)), owned<std::int32_t>(std::move(rows.columns)),
          owned<double>(std::move(rows.values))};
}

StoredRowArrays rows_of(const SumFactors& factors, bool own_columns, std::uint64_t max_bytes,
                        int n_threads, nb::object progress) {
  const Watch watch = watch_from_python(std::move(progress));
  return as_arrays(without_gil(
      [&] { return feature_rows(factors, {own_columns, max_bytes}, n_threads, watch); }));
}

// The rows, and the errors of the new and of the known examples.
std::tuple<StoredRowArrays, NumpyArray<double>, NumpyArray<double>> new_rows_of(
    const SumFactors& known, const SumFactors& joint, bool own_columns, std::uint64_t max_bytes,
    int n_threads, nb::object progress) {
  const Watch watch = watch_from_python(std::move(progress));
  NewRows found = without_gil(
      [&] { return new_rows(known, joint, {own_columns, max_bytes}, n_threads, watch); });
  return {as_arrays(std::move(found.rows)), to_numpy(std::move(found.new_errors)),
          to_numpy(std::move(found.known_errors))};
}

void make_stored(StoredFactors* self, const Array<std::uint64_t>& begin,
                 const Array<std::uint32_t>& columns, const Array<std::uint64_t>& value_begin,
                 const Array<double>& values, const Array<double>& mass, const Array<double>& scale,
                 const Array<double>& diagonal, const Array<double>& own,
                 const Array<double>& lost) {
  const FactorArrays arrays{view(begin),    view(columns), view(value_begin),
                            view(values),   view(mass),    view(scale),
                            view(diagonal), view(own),     view(lost)};
  new (self) StoredFactors{std::make_shared<const TreeFactors>(factors_from(arrays))};
}

StoredFactors without_multiples_of(const StoredFactors& stored, int n_threads,
                                   nb::object progress) {
  const Watch watch = watch_from_python(std::move(progress));
  return without_gil([&] {
    if (stored.factors->values.empty()) return stored;  // counts tell multiples apart
    return StoredFactors{
        std::make_shared<const TreeFactors>(without_multiples(*stored.factors, n_threads, watch))};
  });
}

// The fragments' forest, roots and open nodes.
std::tuple<std::shared_ptr<const Dag>, NumpyArray<NodeId>, NumpyArray<std::uint8_t>> fragments_of(
    const KernelOperator& trees, const StoredFactors& known, const Array<std::uint32_t>& columns,
    bool whole_productions, int n_threads, nb::object progress) {
  const Watch watch = watch_from_python(std::move(progress));
  CommonFragments found = without_gil([&] {
    return common_fragments(trees, *known.factors, view(columns), whole_productions, n_threads,
                            watch);
  });
  return {std::move(found.dag), to_numpy(std::move(found.roots)), to_numpy(std::move(found.open))};
}

// In the order of the constructor's arguments.
using StoredArrays =
    std::tuple<NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>, NumpyArray<std::uint64_t>,
               NumpyArray<double>, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>,
               NumpyArray<double>, NumpyArray<double>>;

StoredArrays stored_arrays(const StoredFactors& stored) {
  const FactorArrays a = factor_arrays(*stored.factors);
  return {copied(a.begin),    copied(a.columns), copied(a.value_begin),
          copied(a.values),   copied(a.mass),    copied(a.scale),
          copied(a.diagonal), copied(a.self),    copied(a.lost)};
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<StoredFactors>(m, "StoredFactors")
      .def("__init__", &make_stored, nb::arg("begin"), nb::arg("columns"), nb::arg("value_begin"),
           nb::arg("values"), nb::arg("mass"), nb::arg("scale"), nb::arg("diagonal"),
           nb::arg("own"), nb::arg("lost"))
      .def_prop_ro("n_trees", [](const StoredFactors& s) { return s.factors->n_trees(); })
      .def_prop_ro("n_columns", [](const StoredFactors& s) { return s.factors->mass.size(); })
      .def("without_multiples", &without_multiples_of, nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("arrays", &stored_arrays);
  m.def("common_fragments", &fragments_of, nb::arg("trees"), nb::arg("known"), nb::arg("columns"),
        nb::arg("whole_productions"), nb::arg("n_threads"), nb::arg("progress").none());
  m.def("feature_rows", &rows_of, nb::arg("factors"), nb::arg("own_columns"), nb::arg("max_bytes"),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("new_feature_rows", &new_rows_of, nb::arg("known"), nb::arg("joint"),
        nb::arg("own_columns"), nb::arg("max_bytes"), nb::arg("n_threads"),
        nb::arg("progress").none());
}

}  // namespace filbert
