// The nodes of a forest, numbered so that the nodes of one production lie side by side. The
// factorisation visits production by production, and with this numbering it finds the data of a
// block and of its children in few cache lines. Within a production the order of the forest stays.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "forest/dag.hpp"
#include "forest/productions.hpp"

namespace filbert {

class BlockOrder {
 public:
  explicit BlockOrder(const Dag& dag) {
    const Productions& productions = dag.productions();
    number_nodes(dag, productions);
    std::vector<NodeId> number(dag.size());
    for (NodeId u = 0; u < dag.size(); ++u) number[original_[u]] = u;
    children_.reserve(dag.n_edges());
    children_begin_.reserve(dag.size() + 1);
    production_.reserve(dag.size());
    for (const NodeId original : original_) {
      children_begin_.push_back(static_cast<std::uint32_t>(children_.size()));
      production_.push_back(productions.of(original));
      for (const NodeId c : dag.children(original)) children_.push_back(number[c]);
    }
    children_begin_.push_back(static_cast<std::uint32_t>(children_.size()));
  }

  std::size_t size() const { return original_.size(); }
  std::size_t n_productions() const { return block_begin_.size() - 1; }
  NodeId first_of(std::uint32_t production) const { return block_begin_[production]; }
  NodeId end_of(std::uint32_t production) const { return block_begin_[production + 1]; }

  NodeId original(NodeId u) const { return original_[u]; }
  std::uint32_t production(NodeId u) const { return production_[u]; }  // kNone for a leaf
  std::size_t arity(NodeId u) const { return children_begin_[u + 1] - children_begin_[u]; }
  bool is_leaf(NodeId u) const { return arity(u) == 0; }
  std::span<const NodeId> children(NodeId u) const {
    return {children_.data() + children_begin_[u], arity(u)};
  }

  std::uint64_t bytes() const { return (4 * size() + children_.size()) * sizeof(NodeId); }

 private:
  // Leaves come last.
  void number_nodes(const Dag& dag, const Productions& productions) {
    const auto n_blocks = static_cast<std::uint32_t>(productions.size());
    const auto block_of = [&](NodeId u) { return std::min(productions.of(u), n_blocks); };
    std::vector<NodeId> next(n_blocks + 2, 0);
    for (NodeId u = 0; u < dag.size(); ++u) ++next[block_of(u) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    block_begin_.assign(next.begin(), next.end() - 1);
    original_.resize(dag.size());
    for (NodeId u = 0; u < dag.size(); ++u) original_[next[block_of(u)]++] = u;
  }

  std::vector<NodeId> block_begin_;  // by production, and where the leaves begin
  std::vector<NodeId> original_;     // the number of a node in the forest
  std::vector<std::uint32_t> production_;
  std::vector<std::uint32_t> children_begin_;  // one more entry than there are nodes
  std::vector<NodeId> children_;
};

}  // namespace filbert
