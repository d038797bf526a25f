// All compositions that a list of trees needs, each once (Zanzotto & Dell'Arciprete 2012, section
// 3.2.1):
//
//   s(n) = n <> (x_1 <> (x_2 <> ... <> x_m)),   x_i = c_i + sqrt(lambda) s(c_i),
//
// for a node n with children c_1 ... c_m. The brackets are those of Definition 1. *Items* are the
// labels, the lists of children from the i-th on (1 < i < m), and the nodes with children. An item
// that is not a label is a composition of two other items, its operands, which have smaller
// numbers. A leaf has the item of its label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

using ItemId = std::uint32_t;

class Steps {
 public:
  Steps(const Dag& dag, std::span<const NodeId> roots);

  std::size_t n_items() const { return n_labels_ + left_.size(); }
  bool is_label(ItemId item) const { return item < n_labels_; }
  LabelId label(ItemId item) const { return label_ids_[item]; }  // only for the item of a label
  ItemId left(ItemId item) const { return left_[item - n_labels_]; }
  ItemId right(ItemId item) const { return right_[item - n_labels_]; }
  // The node that this composition completes, or kNone for a list of children.
  NodeId node(ItemId item) const { return nodes_[item - n_labels_]; }
  ItemId item_of(NodeId u) const { return items_[u]; }

  // The forms of an item that other items need, and whether the vector of an item is needed. The
  // vector of a node is always needed.
  bool needs_left(ItemId item) const { return needs_[item] & kLeft; }
  bool needs_right(ItemId item) const { return needs_[item] & kRight; }
  bool needs_vector(ItemId item) const {
    return is_label(item) ? (needs_[item] & kVector) != 0 : node(item) != kNone;
  }
  std::size_t n_vectors(ItemId item) const {
    return std::size_t{needs_left(item)} + needs_right(item) + needs_vector(item);
  }

  // How often each item occurs in all trees together. The operands of an item are at least as
  // frequent as the item.
  std::vector<double> frequencies(std::span<const NodeId> roots) const;

  // Calls f for each item that an item is computed from. Some may be visited more than once.
  template <class Function>
  void for_each_source(const Dag& dag, ItemId item, Function&& f) const {
    if (is_label(item)) return;
    f(left(item));
    f(right(item));
    if (node(item) == kNone) return;
    for (const NodeId c : dag.children(node(item))) {
      if (!dag.is_leaf(c)) f(item_of(c));
    }
  }

 private:
  static constexpr std::uint8_t kLeft = 1, kRight = 2, kVector = 4;

  void add_node(const Dag& dag, NodeId u, const std::vector<ItemId>& item_of_label);
  ItemId add(ItemId left, ItemId right, NodeId node);

  std::size_t n_labels_ = 0;
  std::vector<LabelId> label_ids_;
  std::vector<ItemId> left_, right_;
  std::vector<NodeId> nodes_;
  std::vector<ItemId> items_;  // of the dag's nodes
  std::vector<std::uint8_t> needs_;
};

}  // namespace filbert
