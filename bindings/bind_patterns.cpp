#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.hpp"
#include "patterns/pattern_rows.hpp"
#include "patterns/pattern_table.hpp"
#include "scoring/pattern_scorer.hpp"

namespace filbert {

namespace {

void make_spec(PatternSpec* self, bool labels, std::uint32_t paths, bool productions,
               std::uint32_t subtree_depth, std::uint32_t siblings, std::uint32_t leaves,
               const std::string& damping, double decay, bool family_norms) {
  static const char* const kinds[] = {"log", "sqrt", "none"};
  const auto* const found = std::find(std::begin(kinds), std::end(kinds), damping);
  const auto fits = [](std::uint32_t level) { return level >= 1 && level <= 100; };
  if (found == std::end(kinds) || !fits(paths) || !fits(subtree_depth) || !fits(siblings) ||
      !fits(leaves) || !(decay > 0.0 && decay <= 1.0)) {
    throw nb::value_error("these are not parameters of patterns");
  }
  new (self) PatternSpec{labels,
                         paths,
                         productions,
                         subtree_depth,
                         siblings,
                         leaves,
                         static_cast<Damping>(found - kinds),
                         decay,
                         family_norms};
}

// ------------------------------------------------------------------------------ the table

using RowArrays = std::tuple<NumpyArray<std::int64_t>, NumpyArray<PatternId>, NumpyArray<double>>;

RowArrays row_arrays(PatternRows rows) {
  return {to_numpy(std::move(rows.begin)), to_numpy(std::move(rows.patterns)),
          to_numpy(std::move(rows.values))};
}

RowArrays add_rows(PatternTable& table, const Dag& dag, const Array<NodeId>& roots, bool normalize,
                   int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  return row_arrays(
      without_gil([&] { return pattern_rows(table, {dag, ids}, normalize, n_threads, watch); }));
}

RowArrays known_rows(const PatternTable& table, const Dag& dag, const Array<NodeId>& roots,
                     bool normalize, int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  return row_arrays(without_gil(
      [&] { return known_pattern_rows(table, {dag, ids}, normalize, n_threads, watch); }));
}

NumpyArray<double> counts(const PatternTable& table, const Dag& dag, const Array<NodeId>& roots,
                          int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  return to_numpy(without_gil([&] { return pattern_counts(table, {dag, ids}, n_threads, watch); }));
}

NumpyArray<double> pattern_selves_of(const PatternSpec& spec, const Dag& dag,
                                     const Array<NodeId>& roots, int n_threads,
                                     nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  return to_numpy(without_gil([&] { return pattern_selves(spec, {dag, ids}, n_threads, watch); }));
}

void check_pattern(const PatternTable& table, PatternId p) {
  if (p >= table.size()) throw nb::index_error("no such pattern");
}

std::vector<std::string> texts(const PatternTable& table, const Array<PatternId>& patterns,
                               std::size_t limit) {
  std::vector<std::string> found;
  for (const PatternId p : view(patterns)) {
    check_pattern(table, p);
    found.push_back(table.text(p, limit));
  }
  return found;
}

// Labels, parents, open nodes, and whether siblings are at the start and the end of their row.
using TreeArrays = std::tuple<std::vector<std::string>, std::vector<std::int64_t>,
                              NumpyArray<std::uint8_t>, bool, bool>;

TreeArrays tree_of(const PatternTable& table, PatternId p, std::size_t max_nodes) {
  check_pattern(table, p);
  PatternTree tree = table.tree(p, max_nodes);
  return {std::move(tree.labels), std::move(tree.parents), to_numpy(std::move(tree.open)),
          tree.at_start, tree.at_end};
}

using TableArrays =
    std::tuple<NumpyArray<std::uint8_t>, NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>,
               NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>>;

TableArrays table_arrays(const PatternTable& table) {
  PatternTable::Arrays arrays = table.to_arrays();
  return {to_numpy(std::move(arrays.label_bytes)), to_numpy(std::move(arrays.label_ends)),
          to_numpy(std::move(arrays.kinds)), to_numpy(std::move(arrays.key_ends)),
          to_numpy(std::move(arrays.keys))};
}

PatternTable table_from(const PatternSpec& spec, const Array<std::uint8_t>& label_bytes,
                        const Array<std::uint64_t>& label_ends, const Array<std::uint32_t>& kinds,
                        const Array<std::uint64_t>& key_ends, const Array<std::uint32_t>& keys) {
  const std::string_view bytes(reinterpret_cast<const char*>(label_bytes.data()),
                               label_bytes.shape(0));
  return PatternTable::from_arrays(spec, bytes, view(label_ends), view(kinds), view(key_ends),
                                   view(keys));
}

// ------------------------------------------------------------------------------ scores

void make_pattern_scorer(PatternScorer* self, const PatternSpec& spec, const Dag& dag,
                         const Array<NodeId>& roots, const MatrixOf<double>& coef, bool normalize,
                         int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  if (coef.shape(1) != ids.size()) throw nb::value_error("one coefficient for each tree");
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) PatternScorer(spec, {dag, ids}, {coef.data(), coef.size()}, coef.shape(0), normalize,
                           n_threads, watch);
}

NumpyMatrix pattern_scores(const PatternScorer& scorer, const Dag& dag, const Array<NodeId>& roots,
                           int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto values = without_gil([&] { return scorer.scores({dag, ids}, n_threads, watch); });
  return to_matrix(std::move(values), ids.size(), scorer.n_columns());
}

ContributionArrays pattern_contributions(const PatternScorer& scorer, const Dag& dag,
                                         const Array<NodeId>& roots, int n_threads,
                                         nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto found = without_gil([&] { return scorer.contributions({dag, ids}, n_threads, watch); });
  return contribution_arrays(std::move(found), scorer.n_columns());
}

NumpyArray<double> weight_vector(const PatternScorer& scorer, std::size_t column) {
  if (column >= scorer.n_columns()) throw nb::index_error("no such column");
  return to_numpy(scorer.weight_vector(column));
}

}  // namespace

