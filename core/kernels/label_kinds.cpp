#include "kernels/label_kinds.hpp"

#include <algorithm>

namespace filbert {

namespace {

// Whether a node of this label has children, by the forest's own labels.
std::vector<bool> inner_labels(const Dag& dag) {
  std::vector<bool> inner(dag.labels().size(), false);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (!dag.is_leaf(u)) inner[dag.label(u)] = true;
  }
  return inner;
}

void find_inner(const Dag& dag, std::span<const std::uint32_t> class_of,
                std::vector<LabelKind>& kinds) {
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (class_of[u] != kNone && !dag.is_leaf(u)) kinds[class_of[u]] = LabelKind::simple;
  }
}

// Finds the labels that are not terminal and have a node that is not simple. A child whose label
// only this forest has is in no class: it is terminal if it is terminal in this forest.
void find_general(const Dag& dag, std::span<const std::uint32_t> class_of,
                  std::vector<LabelKind>& kinds) {
  const std::vector<bool> inner = inner_labels(dag);
  for (NodeId u = 0; u < dag.size(); ++u) {
    const std::uint32_t cls = class_of[u];
    if (cls == kNone || kinds[cls] != LabelKind::simple) continue;
    bool simple = dag.arity(u) == 1;
    if (simple) {
      const NodeId child = dag.children(u)[0];
      const std::uint32_t child_cls = class_of[child];
      simple =
          child_cls == kNone ? !inner[dag.label(child)] : kinds[child_cls] == LabelKind::terminal;
    }
    if (!simple) kinds[cls] = LabelKind::general;
  }
}

}  // namespace

std::vector<LabelKind> label_kinds(const Dag& rows, const Dag& columns,
                                   const NodeClasses& classes) {
  std::vector<LabelKind> kinds(classes.size, LabelKind::terminal);
  const bool two = &rows != &columns;
  find_inner(rows, classes.rows, kinds);
  if (two) find_inner(columns, classes.columns(), kinds);
  find_general(rows, classes.rows, kinds);
  if (two) find_general(columns, classes.columns(), kinds);
  return kinds;
}

LightFeatures::LightFeatures(const Dag& rows, const Dag& columns, const NodeClasses& classes,
                             std::span<const LabelKind> kinds)
    : n_classes_(classes.size) {
  // A subtree counts if both forests have it, so the smaller forest lists all candidates.
  const bool fewer_rows = rows.size() < columns.size();
  collect(fewer_rows ? rows : columns, fewer_rows ? classes.rows : classes.columns(), kinds);
}

void LightFeatures::collect(const Dag& dag, std::span<const std::uint32_t> class_of,
                            std::span<const LabelKind> kinds) {
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (class_of[u] == kNone || kinds[class_of[u]] != LabelKind::simple) continue;
    const std::uint32_t child_cls = class_of[dag.children(u)[0]];
    if (child_cls != kNone) subtrees_.push_back(key(class_of[u], child_cls));
  }
  std::sort(subtrees_.begin(), subtrees_.end());
}

std::uint32_t LightFeatures::subtree_feature(const Dag& dag,
                                             std::span<const std::uint32_t> class_of,
                                             NodeId u) const {
  if (dag.is_leaf(u)) return kNone;
  const std::uint32_t child_cls = class_of[dag.children(u)[0]];
  if (child_cls == kNone) return kNone;
  const std::uint64_t wanted = key(class_of[u], child_cls);
  const auto found = std::lower_bound(subtrees_.begin(), subtrees_.end(), wanted);
  if (found == subtrees_.end() || *found != wanted) return kNone;
  return n_classes_ + static_cast<std::uint32_t>(found - subtrees_.begin());
}

WeighedTrees LightFeatures::weigh(const Dag& dag, std::span<const std::uint32_t> class_of,
                                  std::span<const LabelKind> kinds,
                                  const Occurrences& trees) const {
  struct Entry {
    std::uint32_t feature, count;
  };
  std::vector<std::uint32_t> feature_of(dag.size(), kNone);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (class_of[u] == kNone || kinds[class_of[u]] != LabelKind::simple) continue;
    feature_of[u] = subtree_feature(dag, class_of, u);
  }
  WeighedTrees parts;
  parts.heavy.row_begin.push_back(0);
  parts.light.row_begin.push_back(0);
  std::vector<Entry> entries;
  for (std::size_t tree = 0; tree < trees.n_trees(); ++tree) {
    const auto nodes = trees.nodes_of(tree);
    const auto counts = trees.counts_of(tree);
    entries.clear();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t cls = class_of[nodes[i]];
      if (kinds[cls] == LabelKind::general) {
        parts.heavy.nodes.push_back(nodes[i]);
        parts.heavy.counts.push_back(counts[i]);
        continue;
      }
      entries.push_back({cls, counts[i]});
      if (feature_of[nodes[i]] != kNone) entries.push_back({feature_of[nodes[i]], counts[i]});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
    for (const Entry& entry : entries) {
      if (parts.light.nodes.size() > parts.light.row_begin.back() &&
          parts.light.nodes.back() == entry.feature) {
        parts.light.counts.back() += entry.count;
      } else {
        parts.light.nodes.push_back(entry.feature);
        parts.light.counts.push_back(entry.count);
      }
    }
    parts.heavy.row_begin.push_back(parts.heavy.nodes.size());
    parts.light.row_begin.push_back(parts.light.nodes.size());
  }
  return parts;
}

}  // namespace filbert
