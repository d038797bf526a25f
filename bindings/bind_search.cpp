#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "search/searcher.hpp"

namespace filbert {

namespace {

using ArrayDict = nb::typed<nb::dict, nb::str, nb::any>;

template <class Spec>
ArrayDict build(const Spec& spec, const Dag& dag, const Array<NodeId>& roots, int n_threads,
                nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  SegmentArrays arrays =
      without_gil([&] { return build_segment(spec, {dag, ids}, n_threads, watch); });
  ArrayDict out;
  visit_arrays(arrays, arrays,
               [&](const char* name, auto& list, auto&) { out[name] = to_numpy(std::move(list)); });
  return out;
}

template <class T>
Array<T> taken(const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) throw InvalidForest(std::string("the index has no ") + name);
  try {
    return nb::cast<Array<T>>(arrays[name], false);
  } catch (const nb::cast_error&) {
    throw InvalidForest(std::string("the index's ") + name + " have another type");
  }
}

// A segment whose arrays belong to Python, perhaps in a mapped file.
class PythonSegment {
 public:
  template <class Spec>
  PythonSegment(const Spec& spec, ArrayDict arrays, bool normalize) : arrays_(arrays) {
    Segment segment;
    visit_arrays(segment, segment, [&]<class T>(const char* name, std::span<const T>& list, auto&) {
      list = view(taken<T>(arrays_, name));
    });
    searcher_ = std::make_unique<SegmentSearcher>(indexed(spec), segment, normalize);
  }

  SegmentSearcher& searcher() { return *searcher_; }
  std::size_t n_trees() const { return searcher_->segment().n_trees(); }

 private:
  nb::dict arrays_;  // keeps the arrays alive
  std::unique_ptr<SegmentSearcher> searcher_;
};

std::tuple<NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>, NumpyArray<double>, std::uint64_t>
search(PythonSegment& segment, const Dag& dag, const Array<NodeId>& roots, std::size_t n_neighbors,
       double least, const Array<std::uint8_t>& removed, const Array<std::uint32_t>& excluded,
       int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  if (excluded.shape(0) != 0 && excluded.shape(0) != ids.size()) {
    throw nb::value_error("there must be one excluded position for each query");
  }
  const SearchTask task{n_neighbors, least, view(removed), view(excluded)};
  const Watch watch = watch_from_python(std::move(progress));
  SearchResults found =
      without_gil([&] { return segment.searcher().search({dag, ids}, task, n_threads, watch); });
  return {to_numpy(std::move(found.ends)), to_numpy(std::move(found.positions)),
          to_numpy(std::move(found.values)), found.n_evaluated};
}

std::tuple<std::shared_ptr<const Dag>, NumpyArray<NodeId>> trees_of(
    PythonSegment& segment, const Array<std::uint32_t>& trees) {
  std::vector<NodeId> roots;
  std::shared_ptr<const Dag> dag = forest_of(segment.searcher().segment(), view(trees), roots);
  return {dag, to_numpy(std::move(roots))};
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("build_segment", &build<KernelSpec>, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("build_segment", &build<PatternSpec>, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("n_threads"), nb::arg("progress").none());
  nb::class_<PythonSegment>(m, "SegmentSearcher")
      .def(nb::init<const KernelSpec&, ArrayDict, bool>(), nb::arg("spec"), nb::arg("arrays"),
           nb::arg("normalize"))
      .def(nb::init<const PatternSpec&, ArrayDict, bool>(), nb::arg("spec"), nb::arg("arrays"),
           nb::arg("normalize"))
      .def_prop_ro("n_trees", &PythonSegment::n_trees)
      .def("search", &search, nb::arg("dag"), nb::arg("roots"), nb::arg("n_neighbors"),
           nb::arg("least"), nb::arg("removed"), nb::arg("excluded"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("trees", &trees_of, nb::arg("trees"));
}

}  // namespace filbert