void bind_patterns(nb::module_& m) {
  nb::class_<PatternSpec>(m, "PatternSpec")
      .def("__init__", &make_spec, nb::kw_only(), nb::arg("labels"), nb::arg("paths"),
           nb::arg("productions"), nb::arg("subtree_depth"), nb::arg("siblings"), nb::arg("leaves"),
           nb::arg("damping"), nb::arg("decay"), nb::arg("family_norms"));

  nb::class_<PatternTable>(m, "PatternTable")
      .def(
          "__init__",
          [](PatternTable* self, const PatternSpec& spec) { new (self) PatternTable(spec); },
          nb::arg("spec"))
      .def_prop_ro("size", &PatternTable::size)
      .def("add_rows", &add_rows, nb::arg("dag"), nb::arg("roots"), nb::arg("normalize"),
           nb::arg("n_threads"), nb::arg("progress").none())
      .def("known_rows", &known_rows, nb::arg("dag"), nb::arg("roots"), nb::arg("normalize"),
           nb::arg("n_threads"), nb::arg("progress").none())
      .def("counts", &counts, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("features", [](const PatternTable& table) { return to_numpy(table.features()); })
      .def("texts", &texts, nb::arg("patterns"), nb::arg("limit"))
      .def("tree", &tree_of, nb::arg("pattern"), nb::arg("max_nodes"))
      .def("to_arrays", &table_arrays)
      .def_static("from_arrays", &table_from, nb::arg("spec"), nb::arg("label_bytes"),
                  nb::arg("label_ends"), nb::arg("kinds"), nb::arg("key_ends"), nb::arg("keys"));

  nb::class_<PatternScorer>(m, "PatternScorer")
      .def("__init__", &make_pattern_scorer, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("coef"), nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none())
      .def("scores", &pattern_scores, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("contributions", &pattern_contributions, nb::arg("dag"), nb::arg("roots"),
           nb::arg("n_threads"), nb::arg("progress").none())
      .def_prop_ro("table", &PatternScorer::table, nb::rv_policy::reference_internal)
      .def("weight_vector", &weight_vector, nb::arg("column"));

  m.def("pattern_selves", &pattern_selves_of, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace filbert
