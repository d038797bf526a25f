#include "kernels/node_classes.hpp"

#include "forest/align.hpp"
#include "forest/productions.hpp"

namespace filbert {

namespace {

std::vector<std::uint32_t> classes_of(const TreeKernel& kernel, const Dag& dag) {
  std::vector<std::uint32_t> of(dag.size(), kNone);
  switch (kernel.matching()) {
    case Matching::subtree:
      for (NodeId u = 0; u < dag.size(); ++u) {
        if (!dag.is_leaf(u)) of[u] = u;
      }
      break;
    case Matching::production:
      for (NodeId u = 0; u < dag.size(); ++u) of[u] = dag.productions().of(u);
      break;
    case Matching::label:
      for (NodeId u = 0; u < dag.size(); ++u) of[u] = dag.label(u);
      return of;
  }
  if (!kernel.counts_leaves()) return of;
  const std::uint32_t first = first_leaf_class(kernel, dag);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) of[u] = first + dag.label(u);
  }
  return of;
}

std::uint32_t n_classes(const TreeKernel& kernel, const Dag& dag) {
  const auto n_labels = static_cast<std::uint32_t>(dag.labels().size());
  if (kernel.matching() == Matching::label) return n_labels;
  return first_leaf_class(kernel, dag) + (kernel.counts_leaves() ? n_labels : 0);
}

}  // namespace

std::uint32_t first_leaf_class(const TreeKernel& kernel, const Dag& dag) {
  const bool by_production = kernel.matching() == Matching::production;
  return static_cast<std::uint32_t>(by_production ? dag.productions().size() : dag.size());
}

std::vector<std::uint32_t> classes_among(const KernelSpec& spec, const Dag& from,
                                         std::span<const NodeId> roots, const Dag& to) {
  std::vector<std::uint32_t> of(from.size(), kNone);
  if (spec->matching() == Matching::subtree) {
    const std::vector<NodeId> nodes = reachable(from, roots);
    const std::vector<NodeId> map = map_nodes(from, to, nodes);
    for (const NodeId u : nodes) {
      if (!from.is_leaf(u)) of[u] = map[u];
    }
  }
  if (spec->matching() == Matching::production) {
    const std::vector<std::uint32_t> map = map_productions(from, to);
    for (NodeId u = 0; u < from.size(); ++u) {
      if (!from.is_leaf(u)) of[u] = map[from.productions().of(u)];
    }
  }
  const bool by_label = spec->matching() == Matching::label;
  if (!by_label && !spec->counts_leaves()) return of;
  const std::uint32_t first = by_label ? 0 : first_leaf_class(*spec.kernel, to);
  const std::vector<LabelId> labels = map_labels(from, to);
  for (NodeId u = 0; u < from.size(); ++u) {
    const LabelId label = labels[from.label(u)];
    if ((by_label || from.is_leaf(u)) && label != kNone) of[u] = first + label;
  }
  return of;
}

NodeClasses classify(const KernelSpec& spec, const Dag& rows, std::span<const NodeId> row_roots,
                     const Dag& columns, std::span<const NodeId> column_roots) {
  NodeClasses classes;
  if (&rows == &columns) {
    classes.rows = classes_of(*spec.kernel, rows);
    classes.size = n_classes(*spec.kernel, rows);
  } else if (rows.size() > columns.size()) {
    classes.rows = classes_of(*spec.kernel, rows);
    classes.own_columns = classes_among(spec, columns, column_roots, rows);
    classes.size = n_classes(*spec.kernel, rows);
  } else {
    classes.rows = classes_among(spec, rows, row_roots, columns);
    classes.own_columns = classes_of(*spec.kernel, columns);
    classes.size = n_classes(*spec.kernel, columns);
  }
  return classes;
}

}  // namespace filbert
