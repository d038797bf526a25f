#include "embed/steps.hpp"

#include "base/errors.hpp"

namespace filbert {

Steps::Steps(const Dag& dag, std::span<const NodeId> roots) : items_(dag.size(), kNone) {
  const std::vector<NodeId> used = reachable(dag, roots);
  std::vector<ItemId> item_of_label(dag.labels().size(), kNone);
  std::size_t n_edges = 0;
  for (const NodeId u : used) {
    ItemId& item = item_of_label[dag.label(u)];
    if (item == kNone) {
      item = static_cast<ItemId>(label_ids_.size());
      label_ids_.push_back(dag.label(u));
    }
    if (dag.is_leaf(u)) items_[u] = item;
    n_edges += dag.arity(u);
  }
  n_labels_ = label_ids_.size();
  if (n_labels_ + n_edges >= kNone) {
    throw CapacityError("embedding takes more compositions than 32-bit numbers can name");
  }
  needs_.assign(n_labels_, 0);
  for (const NodeId u : used) {
    if (!dag.is_leaf(u)) add_node(dag, u, item_of_label);
  }
}

void Steps::add_node(const Dag& dag, NodeId u, const std::vector<ItemId>& item_of_label) {
  const std::span<const NodeId> children = dag.children(u);
  ItemId rest = items_[children.back()];
  for (std::size_t i = children.size() - 1; i-- > 0;) rest = add(items_[children[i]], rest, kNone);
  const ItemId label = item_of_label[dag.label(u)];
  items_[u] = add(label, rest, u);
  needs_[label] |= kVector;
}

ItemId Steps::add(ItemId left, ItemId right, NodeId node) {
  const auto item = static_cast<ItemId>(n_items());
  left_.push_back(left);
  right_.push_back(right);
  nodes_.push_back(node);
  needs_.push_back(0);
  needs_[left] |= kLeft;
  needs_[right] |= kRight;
  return item;
}

std::vector<double> Steps::frequencies(std::span<const NodeId> roots) const {
  std::vector<double> counts(n_items(), 0.0);
  for (const NodeId root : roots) counts[items_[root]] += 1.0;
  for (std::size_t item = n_items(); item-- > n_labels_;) {
    counts[left_[item - n_labels_]] += counts[item];
    counts[right_[item - n_labels_]] += counts[item];
  }
  return counts;
}

}  // namespace filbert
