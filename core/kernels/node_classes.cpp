#include "kernels/node_classes.hpp"

#include "forest/align.hpp"
#include "forest/productions.hpp"

namespace filbert {

namespace {

std::vector<std::uint32_t> classes_of(const KernelSpec& spec, const Dag& dag) {
  std::vector<std::uint32_t> of(dag.size(), kNone);
  for (NodeId u = 0; u < dag.size(); ++u) {
    switch (spec.kernel) {
      case TreeKernel::partial_tree: of[u] = dag.label(u); break;
      case TreeKernel::subtree:
        if (!dag.is_leaf(u)) of[u] = u;
        break;
      case TreeKernel::subset_tree: of[u] = dag.productions().of(u); break;
    }
  }
  if (spec.kernel == TreeKernel::subset_tree && spec.include_leaves) {
    const auto n_productions = static_cast<std::uint32_t>(dag.productions().size());
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (dag.is_leaf(u)) of[u] = n_productions + dag.label(u);
    }
  }
  return of;
}

std::uint32_t n_classes(const KernelSpec& spec, const Dag& dag) {
  switch (spec.kernel) {
    case TreeKernel::partial_tree: return static_cast<std::uint32_t>(dag.labels().size());
    case TreeKernel::subtree: return static_cast<std::uint32_t>(dag.size());
    case TreeKernel::subset_tree: break;
  }
  return static_cast<std::uint32_t>(dag.productions().size() +
                                    (spec.include_leaves ? dag.labels().size() : 0));
}

}  // namespace

std::vector<std::uint32_t> classes_among(const KernelSpec& spec, const Dag& from,
                                         std::span<const NodeId> roots, const Dag& to) {
  std::vector<std::uint32_t> of(from.size(), kNone);
  if (spec.kernel == TreeKernel::subtree) {
    const std::vector<NodeId> nodes = reachable(from, roots);
    const std::vector<NodeId> map = map_nodes(from, to, nodes);
    for (const NodeId u : nodes) {
      if (!from.is_leaf(u)) of[u] = map[u];
    }
    return of;
  }
  if (spec.kernel == TreeKernel::partial_tree) {
    const std::vector<LabelId> map = map_labels(from, to);
    for (NodeId u = 0; u < from.size(); ++u) of[u] = map[from.label(u)];
    return of;
  }
  const std::vector<std::uint32_t> map = map_productions(from, to);
  for (NodeId u = 0; u < from.size(); ++u) {
    if (!from.is_leaf(u)) of[u] = map[from.productions().of(u)];
  }
  if (spec.include_leaves) {
    const auto n_productions = static_cast<std::uint32_t>(to.productions().size());
    const std::vector<LabelId> labels = map_labels(from, to);
    for (NodeId u = 0; u < from.size(); ++u) {
      const LabelId label = labels[from.label(u)];
      if (from.is_leaf(u) && label != kNone) of[u] = n_productions + label;
    }
  }
  return of;
}

NodeClasses classify(const KernelSpec& spec, const Dag& rows, std::span<const NodeId> row_roots,
                     const Dag& columns, std::span<const NodeId> column_roots) {
  NodeClasses classes;
  if (&rows == &columns) {
    classes.rows = classes_of(spec, rows);
    classes.size = n_classes(spec, rows);
  } else if (rows.size() > columns.size()) {
    classes.rows = classes_of(spec, rows);
    classes.own_columns = classes_among(spec, columns, column_roots, rows);
    classes.size = n_classes(spec, rows);
  } else {
    classes.rows = classes_among(spec, rows, row_roots, columns);
    classes.own_columns = classes_of(spec, columns);
    classes.size = n_classes(spec, columns);
  }
  return classes;
}

}  // namespace filbert
