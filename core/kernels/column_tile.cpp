#include "kernels/column_tile.hpp"

#include <algorithm>

namespace filbert {

ColumnTile::ColumnTile(const KernelSpec& spec, const Dag& dag,
                       std::span<const std::uint32_t> class_of, std::uint32_t n_classes)
    : spec_(spec),
      dag_(dag),
      class_of_(class_of),
      column_of_(dag.size(), kNone),
      class_begin_(n_classes, 0),
      class_index_(n_classes, kNone) {}

void ColumnTile::load(const Occurrences& x, std::size_t first_tree, std::size_t last_tree) {
  unload();
  collect_nodes(x, first_tree, last_tree);
  index_classes();
  list_terms(x, first_tree, last_tree);
  if (spec_.kernel == TreeKernel::subset_tree) link_subset_children();
  if (spec_.kernel == TreeKernel::partial_tree) list_partial_children();
}

void ColumnTile::unload() {
  for (const NodeId u : nodes_) {
    column_of_[u] = kNone;
    class_index_[class_of_[u]] = kNone;
  }
  nodes_.clear();
}

void ColumnTile::collect_nodes(const Occurrences& x, std::size_t first_tree,
                               std::size_t last_tree) {
  for (std::size_t tree = first_tree; tree < last_tree; ++tree) {
    for (const NodeId u : x.nodes_of(tree)) {
      if (column_of_[u] != kNone) continue;
      column_of_[u] = 0;
      nodes_.push_back(u);
    }
  }
  std::sort(nodes_.begin(), nodes_.end(), [&](NodeId a, NodeId b) {
    return class_of_[a] != class_of_[b] ? class_of_[a] < class_of_[b] : a < b;
  });
}

void ColumnTile::index_classes() {
  class_width_.clear();
  for (std::uint32_t column = 0; column < nodes_.size(); ++column) {
    const NodeId u = nodes_[column];
    const std::uint32_t cls = class_of_[u];
    column_of_[u] = column;
    if (class_index_[cls] == kNone) {
      class_index_[cls] = static_cast<std::uint32_t>(class_width_.size());
      class_begin_[cls] = column;
      class_width_.push_back(0);
    }
    ++class_width_[class_index_[cls]];
  }
}

void ColumnTile::list_terms(const Occurrences& x, std::size_t first_tree, std::size_t last_tree) {
  terms_.clear();
  term_begin_.assign(1, 0);
  for (std::size_t tree = first_tree; tree < last_tree; ++tree) {
    const auto nodes = x.nodes_of(tree);
    const auto counts = x.counts_of(tree);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      terms_.push_back({column_of_[nodes[i]], counts[i]});
    term_begin_.push_back(terms_.size());
  }
}

void ColumnTile::link_subset_children() {
  slot_base_.clear();
  slot_groups_.clear();
  groups_.clear();
  links_.clear();
  for (std::size_t first = 0; first < nodes_.size();) {
    const std::uint32_t cls = class_of_[nodes_[first]];
    const std::size_t last = first + width(cls);
    slot_base_.push_back(slot_groups_.size());
    const std::size_t arity = dag_.arity(nodes_[first]);  // the same throughout a production
    for (std::size_t slot = 0; slot < arity; ++slot) {
      sorting_.clear();
      for (std::size_t column = first; column < last; ++column) {
        const NodeId child = dag_.children(nodes_[column])[slot];
        const std::uint32_t child_cls = class_of_[child];
        if (child_cls == kNone || dag_.is_leaf(child)) continue;
        sorting_.push_back({child_cls,
                            {static_cast<std::uint32_t>(column - first),
                             column_of_[child] - class_begin_[child_cls]}});
      }
      std::stable_sort(sorting_.begin(), sorting_.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      slot_groups_.push_back(groups_.size());
      for (const auto& [child_cls, link] : sorting_) {
        const bool new_group =
            groups_.size() == slot_groups_.back() || groups_.back().child_cls != child_cls;
        if (new_group) groups_.push_back({child_cls, static_cast<std::uint32_t>(links_.size())});
        links_.push_back(link);
      }
    }
    first = last;
  }
  slot_groups_.push_back(groups_.size());
  groups_.push_back({kNone, static_cast<std::uint32_t>(links_.size())});
}

std::span<const ColumnTile::Link> ColumnTile::links(std::uint32_t cls, std::size_t slot,
                                                    std::uint32_t child_cls) const {
  const std::uint64_t s = slot_base_[class_index_[cls]] + slot;
  const auto first = groups_.begin() + static_cast<std::ptrdiff_t>(slot_groups_[s]);
  const auto last = groups_.begin() + static_cast<std::ptrdiff_t>(slot_groups_[s + 1]);
  const auto group = std::lower_bound(
      first, last, child_cls,
      [](const LinkGroup& g, std::uint32_t wanted) { return g.child_cls < wanted; });
  if (group == last || group->child_cls != child_cls) return {};
  return {links_.data() + group->begin, (group + 1)->begin - group->begin};
}

void ColumnTile::list_partial_children() {
  const bool as_set = spec_.max_subsequence == 1;
  child_begin_.assign(1, 0);
  children_.clear();
  multiplicities_.clear();
  signatures_.assign(nodes_.size(), 0);
  for (std::size_t column = 0; column < nodes_.size(); ++column) {
    std::span<const NodeId> children = dag_.children(nodes_[column]);
    if (as_set) {
      sorted_children_.assign(children.begin(), children.end());
      std::sort(sorted_children_.begin(), sorted_children_.end());
      children = sorted_children_;
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      const NodeId child = children[i];
      const std::uint32_t cls = class_of_[child];
      if (as_set && i > 0 && children[i - 1] == child) {
        if (cls != kNone) multiplicities_.back() += 1.0;
        continue;
      }
      if (as_set && cls == kNone) continue;
      if (as_set) multiplicities_.push_back(1.0);
      // A child without a class matches nothing, but it still is a gap.
      children_.push_back({cls, cls == kNone ? 0 : column_of_[child] - class_begin_[cls]});
      if (cls != kNone) signatures_[column] |= signature_bit(cls);
    }
    child_begin_.push_back(children_.size());
  }
}

}  // namespace filbert
