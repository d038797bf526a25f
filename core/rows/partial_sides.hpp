// What the partial tree kernel needs to know of two forests beside their classes.
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

  // Columns are worked on in eights that stand side by side in a tile. The more alike their
  // children, the more often all eight do the same: this puts general nodes of one label in order
  // of the number of children, then of the children's labels, the frequent ones first.
  void rank_columns(const Dag& columns, std::span<const std::uint32_t> class_of);

  // Whether the kinds hold for nodes of another forest that are compared with these. A label that
  // is terminal or simple here may be otherwise there: Delta with nodes of here is the same, except
  // where one that is simple here has several children there.
  bool describes(const Dag& dag, std::span<const std::uint32_t> class_of) const;

  bool children_are_sets;
  std::vector<LabelKind> kinds;  // by class
  LightFeatures features;
  std::vector<std::uint32_t> column_rank;  // by node; empty: in the order of their ids
};

}  // namespace filbert
