#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "bindings.hpp"
#include "forest/tree_order.hpp"

namespace filbert {

namespace {

using DagPtr = std::shared_ptr<const Dag>;
using Problem =
    std::tuple<std::optional<std::int64_t>, std::string, std::string, std::uint64_t, std::uint64_t>;

// The bytes of a text. UTF-8 cannot encode lone surrogates. They are passed on in a form that the
// parser refuses, so that it reports their position; `kept` keeps that form alive.
std::string_view utf8_of(nb::handle item, nb::object& kept) {
  if (PyUnicode_Check(item.ptr())) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (data != nullptr) return {data, static_cast<std::size_t>(size)};
    PyErr_Clear();
    kept = nb::steal(PyUnicode_AsEncodedString(item.ptr(), "utf-8", "surrogatepass"));
    if (!kept.is_valid()) throw nb::python_error();
    return utf8_of(kept, kept);
  }
  if (PyBytes_Check(item.ptr())) {
    return {PyBytes_AsString(item.ptr()), static_cast<std::size_t>(PyBytes_Size(item.ptr()))};
  }
  throw nb::type_error("a tree is a str or bytes in bracket notation");
}

bool add_text(TreeReader& reader, nb::handle text) {
  nb::object kept;
  return reader.add(utf8_of(text, kept));
}

void add_texts(TreeReader& reader, nb::typed<nb::list, nb::object> texts) {
  for (nb::handle text : texts) {
    add_text(reader, text);
    if (reader.n_texts() % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

void feed(TreeReader& reader, nb::bytes piece) {
  const nb::gil_scoped_release release;
  reader.feed({piece.c_str(), piece.size()});
}

std::tuple<DagPtr, NumpyArray<NodeId>, std::vector<Problem>> finish_reading(TreeReader& reader) {
  TreeReader::Result read = reader.finish();
  std::vector<Problem> problems;
  for (const ParseProblem& p : read.problems) {
    const auto sample = p.sample < 0 ? std::nullopt : std::optional(p.sample);
    problems.emplace_back(sample, p.reason, p.hint, p.line, p.column);
  }
  return {std::move(read.dag), to_numpy(std::move(read.roots)), std::move(problems)};
}

LabelledLines tsv_lines(std::int64_t label, std::int64_t tree, std::uint64_t n_columns,
                        std::size_t piece_bytes, bool bare_words, bool number_labels) {
  return {TsvFormat{label, tree, n_columns, number_labels}, piece_bytes, bare_words};
}

LabelledLines svmlight_tk_lines(std::size_t piece_bytes) {
  return {SvmlightTkFormat{}, piece_bytes};
}

bool add_lines(LabelledLines& lines, nb::bytes text, int n_threads) {
  const std::string_view all(text.c_str(), text.size());
  const Watch watch = watch_from_python(nb::none());
  const nb::gil_scoped_release release;
  return lines.add(all, n_threads, watch);
}

using FeatureArrays =
    std::tuple<NumpyArray<std::int64_t>, NumpyArray<std::int32_t>, NumpyArray<double>>;

std::tuple<DagPtr, NumpyArray<NodeId>, std::vector<nb::bytes>, NumpyArray<std::uint32_t>,
           FeatureArrays>
finish_lines(LabelledLines& lines) {
  LabelledLines::Examples read = lines.finish();
  std::vector<nb::bytes> labels;
  for (LabelId label = 0; label < read.labels.size(); ++label) {
    const std::string_view text = read.labels.text(label);
    labels.emplace_back(text.data(), text.size());
  }
  FeatureRows& features = read.features;
  return {
      read.trees.finish(), to_numpy(std::move(read.roots)), std::move(labels),
      to_numpy(std::move(read.label_of)),
      FeatureArrays(to_numpy(std::move(features.row_begin)), to_numpy(std::move(features.columns)),
                    to_numpy(std::move(features.values)))};
}

template <class T>
NumpyArray<T> at_roots(const Dag& dag, const Array<NodeId>& roots, const std::vector<T>& values) {
  std::vector<T> picked;
  for (const NodeId root : checked_roots(dag, roots)) picked.push_back(values[root]);
  return to_numpy(std::move(picked));
}

using FlatArrays =
    std::tuple<NumpyArray<std::uint8_t>, NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>,
               NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>>;

FlatArrays flat_arrays(const Dag& dag) {
  DagArrays arrays = to_arrays(dag);
  return {to_numpy(std::move(arrays.label_bytes)), to_numpy(std::move(arrays.label_ends)),
          to_numpy(std::move(arrays.node_labels)), to_numpy(std::move(arrays.child_ends)),
          to_numpy(std::move(arrays.children))};
}

std::tuple<DagPtr, NumpyArray<NodeId>> dag_from_arrays(const Array<std::uint8_t>& label_bytes,
                                                       const Array<std::uint64_t>& label_ends,
                                                       const Array<std::uint32_t>& node_labels,
                                                       const Array<std::uint64_t>& child_ends,
                                                       const Array<std::uint32_t>& children,
                                                       const Array<NodeId>& roots) {
  const std::span<const NodeId> given = view(roots);
  std::vector<NodeId> renumbered(given.begin(), given.end());
  const std::string_view bytes(reinterpret_cast<const char*>(label_bytes.data()),
                               label_bytes.shape(0));
  DagPtr dag = from_arrays(
      {bytes, view(label_ends), view(node_labels), view(child_ends), view(children)}, renumbered);
  return {dag, to_numpy(std::move(renumbered))};
}

NodeId checked(const Dag& dag, NodeId u) {
  if (u >= dag.size()) throw nb::index_error("no such node in this forest");
  return u;
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Dag>(m, "Dag")
      .def_prop_ro("size", &Dag::size)
      .def_prop_ro("n_edges", &Dag::n_edges)
      .def_prop_ro("n_labels", [](const Dag& dag) { return dag.labels().size(); })
      .def_prop_ro("memory", &Dag::memory)
      .def("label",
           [](const Dag& dag, NodeId u) { return dag.labels().text(dag.label(checked(dag, u))); })
      .def("children",
           [](const Dag& dag, NodeId u) {
             const auto own = dag.children(checked(dag, u));
             return to_numpy(std::vector<NodeId>(own.begin(), own.end()));
           })
      .def("brackets",
           [](const Dag& dag, NodeId u, std::int64_t limit) {
             checked(dag, u);
             return to_brackets(dag, u, limit < 0 ? std::string::npos : static_cast<size_t>(limit));
           })
      .def("sizes",
           [](const Dag& dag, const Array<NodeId>& r) { return at_roots(dag, r, dag.sizes()); })
      .def("depths",
           [](const Dag& dag, const Array<NodeId>& r) { return at_roots(dag, r, dag.depths()); })
      .def("count_reachable",
           [](const Dag& dag, const Array<NodeId>& roots) {
             return reachable(dag, checked_roots(dag, roots)).size();
           })
      .def("extract",
           [](const Dag& dag, const Array<NodeId>& roots) {
             std::vector<NodeId> renumbered = checked_roots(dag, roots);
             DagPtr part = extract(dag, renumbered);
             return std::make_tuple(part, to_numpy(std::move(renumbered)));
           })
      .def("is_in_order",
           [](const Dag& dag, const Array<NodeId>& roots) {
             return is_in_order(dag, checked_roots(dag, roots));
           })
      .def("extract_in_order",
           [](const Dag& dag, const Array<NodeId>& roots) {
             std::vector<NodeId> renumbered = checked_roots(dag, roots);
             DagPtr part = extract_in_order(dag, renumbered);
             return std::make_tuple(part, to_numpy(std::move(renumbered)));
           })
      .def("find_in",
           // The nodes of another forest that are the same trees as these roots; 2^32 - 1 if there
           // is no such node.
           [](const Dag& dag, const Array<NodeId>& roots, const Dag& other) {
             return to_numpy(find_roots(dag, checked_roots(dag, roots), other));
           })
      .def("to_arrays", &flat_arrays);

  m.def("merge",
        [](const Dag& a, const Array<NodeId>& roots_a, const Dag& b, const Array<NodeId>& roots_b) {
          std::vector<NodeId> ra = checked_roots(a, roots_a);
          std::vector<NodeId> rb = checked_roots(b, roots_b);
          DagPtr both = merge(a, ra, b, rb);
          return std::make_tuple(both, to_numpy(std::move(ra)), to_numpy(std::move(rb)));
        });
  m.def("from_arrays", &dag_from_arrays);

  nb::class_<LabelledLines>(m, "LabelledLines")
      .def_static("tsv", &tsv_lines, nb::arg("label"), nb::arg("tree"), nb::arg("n_columns"),
                  nb::arg("piece_bytes"), nb::arg("bare_words"), nb::arg("number_labels"))
      .def_static("svmlight_tk", &svmlight_tk_lines, nb::arg("piece_bytes"))
      .def("add", &add_lines, nb::arg("text"), nb::arg("n_threads"))
      .def("finish", &finish_lines);

  nb::class_<TreeReader>(m, "TreeReader")
      .def(nb::init<bool, bool, const Dag*>(), nb::arg("skip_errors") = false,
           nb::arg("bare_words") = false, nb::arg("start") = nb::none())
      .def("add_text", &add_text)
      .def("add_texts", &add_texts)
      .def("feed", &feed)
      .def("finish", &finish_reading);
}

}  // namespace filbert
