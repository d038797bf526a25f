// Search by kernels that multiply over the slots of children (kernels/subset_tree.hpp).
//
// Nodes of one production have Delta `bare` if no children match. So
//
//   K(q, t) = bare * sum over productions of count_q count_t
//           + sum over the nodes u of q and v of t of Delta(u, v) - bare
//
// The first sum is one list of trees for each production. For the second, only nodes v are visited
// that have a child which matches u's child in the same slot: they are linked by production, slot
// and production of the child.
#pragma once

#include <utility>
#include <vector>

#include "search/segment_search.hpp"

namespace filbert {

template <class Formula>
class SlotSearch final : public SegmentSearch {
 public:
  SlotSearch(const Formula& formula, const Segment& segment)
      : formula_(formula), segment_(segment) {}

  void bound(const QueryTree& query, std::span<const LabelId> labels, const StopToken& token,
             std::span<double> upper) override {
    find_classes(query, labels);
    add_bare(query, labels, token, upper);
    rows_.clear();
    rows_.resize(query.tree.size());
    uses_.assign(query.tree.size(), 0);
    for (const std::uint32_t child : query.tree.children) ++uses_[child];
    for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
      if (class_[u] != kNone) {
        make_row(query.tree, u, token);
        add_row(u, query.tree.counts[u], token, upper);
      }
      for (const std::uint32_t child : query.tree.children_of(u)) {
        if (--uses_[child] == 0) rows_[child] = {};
      }
    }
    rows_.clear();
  }
  bool is_exact() const override { return true; }
  double value(std::uint32_t, const StopToken&) override { return 0.0; }

 private:
  // Delta(u, v) / bare by member v of u's production, where it is not 1.
  struct Row {
    std::vector<std::uint32_t> members;
    std::vector<double> ratios;
  };

