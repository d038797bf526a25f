// The children of a tile's columns, laid out for partial trees: chunks of eight columns, and for
// each child position the labels and places of all eight side by side (see lanes.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "rows/lanes.hpp"
#include "rows/partial_sides.hpp"

namespace filbert {

class PartialColumns {
 public:
  PartialColumns(const PartialSides& sides, const Dag& dag, std::span<const std::uint32_t> class_of)
      : as_sets_(sides.children_are_sets), dag_(dag), class_of_(class_of), kinds_(sides.kinds) {}

  // `nodes` is indexed by column, and its size is a multiple of eight. A kNone at the end of a
  // chunk repeats the node before. `place_of` is a general node's place within its label's columns.
  template <class PlaceOf>
  void load(std::span<const NodeId> nodes, const PlaceOf& place_of);

  // The chunks of columns [begin, begin + width), both multiples of eight.
  std::span<const LaneChunk> chunks(std::uint32_t begin, std::uint32_t width) const {
    return {chunks_.data() + begin / kColumns, width / kColumns};
  }
  const LaneSlot* slots() const { return slots_.data(); }

  // If subsequences have length 1, order does not matter: equal children are listed once, with
  // their number of occurrences.
  double multiplicity(std::uint64_t slot, std::size_t lane) const {
    return multiplicities_[slot * kColumns + lane];
  }

  std::uint64_t memory() const {
    return chunks_.size() * sizeof(LaneChunk) + slots_.size() * sizeof(LaneSlot) +
           multiplicities_.size() * sizeof(double);
  }

 private:
  struct Child {
    std::uint32_t label, place;
    double times;
  };

  template <class PlaceOf>
  void list_children(NodeId u, const PlaceOf& place_of);
  void add_chunk(std::span<const std::vector<Child>> lanes);

  const bool as_sets_;
  const Dag& dag_;
  std::span<const std::uint32_t> class_of_;
  std::span<const LabelKind> kinds_;

  std::vector<LaneChunk> chunks_;
  std::vector<LaneSlot> slots_;
  std::vector<double> multiplicities_;
  std::vector<Child> children_;  // of one column
  std::vector<NodeId> sorted_;
};

template <class PlaceOf>
void PartialColumns::load(std::span<const NodeId> nodes, const PlaceOf& place_of) {
  chunks_.clear();
  slots_.clear();
  multiplicities_.clear();
  std::vector<Child> lanes[kColumns];
  for (std::size_t first = 0; first < nodes.size(); first += kColumns) {
    for (std::size_t lane = 0; lane < kColumns; ++lane) {
      if (nodes[first + lane] != kNone) list_children(nodes[first + lane], place_of);
      lanes[lane] = children_;
    }
    add_chunk(lanes);
  }
}

template <class PlaceOf>
void PartialColumns::list_children(NodeId u, const PlaceOf& place_of) {
  children_.clear();
  std::span<const NodeId> children = dag_.children(u);
  if (as_sets_) {
    sorted_.assign(children.begin(), children.end());
    std::sort(sorted_.begin(), sorted_.end());
    children = sorted_;
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (as_sets_ && i > 0 && children[i] == children[i - 1]) {
      children_.back().times += 1.0;
      continue;
    }
    // A child without a class matches nothing, but it still counts as a gap.
    Child child{class_of_[children[i]], 0, 1.0};
    if (child.label != kNone) {
      const LabelKind kind = kinds_[child.label];
      if (kind == LabelKind::general) child.place = place_of(children[i]);
      if (kind == LabelKind::simple) child.place = class_of_[dag_.children(children[i])[0]];
    }
    children_.push_back(child);
  }
}

}  // namespace filbert
