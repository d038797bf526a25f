#include "rows/column_tile.hpp"

#include <algorithm>

namespace filbert {

ColumnTile::ColumnTile(const TreeKernel& kernel, const Dag& dag,
                       std::span<const std::uint32_t> class_of, std::uint32_t n_classes,
                       const PartialSides* partial)
    : aligns_children_(kernel.aligns_children()),
      dag_(dag),
      class_of_(class_of),
      column_of_(dag.size(), kNone),
      class_begin_(n_classes, 0),
      class_index_(n_classes, kNone),
      partial_sides_(partial) {
  if (partial == nullptr) return;
  partial_ = std::make_unique<PartialColumns>(*partial, dag, class_of);
  light_column_of_.assign(partial->features.n_features(), kNone);
}

void ColumnTile::load(const Occurrences& heavy, const Occurrences& light, std::size_t first_tree,
                      std::size_t last_tree) {
  unload();
  collect_nodes(heavy, first_tree, last_tree);
  if (partial_) pad_classes();
  index_classes();
  if (partial_) number_light(light, first_tree, last_tree);
  list_terms(heavy, light, first_tree, last_tree);
  if (aligns_children_) link_children();
  if (partial_) {
    partial_->load(nodes_, [&](NodeId u) { return column_of_[u] - class_begin_[class_of_[u]]; });
  }
}

void ColumnTile::unload() {
  for (const NodeId u : nodes_) {
    if (u == kNone) continue;
    column_of_[u] = kNone;
    class_index_[class_of_[u]] = kNone;
  }
  nodes_.clear();
  for (const std::uint32_t feature : light_) light_column_of_[feature] = kNone;
  light_.clear();
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
  if (partial_ && !partial_sides_->column_rank.empty()) {
    const std::vector<std::uint32_t>& rank = partial_sides_->column_rank;
    std::sort(nodes_.begin(), nodes_.end(), [&](NodeId a, NodeId b) { return rank[a] < rank[b]; });
    return;
  }
  std::sort(nodes_.begin(), nodes_.end(), [&](NodeId a, NodeId b) {
    return class_of_[a] != class_of_[b] ? class_of_[a] < class_of_[b] : a < b;
  });
}

// Pads each class to a multiple of eight columns.
void ColumnTile::pad_classes() {
  padded_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    padded_.push_back(nodes_[i]);
    const bool last = i + 1 == nodes_.size() || class_of_[nodes_[i + 1]] != class_of_[nodes_[i]];
    while (last && padded_.size() % kColumns != 0) padded_.push_back(kNone);
  }
  nodes_.swap(padded_);
}

void ColumnTile::index_classes() {
  class_width_.clear();
  for (std::uint32_t column = 0; column < nodes_.size(); ++column) {
    const NodeId u = nodes_[column];
    if (u == kNone) {
      ++class_width_.back();
      continue;
    }
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

void ColumnTile::number_light(const Occurrences& light, std::size_t first_tree,
                              std::size_t last_tree) {
  const auto n_columns = static_cast<std::uint32_t>(nodes_.size());
  for (std::size_t tree = first_tree; tree < last_tree; ++tree) {
    for (const std::uint32_t feature : light.nodes_of(tree)) {
      if (light_column_of_[feature] != kNone) continue;
      light_column_of_[feature] = n_columns + static_cast<std::uint32_t>(light_.size());
      light_.push_back(feature);
    }
  }
}

void ColumnTile::list_terms(const Occurrences& heavy, const Occurrences& light,
                            std::size_t first_tree, std::size_t last_tree) {
  terms_.clear();
  term_begin_.assign(1, 0);
  for (std::size_t tree = first_tree; tree < last_tree; ++tree) {
    const auto list = [&](const Occurrences& x, std::span<const std::uint32_t> column_of) {
      const auto nodes = x.nodes_of(tree);
      const auto counts = x.counts_of(tree);
      for (std::size_t i = 0; i < nodes.size(); ++i)
        terms_.push_back({column_of[nodes[i]], counts[i]});
    };
    list(heavy, column_of_);
    if (partial_) list(light, light_column_of_);
    term_begin_.push_back(terms_.size());
  }
}

void ColumnTile::link_children() {
  slot_base_.clear();
  slot_groups_.clear();
  groups_.clear();
  links_.clear();
  for (std::size_t first = 0; first < nodes_.size();) {
    const std::uint32_t cls = class_of_[nodes_[first]];
    const std::size_t last = first + width(cls);
    slot_base_.push_back(slot_groups_.size());
    const std::size_t arity = dag_.arity(nodes_[first]);  // the same for all nodes of a production
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

std::uint64_t ColumnTile::memory() const {
  const std::uint64_t words = column_of_.size() + 2 * class_begin_.size() + nodes_.size() +
                              padded_.size() + light_column_of_.size() + light_.size();
  return words * sizeof(std::uint32_t) + terms_.size() * sizeof(LaneTerm) +
         links_.size() * sizeof(Link) + (partial_ ? partial_->memory() : 0);
}

}  // namespace filbert
