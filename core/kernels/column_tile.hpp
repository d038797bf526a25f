// A tile: the distinct nodes of some trees of the columns side, sorted by class, so that a row of
// Delta over the nodes of one class is one contiguous piece. What the recursions need to know of a
// column's children is laid out beside it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/spec.hpp"

namespace filbert {

class ColumnTile {
 public:
  // Scratch is sized once for a forest and its classes; load() fills the tile and unload() takes
  // back only what load() wrote.
  ColumnTile(const KernelSpec& spec, const Dag& dag, std::span<const std::uint32_t> class_of,
             std::uint32_t n_classes);

  void load(const Occurrences& x, std::size_t first_tree, std::size_t last_tree);

  std::size_t n_columns() const { return nodes_.size(); }
  NodeId node(std::size_t column) const { return nodes_[column]; }

  // The columns of a class: [begin, begin + width).
  std::uint32_t begin(std::uint32_t cls) const { return class_begin_[cls]; }
  std::uint32_t width(std::uint32_t cls) const {
    return cls == kNone || class_index_[cls] == kNone ? 0 : class_width_[class_index_[cls]];
  }

  // The trees of the tile as lists of columns with counts.
  struct Term {
    std::uint32_t column;
    std::uint32_t count;
  };
  std::span<const Term> terms(std::size_t tree_in_tile) const {
    return {terms_.data() + term_begin_[tree_in_tile],
            term_begin_[tree_in_tile + 1] - term_begin_[tree_in_tile]};
  }

  // Subset trees. Which columns of class `cls` have in child slot `slot` an inner node of class
  // `child_cls`, and which one: both as offsets within their class.
  struct Link {
    std::uint32_t parent;
    std::uint32_t child;
  };
  std::span<const Link> links(std::uint32_t cls, std::size_t slot, std::uint32_t child_cls) const;

  // Partial trees. The children of a column, in order: their classes, their offsets within them,
  // and a bit set of their classes. Where subsequences have length 1 order does not matter, and
  // equal children are listed once with a multiplicity.
  struct Child {
    std::uint32_t cls;
    std::uint32_t offset;
  };
  std::span<const Child> children(std::size_t column) const {
    return {children_.data() + child_begin_[column],
            child_begin_[column + 1] - child_begin_[column]};
  }
  std::span<const double> multiplicities(std::size_t column) const {
    return {multiplicities_.data() + child_begin_[column],
            child_begin_[column + 1] - child_begin_[column]};
  }
  std::uint64_t signature(std::size_t column) const { return signatures_[column]; }
  static std::uint64_t signature_bit(std::uint32_t cls) {
    return std::uint64_t{1} << ((cls * 0x9e3779b1u) >> 26);
  }

 private:
  void unload();
  void collect_nodes(const Occurrences& x, std::size_t first_tree, std::size_t last_tree);
  void index_classes();
  void list_terms(const Occurrences& x, std::size_t first_tree, std::size_t last_tree);
  void link_subset_children();
  void list_partial_children();

  const KernelSpec& spec_;
  const Dag& dag_;
  std::span<const std::uint32_t> class_of_;

  std::vector<NodeId> nodes_;               // by column
  std::vector<std::uint32_t> column_of_;    // by node; kNone outside the tile
  std::vector<std::uint32_t> class_begin_;  // by class
  std::vector<std::uint32_t> class_index_;  // by class: its number within the tile, or kNone
  std::vector<std::uint32_t> class_width_;  // by number within the tile
  std::vector<std::uint64_t> term_begin_;
  std::vector<Term> terms_;

  struct LinkGroup {
    std::uint32_t child_cls;
    std::uint32_t begin;
  };
  std::vector<std::uint64_t> slot_base_;    // by number within the tile: its first slot
  std::vector<std::uint64_t> slot_groups_;  // by slot: its first group
  std::vector<LinkGroup> groups_;
  std::vector<Link> links_;
  std::vector<std::pair<std::uint32_t, Link>> sorting_;

  std::vector<std::uint64_t> child_begin_;
  std::vector<Child> children_;
  std::vector<double> multiplicities_;
  std::vector<std::uint64_t> signatures_;
  std::vector<NodeId> sorted_children_;
};

}  // namespace filbert
