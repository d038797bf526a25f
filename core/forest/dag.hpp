// The corpus as one hash-consed DAG: every distinct subtree is a node and is stored once. Children
// have smaller ids than their parents, so a loop over ascending ids visits children first. A Dag is
// immutable. DagBuilder makes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "forest/labels.hpp"

namespace filbert {

class Productions;

class Dag {
 public:
  Dag();
  ~Dag();
  Dag(const Dag&) = delete;
  Dag& operator=(const Dag&) = delete;

  std::size_t size() const { return nodes_.size() - 1; }
  std::size_t n_edges() const { return children_.size(); }
  const LabelTable& labels() const { return labels_; }

  LabelId label(NodeId u) const { return nodes_[u].label; }
  std::size_t arity(NodeId u) const {
    return nodes_[u + 1].children_begin - nodes_[u].children_begin;
  }
  bool is_leaf(NodeId u) const { return arity(u) == 0; }
  std::span<const NodeId> children(NodeId u) const {
    return {children_.data() + nodes_[u].children_begin, arity(u)};
  }

  // The node with this label and these children, or kNone.
  NodeId find(LabelId label, std::span<const NodeId> children) const;

  // Derived tables. Each is computed on first use and then kept.
  const Productions& productions() const;
  const std::vector<std::uint64_t>& sizes() const;   // nodes of each subtree, with repetition
  const std::vector<std::uint32_t>& depths() const;  // a leaf has depth 1

  std::size_t memory() const;

 private:
  friend class DagBuilder;

  struct Node {
    LabelId label;
    std::uint32_t children_begin;  // they end where those of the next node begin
  };

  bool is(NodeId u, LabelId label, std::span<const NodeId> wanted) const {
    if (nodes_[u].label != label || arity(u) != wanted.size()) return false;
    const NodeId* const own = children_.data() + nodes_[u].children_begin;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (own[i] != wanted[i]) return false;
    }
    return true;
  }

  LabelTable labels_;
  std::vector<Node> nodes_;  // one more entry than there are nodes
  std::vector<NodeId> children_;
  IdTable index_;

  mutable std::once_flag productions_once_, sizes_once_, depths_once_;
  mutable std::unique_ptr<Productions> productions_;
  mutable std::vector<std::uint64_t> sizes_;
  mutable std::vector<std::uint32_t> depths_;
  mutable std::atomic<std::size_t> derived_bytes_{0};  // of the derived tables computed so far
};

// Every node that is reachable from the roots, in ascending order.
std::vector<NodeId> reachable(const Dag& dag, std::span<const NodeId> roots);

}  // namespace filbert
