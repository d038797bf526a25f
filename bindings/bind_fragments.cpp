#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "bindings.hpp"
#include "fragments/recurring.hpp"
#include "lists.hpp"

namespace filbert {

namespace {

void make_miner(FragmentMiner* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                const Array<NodeId>& roots, const Array<double>& coef, bool normalize, bool chi2,
                int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(*dag, roots);
  if (coef.shape(0) != ids.size()) throw nb::value_error("one coefficient for each tree");
  const std::vector<double> weights(coef.data(), coef.data() + coef.shape(0));
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) FragmentMiner(spec, std::move(dag), ids, weights, normalize,
                           chi2 ? Criterion::chi2 : Criterion::gradient, n_threads, watch);
}

// The fragments' forest, roots and open nodes; weights, relevances and frequencies; and the best
// relevance that was too small.
using Mined = std::tuple<std::shared_ptr<const Dag>, NumpyArray<NodeId>, NumpyArray<std::uint8_t>,
                         NumpyArray<double>, NumpyArray<double>, NumpyArray<std::uint64_t>, double>;

Mined mine(const FragmentMiner& miner, bool complete, double threshold, std::uint64_t min_frequency,
           std::size_t max_fragments, int n_threads, nb::object progress) {
  const Watch watch = watch_from_python(std::move(progress));
  auto found = without_gil([&] {
    return miner.mine(complete ? Search::complete : Search::greedy, threshold, min_frequency,
                      max_fragments, n_threads, watch);
  });
  return {std::move(found.dag),
          to_numpy(std::move(found.roots)),
          to_numpy(std::move(found.open)),
          to_numpy(std::move(found.weight)),
          to_numpy(std::move(found.relevance)),
          to_numpy(std::move(found.frequency)),
          found.largest_rejected};
}

// A fragment's labels and the numbers of children of its nodes, in preorder.
std::tuple<std::vector<std::string_view>, std::vector<std::uint32_t>> nodes_of(const Dag& dag,
                                                                               NodeId root) {
  if (root >= dag.size()) throw nb::index_error("no such node in this forest");
  FlatFragment fragment;
  to_flat(dag, root, fragment);
  return {label_texts(dag, fragment), std::move(fragment.arity)};
}

std::string bracket_text(const Sequence<nb::str>& of_nodes, const Sequence<std::uint32_t>& children,
                         const Sequence<bool>& open) {
  const auto texts = to_vector<nb::str>(of_nodes);
  std::vector<std::string_view> labels;
  for (const nb::str& text : texts) labels.push_back(nb::cast<std::string_view>(text));
  const auto arity = to_vector<std::uint32_t>(children);
  const auto are_open = to_vector<bool>(open);
  if (labels.size() != arity.size() || labels.size() != are_open.size()) {
    throw nb::value_error("labels, arity and open must be of the same length");
  }
  const std::vector<std::uint8_t> flags(are_open.begin(), are_open.end());
  return fragment_text(labels, arity, flags);
}

using CountArrays =
    std::tuple<NumpyArray<std::int64_t>, NumpyArray<std::int32_t>, NumpyArray<double>>;

CountArrays as_arrays(FragmentRows rows) {
  return {to_numpy(std::move(rows.row_begin)), to_numpy(std::move(rows.fragments)),
          to_numpy(std::move(rows.values))};
}

CountArrays count(const KernelSpec& spec, const Dag& fragments, const Array<NodeId>& fragment_roots,
                  const Dag& dag, const Array<NodeId>& roots, int n_threads, nb::object progress) {
  const std::vector<NodeId> wanted = checked_roots(fragments, fragment_roots);
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto rows = without_gil(
      [&] { return count_fragments(spec, {fragments, wanted}, {dag, ids}, n_threads, watch); });
  return as_arrays(std::move(rows));
}

CountArrays features(const KernelSpec& spec, const Dag& fragments,
                     const Array<NodeId>& fragment_roots, const Dag& dag,
                     const Array<NodeId>& roots, bool normalize, int n_threads,
                     nb::object progress) {
  const std::vector<NodeId> wanted = checked_roots(fragments, fragment_roots);
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto rows = without_gil([&] {
    return fragment_features(spec, {fragments, wanted}, {dag, ids}, normalize, n_threads, watch);
  });
  return as_arrays(std::move(rows));
}

void make_recurring(RecurringMiner* self, std::shared_ptr<const Dag> dag,
                    const Array<NodeId>& roots, bool whole_subtrees, bool leaves,
                    std::uint64_t min_count, std::uint64_t max_count, std::uint64_t min_size,
                    std::uint64_t max_size, std::size_t max_fragments,
                    std::optional<std::string> root) {
  const std::vector<NodeId> ids = checked_roots(*dag, roots);
  const RecurringRules rules{whole_subtrees, leaves,   min_count,     max_count,
                             min_size,       max_size, max_fragments, std::move(root)};
  const nb::gil_scoped_release release;
  new (self) RecurringMiner(std::move(dag), ids, rules);
}

// The fragments' forest, roots and open nodes; their counts and numbers of distinct members.
using Recurring =
    std::tuple<std::shared_ptr<const Dag>, NumpyArray<NodeId>, NumpyArray<std::uint8_t>,
               NumpyArray<std::uint64_t>, NumpyArray<std::uint64_t>>;

Recurring mine_recurring(const RecurringMiner& miner, const Array<std::uint32_t>& blocks,
                         int n_threads, nb::object progress) {
  for (const std::uint32_t block : view(blocks)) {
    if (block >= miner.n_blocks()) throw nb::index_error("no such block");
  }
  const Watch watch = watch_from_python(std::move(progress));
  auto found = without_gil([&] { return miner.mine(view(blocks), n_threads, watch); });
  return {std::move(found.dag), to_numpy(std::move(found.roots)), to_numpy(std::move(found.open)),
          to_numpy(std::move(found.counts)), to_numpy(std::move(found.n_distinct))};
}

}  // namespace

