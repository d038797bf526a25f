// The patterns of the distinct nodes of some trees: for each node those that have it at their top.
// One pass from the leaves up finds them all. The paths of a node come from those of its children,
// with the number of times that they occur, so equal subtrees are read once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/place_map.hpp"
#include "forest/dag.hpp"
#include "patterns/pattern_table.hpp"

namespace filbert {

class NodePatterns {
 public:
  struct Entry {
    PatternId pattern;
    std::uint32_t count;
  };

  // Adds new patterns to the table. Throws CapacityError if a node has a pattern 2^32 times.
  NodePatterns(const Dag& dag, std::span<const NodeId> roots, PatternTable& table,
               const StopToken& token);

  // Of a node below the roots. No pattern is listed twice.
  std::span<const Entry> of(NodeId u) const {
    const std::uint32_t at = place(u);
    return {entries_.data() + begin_[at], begin_[at + 1] - begin_[at]};
  }
  std::size_t n_entries() const { return entries_.size(); }

 private:
  void find_nodes(std::span<const NodeId> roots);
  void add_node(NodeId u);
  void add_paths(NodeId u);
  void add_subtrees(NodeId u, PatternId label);
  void add_siblings(NodeId u);
  void add_leaves(NodeId u);
  void find_ends(NodeId u);
  void add(PatternId pattern, std::uint64_t count);
  std::pair<LabelId, PatternId> label_of(NodeId u);

  // Places are in the order of the nodes, so children have smaller ones than their parents.
  std::uint32_t place(NodeId u) const { return nodes_.empty() ? u : places_.find(u); }
  std::uint32_t n_stored_cuts() const { return table_.spec().subtree_depth - 1; }
  // The labels of the first leaves below a node, or of the last ones, at most `n_ends()`.
  std::uint32_t n_ends() const { return table_.spec().leaves - 1; }
  std::span<const LabelId> ends_of(std::uint32_t place, bool last) const {
    const std::size_t row = 2 * std::size_t{place} + (last ? 1 : 0);
    const LabelId* const first = ends_.data() + row * n_ends();
    return {first, std::min(n_leaves_[place], n_ends())};
  }
  std::span<const Entry> paths_of(std::uint32_t place, std::uint32_t n_nodes) const;

  const Dag& dag_;
  PatternTable& table_;
  std::vector<NodeId> nodes_;  // ascending; empty: all nodes of the forest have their own number
  PlaceMap places_;

  std::vector<std::uint64_t> begin_{0};  // by place
  std::vector<Entry> entries_;           // of a node: its label, its paths, the shorter ones first

  // What parents need, by place.
  std::vector<LabelId> label_;            // in the table
  std::vector<std::uint32_t> path_ends_;  // by number of nodes from 1 on, after the first entry
  std::vector<PatternId> cuts_;           // by depth, from 1 on: a label, production or subtree
  std::vector<std::uint8_t> height_;      // at most the depth of the deepest cut
  std::vector<LabelId> ends_;             // of the row of leaves: the first ones, then the last
  std::vector<std::uint32_t> n_leaves_;   // at most the length of the longest run

  // Buffers.
  PlaceMap known_labels_;
  std::vector<std::pair<LabelId, PatternId>> labels_;
  PlaceMap children_, tails_;
  std::vector<std::uint64_t> child_counts_, tail_counts_;
  std::vector<std::uint32_t> key_, row_, owners_;
};

}  // namespace filbert
