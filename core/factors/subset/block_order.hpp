// The nodes of a forest, numbered so that the nodes of one production lie side by side. The
// factorisation visits production by production, and with this numbering it finds the data of a
// block and of its children in few cache lines. Within a production the order of the forest stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/productions.hpp"

namespace filbert {

class BlockOrder {
 public:
  BlockOrder(const Dag& dag, int n_threads, const Watch& watch) {
    const Productions& productions = dag.productions();
    number_nodes(dag, productions);
    const std::size_t n = dag.size();
    std::vector<NodeId> number(n);
    children_begin_.resize(n + 1);
    production_.resize(n);
    std::uint32_t n_children = 0;
    for (NodeId u = 0; u < n; ++u) {
      number[original_[u]] = u;
      children_begin_[u] = n_children;
      n_children += static_cast<std::uint32_t>(dag.arity(original_[u]));
    }
    children_begin_[n] = n_children;
    children_.resize(n_children);
    constexpr std::size_t kPart = 1 << 14;
    parallel_for((n + kPart - 1) / kPart, threads_for(20.0 * static_cast<double>(n), n_threads),
                 watch, [&](std::size_t part, int, const StopToken& token) {
                   token.check();
                   const std::size_t end = std::min(n, (part + 1) * kPart);
                   for (std::size_t u = part * kPart; u < end; ++u) {
                     production_[u] = productions.of(original_[u]);
                     NodeId* own = children_.data() + children_begin_[u];
                     for (const NodeId c : dag.children(original_[u])) *own++ = number[c];
                   }
                 });
  }

  std::size_t size() const { return original_.size(); }
  std::size_t n_productions() const { return block_begin_.size() - 1; }
  NodeId first_of(std::uint32_t production) const { return block_begin_[production]; }
  NodeId end_of(std::uint32_t production) const { return block_begin_[production + 1]; }

  NodeId original(NodeId u) const { return original_[u]; }
  std::vector<NodeId> take_original() { return std::move(original_); }
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