void bind_fragments(nb::module_& m) {
  nb::class_<FragmentMiner>(m, "FragmentMiner")
      .def("__init__", &make_miner, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("coef"), nb::arg("normalize"), nb::arg("chi2"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def("base", &FragmentMiner::base, nb::arg("min_frequency"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("mine", &mine, nb::arg("complete"), nb::arg("threshold"), nb::arg("min_frequency"),
           nb::arg("max_fragments"), nb::arg("n_threads"), nb::arg("progress").none());
  nb::class_<RecurringMiner>(m, "RecurringMiner")
      .def("__init__", &make_recurring, nb::arg("dag"), nb::arg("roots"), nb::arg("whole_subtrees"),
           nb::arg("leaves"), nb::arg("min_count"), nb::arg("max_count"), nb::arg("min_size"),
           nb::arg("max_size"), nb::arg("max_fragments"), nb::arg("root").none())
      .def("block_sizes", [](const RecurringMiner& miner) { return to_numpy(miner.block_sizes()); })
      .def("mine", &mine_recurring, nb::arg("blocks"), nb::arg("n_threads"),
           nb::arg("progress").none());
  m.def("fragment_nodes", &nodes_of, nb::arg("dag"), nb::arg("root"));
  m.def("fragment_text", &bracket_text, nb::arg("labels"), nb::arg("arity"), nb::arg("open"));
  m.def(
      "fragment_texts",
      [](const Dag& dag, const Array<NodeId>& roots, const Array<std::uint8_t>& open) {
        return fragment_texts(dag, checked_roots(dag, roots), view(open));
      },
      nb::arg("dag"), nb::arg("roots"), nb::arg("open"));
  m.def("count_fragments", &count, nb::arg("spec"), nb::arg("fragments"), nb::arg("fragment_roots"),
        nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"), nb::arg("progress").none());
  m.def("fragment_features", &features, nb::arg("spec"), nb::arg("fragments"),
        nb::arg("fragment_roots"), nb::arg("dag"), nb::arg("roots"), nb::arg("normalize"),
        nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace filbert
