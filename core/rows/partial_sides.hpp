// Data about two forests that the partial tree kernel needs beside their classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/label_kinds.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

struct PartialSides {
  PartialSides(const PartialTree& kernel, const Dag& rows, const Dag& columns,
               const NodeClasses& classes)
      : children_are_sets(kernel.children_are_sets()),
        kinds(label_kinds(rows, columns, classes)),
        features(rows, columns, classes, kinds) {}

  // A tile is computed eight neighbouring columns at a time. The more similar their children, the
  // more often all eight take the same steps. So this sorts general nodes of one label by the
  // number of children, then by the children's labels, the frequent ones first.
  void rank_columns(const Dag& columns, std::span<const std::uint32_t> class_of);

  // Whether the kinds also hold for nodes of another forest that are compared with these nodes. A
  // label that is terminal or simple here may be different there. Delta is the same nevertheless,
  // unless a label that is simple here has a node with several children there.
  bool describes(const Dag& dag, std::span<const std::uint32_t> class_of) const;

  bool children_are_sets;
  std::vector<LabelKind> kinds;  // by class
  LightFeatures features;
  std::vector<std::uint32_t> column_rank;  // by node; empty: in the order of the node ids
};

}  // namespace filbert
