#include "learn/perceptron/growing_forest.hpp"

namespace filbert {

// A leaf that counts as a fragment has a class: that of its label without children.
bool GrowingForest::has_class(NodeId u, LabelId label,
                              std::span<const LabelId> child_labels) const {
  if (dag().label(u) != label || dag().arity(u) != child_labels.size()) return false;
  const std::span<const NodeId> children = dag().children(u);
  for (std::size_t j = 0; j < children.size(); ++j) {
    if (dag().label(children[j]) != child_labels[j]) return false;
  }
  return true;
}

std::uint32_t GrowingForest::find_class(LabelId label,
                                        std::span<const LabelId> child_labels) const {
  return classes_.find(hash_ids(label, child_labels), [&](std::uint32_t cls) {
    return has_class(example_[cls], label, child_labels);
  });
}

void GrowingForest::look_up(const Dag& from, const LocalTree& tree, KnownLabels& labels,
                            std::vector<std::uint32_t>& classes) const {
  const bool by_node = spec_->matching() == Matching::subtree;
  const bool by_label = spec_->matching() == Matching::label;
  std::vector<LabelId> label(tree.size());
  std::vector<std::uint32_t> parts;
  classes.assign(tree.size(), kNone);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    label[u] = labels.find(from, from.label(tree.nodes[u]), dag().labels());
    if (by_label) classes[u] = label[u];
    if (by_label || label[u] == kNone) continue;
    parts.clear();
    bool known = true;
    for (const std::uint32_t c : tree.children_of(u)) {
      parts.push_back(by_node ? classes[c] : label[c]);
      known = known && parts.back() != kNone;
    }
    if (!known) continue;
    if (by_node) {
      classes[u] = dag().find(label[u], parts);
    } else if (!parts.empty() || spec_->counts_leaves()) {
      classes[u] = find_class(label[u], parts);
    }
  }
  if (!by_node) return;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) classes[u] = kNone;
  }
}

void GrowingForest::insert(const Dag& from, const LocalTree& tree, KnownLabels& labels,
                           std::vector<NodeId>& nodes, std::vector<std::uint32_t>& classes) {
  nodes.clear();
  classes.clear();
  std::vector<NodeId> children;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const LabelId own = from.label(tree.nodes[u]);
    LabelId label = labels.find(from, own, dag().labels());
    if (label == kNone) {
      label = builder_.label(from.labels().text(own));
      labels.set(own, label);
    }
    children.clear();
    for (const std::uint32_t c : tree.children_of(u)) children.push_back(nodes[c]);
    nodes.push_back(children.empty() ? builder_.leaf(label) : builder_.node(label, children));
    classes.push_back(class_of(nodes.back()));
  }
}

std::uint32_t GrowingForest::class_of(NodeId u) {
  const bool leaf = dag().is_leaf(u);
  if (spec_->matching() == Matching::label) return dag().label(u);
  if (leaf && !spec_->counts_leaves()) return kNone;
  if (spec_->matching() == Matching::subtree) return u;
  std::vector<LabelId> child_labels;
  for (const NodeId c : dag().children(u)) child_labels.push_back(dag().label(c));
  const LabelId label = dag().label(u);
  return classes_.find_or_insert(
      hash_ids(label, child_labels),
      [&](std::uint32_t cls) { return has_class(example_[cls], label, child_labels); },
      [&] {
        example_.push_back(u);
        return static_cast<std::uint32_t>(example_.size() - 1);
      });
}

}  // namespace filbert
