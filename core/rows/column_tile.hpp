// A tile: the distinct nodes of some trees of the columns side, sorted by class, so that a row of
// Delta over the nodes of one class is contiguous. The tile also stores the properties of the
// columns' children that the recursions need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/lanes.hpp"
#include "rows/partial_columns.hpp"
#include "rows/partial_sides.hpp"

namespace filbert {

class ColumnTile {
 public:
  // Scratch memory is sized once for a forest and its classes. load() fills the tile, and unload()
  // resets only what load() wrote.
  ColumnTile(const TreeKernel& kernel, const Dag& dag, std::span<const std::uint32_t> class_of,
             std::uint32_t n_classes, const PartialSides* partial = nullptr);

  // `light` is used only for partial trees.
  void load(const Occurrences& heavy, const Occurrences& light, std::size_t first_tree,
            std::size_t last_tree);

  std::size_t n_columns() const { return nodes_.size(); }
  NodeId node(std::size_t column) const { return nodes_[column]; }

  // The columns of a class: [begin, begin + width). For partial trees both are multiples of eight;
  // the padding columns belong to no tree.
  std::uint32_t begin(std::uint32_t cls) const { return class_begin_[cls]; }
  std::uint32_t width(std::uint32_t cls) const {
    return cls == kNone || class_index_[cls] == kNone ? 0 : class_width_[class_index_[cls]];
  }

  // The trees of the tile as lists of columns with counts.
  std::span<const LaneTerm> terms(std::size_t tree_in_tile) const {
    return {terms_.data() + term_begin_[tree_in_tile],
            term_begin_[tree_in_tile + 1] - term_begin_[tree_in_tile]};
  }

  // For kernels that align children: the columns of class `cls` whose child in slot `slot` is an
  // inner node of class `child_cls`, and that child. Both are offsets within their class.
  struct Link {
    std::uint32_t parent;
    std::uint32_t child;
  };
  std::span<const Link> links(std::uint32_t cls, std::size_t slot, std::uint32_t child_cls) const;

  // The columns' children, for partial trees.
  const PartialColumns& partial() const { return *partial_; }

  // The columns after n_columns() stand for features of light nodes that occur in the tile's trees;
  // terms refer to them as well. kNone: no tree of the tile has the feature.
  std::uint32_t light_column(std::uint32_t feature) const { return light_column_of_[feature]; }
  std::size_t n_light() const { return light_.size(); }

  std::uint64_t memory() const;  // in bytes

 private:
  void unload();
  void collect_nodes(const Occurrences& x, std::size_t first_tree, std::size_t last_tree);
  void pad_classes();
  void index_classes();
  void list_terms(const Occurrences& heavy, const Occurrences& light, std::size_t first_tree,
                  std::size_t last_tree);
  void link_children();
  void number_light(const Occurrences& light, std::size_t first_tree, std::size_t last_tree);

  const bool aligns_children_;
  const Dag& dag_;
  std::span<const std::uint32_t> class_of_;

  std::vector<NodeId> nodes_;  // by column; kNone: padding
  std::vector<NodeId> padded_;
  std::vector<std::uint32_t> column_of_;    // by node; kNone outside the tile
  std::vector<std::uint32_t> class_begin_;  // by class
  std::vector<std::uint32_t> class_index_;  // by class: its index within the tile, or kNone
  std::vector<std::uint32_t> class_width_;  // by index within the tile
  std::vector<std::uint64_t> term_begin_;
  std::vector<LaneTerm> terms_;

  struct LinkGroup {
    std::uint32_t child_cls;
    std::uint32_t begin;
  };
  std::vector<std::uint64_t> slot_base_;    // by index within the tile: its first slot
  std::vector<std::uint64_t> slot_groups_;  // by slot: its first group
  std::vector<LinkGroup> groups_;
  std::vector<Link> links_;
  std::vector<std::pair<std::uint32_t, Link>> sorting_;

  const PartialSides* partial_sides_;
  std::unique_ptr<PartialColumns> partial_;
  std::vector<std::uint32_t> light_column_of_;  // by feature; kNone outside the tile
  std::vector<std::uint32_t> light_;            // features of the tile
};

}  // namespace filbert
