// The children of a block's nodes, slot by slot, numbered within the slot. A slot in which all
// nodes have the same child does not distinguish them: only the other slots, which vary, are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "factors/subset/block_order.hpp"

namespace filbert {

class BlockChildren {
 public:
  explicit BlockChildren(const BlockOrder& nodes) : dag_(nodes), number_(nodes.size(), {0, 0}) {}

  // Classifies the slots of some nodes of one production. Calls same(child) for every slot with
  // only one child.
  template <class Same>
  void start(std::span<const NodeId> nodes, const Same& same) {
    n_nodes_ = nodes.size();
    numbers_.clear();
    children_.clear();
    begin_.assign(1, 0);
    const std::size_t arity = dag_.arity(nodes.front());
    for (std::size_t slot = 0; slot < arity; ++slot) {
      const NodeId first = dag_.children(nodes.front())[slot];
      const bool one = std::all_of(nodes.begin() + 1, nodes.end(),
                                   [&](NodeId u) { return dag_.children(u)[slot] == first; });
      if (one) {
        same(first);
      } else {
        add_slot(nodes, slot);
      }
    }
  }

  std::uint32_t n_slots() const { return static_cast<std::uint32_t>(begin_.size() - 1); }

  // The number of a node's child among the different children in a slot that varies.
  std::uint32_t number(std::uint32_t slot, std::uint32_t node) const {
    return numbers_[slot * n_nodes_ + node];
  }
  std::uint32_t n_different(std::uint32_t slot) const { return begin_[slot + 1] - begin_[slot]; }
  NodeId child(std::uint32_t slot, std::uint32_t number) const {
    return children_[begin_[slot] + number];
  }
  NodeId child_of(std::uint32_t slot, std::uint32_t node) const {
    return child(slot, number(slot, node));
  }

 private:
  // Successive parents have children that are nearly successive, so a table over all nodes uses the
  // cache better than hashing.
  struct Number {
    std::uint32_t mark, number;
  };

  void add_slot(std::span<const NodeId> nodes, std::size_t slot) {
    if (++mark_ == 0) {
      std::fill(number_.begin(), number_.end(), Number{0, 0});
      mark_ = 1;
    }
    std::uint32_t n = 0;
    for (const NodeId u : nodes) {
      const NodeId c = dag_.children(u)[slot];
      Number& known = number_[c];
      if (known.mark != mark_) {
        known = {mark_, n++};
        children_.push_back(c);
      }
      numbers_.push_back(known.number);
    }
    begin_.push_back(static_cast<std::uint32_t>(children_.size()));
  }

  const BlockOrder& dag_;
  std::vector<Number> number_;
  std::uint32_t mark_ = 0;
  std::size_t n_nodes_ = 0;
  std::vector<std::uint32_t> numbers_;  // by slot and node
  std::vector<NodeId> children_;        // the different ones, by slot
  std::vector<std::uint32_t> begin_;    // of a slot, in children_
};

}  // namespace filbert
