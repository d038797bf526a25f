// A tile: the distinct nodes of some trees of the columns side, sorted by class, so that a row of
// Delta over the nodes of one class is one contiguous piece. What the recursions need to know of a
// column's children is laid out beside it.
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
  // Scratch is sized once for a forest and its classes; load() fills the tile and unload() takes
  // back only what load() wrote.
  ColumnTile(const TreeKernel& kernel, const Dag& dag, std::span<const std::uint32_t> class_of,
             std::uint32_t n_classes, const PartialSides* partial = nullptr);

  // `light` is for partial trees.
  void load(const Occurrences& heavy, const Occurrences& light, std::size_t first_tree,
            std::size_t last_tree);

  std::size_t n_columns() const { return nodes_.size(); }
  NodeId node(std::size_t column) const { return nodes_[column]; }

  // The columns of a class: [begin, begin + width). For partial trees both are multiples of eight;
  // the columns that this takes in addition are not those of any tree.
  std::uint32_t begin(std::uint32_t cls) const { return class_begin_[cls]; }
  std::uint32_t width(std::uint32_t cls) const {
    return cls == kNone || class_index_[cls] == kNone ? 0 : class_width_[class_index_[cls]];
  }

  // The trees of the tile as lists of columns with counts.
  std::span<const LaneTerm> terms(std::size_t tree_in_tile) const {
    return {terms_.data() + term_begin_[tree_in_tile],
            term_begin_[tree_in_tile + 1] - term_begin_[tree_in_tile]};
  }

  // Kernels that align children. Which columns of class `cls` have in child slot `slot` an inner
  // node of class `child_cls`, and which one: both as offsets within their class.
  struct Link {
    std::uint32_t parent;
    std::uint32_t child;
  };
  std::span<const Link> links(std::uint32_t cls, std::size_t slot, std::uint32_t child_cls) const;

  // Partial trees: the columns' children.
  const PartialColumns& partial() const { return *partial_; }

  // The columns after n_columns() stand for features of light nodes that occur in the tile's trees;
  // terms name them as well. kNone: none has it.
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

  std::vector<NodeId> nodes_;  // by column; kNone: only there to fill up
  std::vector<NodeId> padded_;
  std::vector<std::uint32_t> column_of_;    // by node; kNone outside the tile
  std::vector<std::uint32_t> class_begin_;  // by class
  std::vector<std::uint32_t> class_index_;  // by class: its number within the tile, or kNone
  std::vector<std::uint32_t> class_width_;  // by number within the tile
  std::vector<std::uint64_t> term_begin_;
  std::vector<LaneTerm> terms_;

  struct LinkGroup {
    std::uint32_t child_cls;
    std::uint32_t begin;
  };
  std::vector<std::uint64_t> slot_base_;    // by number within the tile: its first slot
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
