// A segment of an index: trees that are searched without their forest. It consists of flat arrays,
// which may be in memory or in a mapped file, and is immutable.
//
// Nodes are the distinct subtrees, numbered by height, then by label, number of children and the
// numbers of the children. Labels are sorted by their bytes. So the order of two nodes depends on
// the two subtrees alone, and a sum over the nodes of a tree has the same rounding in every
// segment.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "kernels/tree_kernel.hpp"
#include "patterns/pattern_spec.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// An array `x_ends` has one entry for each list, the end of the list; lists follow one another.
template <template <class> class List>
struct SegmentOf {
  List<std::uint8_t> label_bytes;
  List<std::uint64_t> label_ends;

  List<std::uint32_t> node_labels;
  List<std::uint64_t> child_ends;  // by node
  List<std::uint32_t> children;
  List<std::uint64_t> height_ends;  // by height: the end of the nodes of this height

  // Distinct trees, and the positions at which each was added.
  List<std::uint32_t> roots;
  List<double> norms;  // square roots of the self-kernels; infinite: the tree is set apart
  // By tree that is set apart: the logarithm of its number of nodes, divided by its norm.
  List<double> apart_logs;
  List<std::uint64_t> position_ends;
  List<std::uint32_t> positions;

  // Postings: the trees with nodes of a class, and the numbers of these nodes. If classes are
  // labels, pairs of a label and a child's label follow as further classes, and the postings of
  // labels have rests: see PartialSearch.
  List<std::uint64_t> class_ends;
  List<std::uint32_t> class_trees;
  List<std::uint32_t> class_counts;
  List<float> class_rests;

  // If classes are productions: a node of each, and ascending hashes. Members are the nodes by
  // production. Links are as in ColumnTile, by production, slot and production of
  // the child. Members with links have postings.
  List<std::uint64_t> hashes;
  List<std::uint32_t> examples;
  List<std::uint64_t> member_ends;
  List<std::uint64_t> slot_ends;   // by production: the end of its slots
  List<std::uint64_t> group_ends;  // by slot: the end of its groups
  List<std::uint32_t> group_classes;
  List<std::uint64_t> link_ends;  // by group
  List<std::uint32_t> link_parents;
  List<std::uint32_t> link_children;
  List<std::uint64_t> posting_ends;  // by member
  List<std::uint32_t> posting_trees;
  List<std::uint32_t> posting_counts;

  // If classes are labels: the inner nodes of each tree, the most children by label, and the pairs
  // of labels, ascending.
  List<std::uint64_t> inner_ends;
  List<std::uint32_t> inner_nodes;
  List<std::uint32_t> inner_counts;
  List<std::uint32_t> most_children;
  List<std::uint64_t> label_pairs;

  // If classes are local patterns: their hashes, ascending, their kinds and their keys (see
  // PatternTable), of labels and patterns of the segment. By tree, the factor of each family.
  List<std::uint64_t> pattern_hashes;
  List<std::uint32_t> pattern_kinds;
  List<std::uint64_t> pattern_key_ends;
  List<std::uint32_t> pattern_keys;
  List<double> family_factors;
};

// visit(name, list of a, list of b) for all arrays.
template <class A, class B, class Visit>
void visit_arrays(A& a, B& b, const Visit& visit) {
  visit("label_bytes", a.label_bytes, b.label_bytes);
  visit("label_ends", a.label_ends, b.label_ends);
  visit("node_labels", a.node_labels, b.node_labels);
  visit("child_ends", a.child_ends, b.child_ends);
  visit("children", a.children, b.children);
  visit("height_ends", a.height_ends, b.height_ends);
  visit("roots", a.roots, b.roots);
  visit("norms", a.norms, b.norms);
  visit("apart_logs", a.apart_logs, b.apart_logs);
  visit("position_ends", a.position_ends, b.position_ends);
  visit("positions", a.positions, b.positions);
  visit("class_ends", a.class_ends, b.class_ends);
  visit("class_trees", a.class_trees, b.class_trees);
  visit("class_counts", a.class_counts, b.class_counts);
  visit("class_rests", a.class_rests, b.class_rests);
  visit("hashes", a.hashes, b.hashes);
  visit("examples", a.examples, b.examples);
  visit("member_ends", a.member_ends, b.member_ends);
  visit("slot_ends", a.slot_ends, b.slot_ends);
  visit("group_ends", a.group_ends, b.group_ends);
  visit("group_classes", a.group_classes, b.group_classes);
  visit("link_ends", a.link_ends, b.link_ends);
  visit("link_parents", a.link_parents, b.link_parents);
  visit("link_children", a.link_children, b.link_children);
  visit("posting_ends", a.posting_ends, b.posting_ends);
  visit("posting_trees", a.posting_trees, b.posting_trees);
  visit("posting_counts", a.posting_counts, b.posting_counts);
  visit("inner_ends", a.inner_ends, b.inner_ends);
  visit("inner_nodes", a.inner_nodes, b.inner_nodes);
  visit("inner_counts", a.inner_counts, b.inner_counts);
  visit("most_children", a.most_children, b.most_children);
  visit("label_pairs", a.label_pairs, b.label_pairs);
  visit("pattern_hashes", a.pattern_hashes, b.pattern_hashes);
  visit("pattern_kinds", a.pattern_kinds, b.pattern_kinds);
  visit("pattern_key_ends", a.pattern_key_ends, b.pattern_key_ends);
  visit("pattern_keys", a.pattern_keys, b.pattern_keys);
  visit("family_factors", a.family_factors, b.family_factors);
}