  void find_classes(const QueryTree& query, std::span<const LabelId> labels) {
    const LocalProductions& productions = query.productions;
    std::vector<std::uint32_t> found;
    std::vector<LabelId> child_labels;
    for (const std::uint32_t u : productions.example) {
      child_labels.clear();
      bool known = labels[u] != kNone;
      for (const std::uint32_t c : query.tree.children_of(u)) {
        known = known && labels[c] != kNone;
        child_labels.push_back(labels[c]);
      }
      found.push_back(known ? segment_.find_production(labels[u], child_labels) : kNone);
    }
    class_.assign(query.tree.size(), kNone);
    for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
      if (productions.of[u] != kNone) class_[u] = found[productions.of[u]];
    }
    total_.assign(found.size(), 0.0);
    for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
      if (productions.of[u] != kNone) total_[productions.of[u]] += query.tree.counts[u];
    }
    found_ = std::move(found);
  }

  // Numbers of pairs are whole, so their sum has no rounding.
  void add_bare(const QueryTree& query, std::span<const LabelId> labels, const StopToken& token,
                std::span<double> upper) {
    const auto add = [&](std::size_t cls, double count) {
      const auto r = Segment::range(segment_.class_ends, cls, segment_.class_trees.size());
      for (std::uint64_t i = r.first; i < r.last; ++i) {
        const std::uint32_t t = segment_.class_trees[i];
        if (t >= upper.size()) Segment::damaged();
        upper[t] += count * segment_.class_counts[i];
      }
      token.check();
    };
    for (std::size_t p = 0; p < found_.size(); ++p) {
      if (found_[p] != kNone) add(found_[p], total_[p]);
    }
    if (formula_.include_leaves) {
      for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
        if (!query.tree.is_leaf(u) || labels[u] == kNone) continue;
        add(segment_.examples.size() + labels[u], query.tree.counts[u]);
      }
    }
    const double bare = formula_.template bare<double>();
    for (double& x : upper) x *= bare;
  }

  void make_row(const LocalTree& tree, std::uint32_t u, const StopToken& token) {
    const auto slots = Segment::range(segment_.slot_ends, class_[u], segment_.group_ends.size());
    const auto children = tree.children_of(u);
    if (slots.size() != children.size()) Segment::damaged();
    Row& row = rows_[u];
    for (std::size_t slot = 0; slot < children.size(); ++slot) {
      const std::uint32_t child = children[slot];
      if (class_[child] == kNone) continue;
      const auto links = links_of(slots.first + slot, class_[child]);
      if (links.size() == 0) continue;
      spread(rows_[child], n_members(class_[child]));
      multiply(row.members, n_members(class_[u]), links);
      for (const std::uint32_t member : rows_[child].members) below_[member] = 0.0;
      token.check();
    }
    for (const std::uint32_t member : row.members) {
      row.ratios.push_back(std::exchange(ratio_[member], 0.0));
    }
  }

  std::size_t n_members(std::uint32_t cls) const {
    return Segment::range(segment_.member_ends, cls, segment_.posting_ends.size()).size();
  }

  void spread(const Row& row, std::size_t n) {
    if (below_.size() < n) below_.resize(n, 0.0);
    n_below_ = n;
    for (std::size_t i = 0; i < row.members.size(); ++i) below_[row.members[i]] = row.ratios[i];
  }

  Segment::Range links_of(std::size_t slot, std::uint32_t child_cls) const {
    auto groups = Segment::range(segment_.group_ends, slot, segment_.group_classes.size());
    while (groups.first < groups.last) {
      const std::uint64_t middle = groups.first + groups.size() / 2;
      const std::uint32_t cls = segment_.group_classes[middle];
      if (cls == child_cls) {
        return Segment::range(segment_.link_ends, middle, segment_.link_parents.size());
      }
      (cls < child_cls ? groups.first : groups.last) = cls < child_cls ? middle + 1 : middle;
    }
    return {0, 0};
  }

  // Multiplies ratio_ by the factors of a slot; below_ has the ratios of the child.
  void multiply(std::vector<std::uint32_t>& touched, std::size_t n, Segment::Range links) {
    if (ratio_.size() < n) ratio_.resize(n, 0.0);
    const double bare = formula_.template bare<double>();
    const double flat = formula_.factor(bare);
    for (std::uint64_t i = links.first; i < links.last; ++i) {
      const std::uint32_t parent = segment_.link_parents[i];
      const std::uint32_t child = segment_.link_children[i];
      if (parent >= n || child >= n_below_) Segment::damaged();
      const double factor = below_[child] == 0.0 ? flat : formula_.factor(bare * below_[child]);
      double& ratio = ratio_[parent];
      if (ratio == 0.0) {
        touched.push_back(parent);
        ratio = factor;
      } else {
        ratio *= factor;
      }
    }
  }

  void add_row(std::uint32_t u, double count, const StopToken& token, std::span<double> upper) {
    const Row& row = rows_[u];
    const double weight = count * formula_.template bare<double>();
    const auto members =
        Segment::range(segment_.member_ends, class_[u], segment_.posting_ends.size());
    for (std::size_t k = 0; k < row.members.size(); ++k) {
      const double more = weight * (row.ratios[k] - 1.0);
      const auto r = Segment::range(segment_.posting_ends, members.first + row.members[k],
                                    segment_.posting_trees.size());
      for (std::uint64_t i = r.first; i < r.last; ++i) {
        const std::uint32_t t = segment_.posting_trees[i];
        if (t >= upper.size()) Segment::damaged();
        upper[t] += more * segment_.posting_counts[i];
      }
    }
    token.check();
  }

  const Formula formula_;
  const Segment& segment_;
  std::vector<std::uint32_t> found_;  // by production of the query: that of the segment
  std::vector<double> total_;         // by production of the query: its nodes
  std::vector<std::uint32_t> class_;  // by node of the query
  std::vector<Row> rows_;             // by node of the query
  std::vector<std::uint32_t> uses_;   // by node of the query: parents to come
  // By member of one production; 0 stands for 1. Zero between uses.
  std::vector<double> ratio_, below_;
  std::size_t n_below_ = 0;
};

}  // namespace filbert
