// Partial trees: the labels that need rows of Delta.
//
// Most nodes of a parse tree are words and the nodes directly above a word. Their Deltas are known
// without a recursion (see LightWeights), so they get no rows and no columns; their part of the
// kernel of two trees is a dot product of sparse counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/node_classes.hpp"

namespace filbert {

enum class LabelKind : std::uint8_t {
  terminal,  // no node of this label has children
  simple,    // each node has one child, which is terminal
  general,
};

// By class, over both forests.
std::vector<LabelKind> label_kinds(const Dag& rows, const Dag& columns, const NodeClasses& classes);

// A forest's trees in two parts: `heavy`, the nodes that have rows, and `light`, counts of features
// that stand for all other nodes. Features below n_classes are labels; the others are simple
// subtrees. Entries of `light.nodes` are features and ascend within a tree.
struct WeighedTrees {
  Occurrences heavy;
  Occurrences light;
};

// The features of simple subtrees, in one numbering for both forests.
class LightFeatures {
 public:
  LightFeatures(const Dag& rows, const Dag& columns, const NodeClasses& classes,
                std::span<const LabelKind> kinds);

  std::uint32_t n_features() const {
    return n_classes_ + static_cast<std::uint32_t>(subtrees_.size());
  }
  bool is_subtree(std::uint32_t feature) const { return feature >= n_classes_; }

  WeighedTrees weigh(const Dag& dag, std::span<const std::uint32_t> class_of,
                     std::span<const LabelKind> kinds, const Occurrences& trees) const;

 private:
  static std::uint64_t key(std::uint32_t cls, std::uint32_t child_cls) {
    return std::uint64_t{cls} << 32 | child_cls;
  }
  void collect(const Dag& dag, std::span<const std::uint32_t> class_of,
               std::span<const LabelKind> kinds);
  // kNone if the other forest does not have the child's label.
  std::uint32_t subtree_feature(const Dag& dag, std::span<const std::uint32_t> class_of,
                                NodeId u) const;

  std::uint32_t n_classes_;
  std::vector<std::uint64_t> subtrees_;  // ascending
};

}  // namespace filbert