template <class T>
using OwnedList = std::vector<T>;
template <class T>
using ConstList = std::span<const T>;

using SegmentArrays = SegmentOf<OwnedList>;

// A view. Arrays of a mapped file are not read before they are needed, so they are checked where
// they are used: everything here throws InvalidForest instead of leaving an array.
struct Segment : SegmentOf<ConstList> {
  Segment() = default;
  explicit Segment(const SegmentArrays& arrays);

  std::size_t n_trees() const { return roots.size(); }
  std::size_t n_nodes() const { return node_labels.size(); }
  std::size_t n_labels() const { return label_ends.size(); }

  // Compares the lengths of the arrays, without reading them.
  void check_lengths() const;

  struct Range {
    std::uint64_t first, last;
    std::uint64_t size() const { return last - first; }
  };
  static Range range(ConstList<std::uint64_t> ends, std::size_t list, std::size_t n) {
    if (list >= ends.size()) damaged();
    const Range found{list == 0 ? 0 : ends[list - 1], ends[list]};
    if (found.first > found.last || found.last > n) damaged();
    return found;
  }
  std::span<const std::uint32_t> children_of(NodeId u) const {
    const Range r = range(child_ends, u, children.size());
    return children.subspan(r.first, r.size());
  }
  std::span<const std::uint32_t> positions_of(std::size_t tree) const {
    const Range r = range(position_ends, tree, positions.size());
    return positions.subspan(r.first, r.size());
  }
  std::string_view label(LabelId label) const;

  // Ids of this segment, or kNone.
  LabelId find_label(std::string_view text) const;
  NodeId find_node(std::uint32_t height, LabelId label, std::span<const NodeId> wanted) const;
  std::uint32_t find_production(LabelId label, std::span<const LabelId> child_labels) const;
  std::uint32_t find_pattern(std::uint64_t hash, std::uint32_t kind,
                             std::span<const std::uint32_t> key) const;

  [[noreturn]] static void damaged();
};

// Hashes that are stored, and so the same in all processes. What has equal hashes is compared in
// full.
inline std::uint64_t stored_hash(std::uint64_t before, std::uint64_t next) {
  std::uint64_t x = before + next + 0x9e3779b97f4a7c15u;  // a bijection that spreads bits follows
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline std::uint64_t production_hash(LabelId label, std::span<const LabelId> child_labels) {
  std::uint64_t hash = stored_hash(0, label);
  for (const LabelId child : child_labels) hash = stored_hash(hash, child);
  return hash;
}
inline std::uint64_t label_pair(LabelId label, LabelId child) {
  return std::uint64_t{label} << 32 | child;
}

// Throws TooManyOccurrences and TooExpensive as matrix.hpp does.
SegmentArrays build_segment(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch);
SegmentArrays build_segment(const PatternSpec& spec, Trees trees, int n_threads,
                            const Watch& watch);

// Trees of a segment as a forest. Their roots are written to `roots`, in the order of `trees`.
std::shared_ptr<const Dag> forest_of(const Segment& segment, std::span<const std::uint32_t> trees,
                                     std::vector<NodeId>& roots);

}  // namespace filbert
