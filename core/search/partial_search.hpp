// Search by partial trees. Most of Delta are fragments of one node and of two: for nodes of one
// label, `single`, and `pair` for each pair of children of one label. What remains, R, is the
// product of two vectors of weighted fragments. So by Cauchy-Schwarz R(u, v) <= rest(u) rest(v),
// where rest(u) is the root of R(u, u), and summed up
//
//   K(q, t) <= sum over labels           of single * count_q count_t + rest_q rest_t
//            + sum over pairs of labels  of pair * count_q count_t
//
// where rest_t is the sum of the rests of t's nodes of the label. Each label and each pair of a
// label and a child's label has one list of trees.
#pragma once

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/step_limit.hpp"
#include "search/partial_pairs.hpp"
#include "search/segment_search.hpp"

namespace filbert {

// All pairs of inner nodes are in memory at a time: at most this many.
inline constexpr double kMostPairs = 1 << 24;

inline InnerTree inner_tree(const LocalTree& tree, std::span<const LabelId> labels) {
  InnerTree inner;
  std::vector<std::uint32_t> index(tree.size(), kNone);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) continue;
    for (const std::uint32_t c : tree.children_of(u)) inner.add_child(labels[c], index[c]);
    index[u] = static_cast<std::uint32_t>(inner.size());
    inner.add_node(labels[u], tree.counts[u]);
  }
  return inner;
}

inline TreeMeasure measure_partial(const PartialTree& kernel, const QueryTree& query,
                                   const StopToken& token) {
  const LocalTree& tree = query.tree;
  std::unordered_map<LabelId, std::uint32_t> number;
  std::vector<LabelId> labels;
  std::vector<double> count;
  std::vector<std::size_t> most;
  std::vector<LabelId> own;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const LabelId label = query.dag.label(tree.nodes[u]);
    const auto [entry, is_new] =
        number.try_emplace(label, static_cast<std::uint32_t>(count.size()));
    if (is_new) {
      count.push_back(0.0);
      most.push_back(0);
      own.push_back(label);
    }
    labels.push_back(entry->second);
    count[entry->second] += tree.counts[u];
    most[entry->second] = std::max(most[entry->second], tree.children_of(u).size());
  }
  const StepLimit limit = kernel.step_limit();
  for (std::size_t i = 0; i < most.size(); ++i) {
    const double steps = limit.steps(most[i], most[i]);
    if (steps > limit.most) {
      refuse_steps(query.dag.labels().text(own[i]), most[i], most[i], steps);
    }
  }
  TreeMeasure measure;
  const InnerTree inner = inner_tree(tree, labels);
  PartialPairs pairs(kernel);
  pairs.load(inner, count.size());
  if (pairs.n_pairs(inner) > kMostPairs) {
    measure.apart = true;
    return measure;
  }
  std::vector<double> more;
  measure.self = pairs.excess(inner, token, &more);
  double n_equal = 0.0;
  for (const double n : count) n_equal += n * n;
  measure.self += kernel.least() * n_equal;
  const double pair = LightWeights<double>(kernel).pair;
  std::vector<double> times(count.size(), 0.0);  // by label, of the children of one node
  auto next = more.begin();
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    double pairs_of_children = 0.0;
    for (const std::uint32_t c : tree.children_of(u)) {
      pairs_of_children += 2.0 * times[labels[c]]++ + 1.0;
    }
    for (const std::uint32_t c : tree.children_of(u)) times[labels[c]] = 0.0;
    const double rest = tree.is_leaf(u) ? 0.0 : *next++ - pair * pairs_of_children;
    // Rounding of the difference must not make the bound too small.
    const double rounding = 1e-12 * pair * pairs_of_children;
    measure.rest.push_back(std::sqrt(std::max(0.0, rest) + rounding));
  }
  return measure;
}

class PartialSearch final : public SegmentSearch {
 public:
  PartialSearch(const PartialTree& kernel, const Segment& segment)
      : kernel_(kernel), segment_(segment), pairs_(kernel), index_(segment.n_nodes(), kNone) {}

  void bound(const QueryTree& query, std::span<const LabelId> labels, const StopToken& token,
             std::span<double> upper) override {
    check_steps_of(query.tree, labels);
    inner_ = inner_tree(query.tree, labels);
    pairs_.load(inner_, segment_.n_labels());
    sum_by_label(query, labels);
    equal_.assign(upper.size(), 0.0);
    const double pair = LightWeights<double>(kernel_).pair;
    for (const auto& [cls, count] : pair_counts_) {
      const auto r = Segment::range(segment_.class_ends, cls, segment_.class_trees.size());
      const double weight = pair * count;
      for (std::uint64_t i = r.first; i < r.last; ++i) {
        const std::uint32_t t = segment_.class_trees[i];
        if (t >= upper.size()) Segment::damaged();
        upper[t] += weight * segment_.class_counts[i];
      }
      token.check();
    }
    for (const LabelSum& sum : sums_) {
      const auto r = Segment::range(segment_.class_ends, sum.label, segment_.class_rests.size());
      for (std::uint64_t i = r.first; i < r.last; ++i) {
        const std::uint32_t t = segment_.class_trees[i];
        if (t >= upper.size()) Segment::damaged();
        equal_[t] += sum.count * segment_.class_counts[i];
        upper[t] += sum.rest * static_cast<double>(segment_.class_rests[i]);
      }
      token.check();
    }
    for (std::size_t t = 0; t < upper.size(); ++t) upper[t] += kernel_.least() * equal_[t];
  }
  bool is_exact() const override { return false; }

  double value(std::uint32_t tree, const StopToken& token) override {
    const auto r = Segment::range(segment_.inner_ends, tree, segment_.inner_nodes.size());
    other_.clear();
    for (std::uint64_t i = r.first; i < r.last; ++i) {
      const NodeId u = segment_.inner_nodes[i];
      for (const NodeId child : segment_.children_of(u)) {
        if (child >= u) Segment::damaged();
        other_.add_child(segment_.node_labels[child], index_[child]);
      }
      index_[u] = static_cast<std::uint32_t>(other_.size());
      other_.add_node(segment_.node_labels[u], segment_.inner_counts[i]);
    }
    for (std::uint64_t i = r.first; i < r.last; ++i) index_[segment_.inner_nodes[i]] = kNone;
    return kernel_.least() * equal_[tree] + pairs_.excess(other_, token);
  }

 private:
  struct LabelSum {
    LabelId label;
    double count, rest;
  };

  void sum_by_label(const QueryTree& query, std::span<const LabelId> labels) {
    sums_.clear();
    std::unordered_map<LabelId, std::size_t> place;
    for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
      if (labels[u] == kNone) continue;
      const auto [entry, is_new] = place.try_emplace(labels[u], sums_.size());
      if (is_new) sums_.push_back({labels[u], 0.0, 0.0});
      LabelSum& sum = sums_[entry->second];
      sum.count += query.tree.counts[u];
      sum.rest += query.tree.counts[u] * query.measure.rest[u];
    }
    count_pairs(query.tree, labels);
  }

  void count_pairs(const LocalTree& tree, std::span<const LabelId> labels) {
    std::vector<std::pair<std::uint64_t, double>> found;
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      for (const std::uint32_t c : tree.children_of(u)) {
        if (labels[u] == kNone || labels[c] == kNone) continue;
        found.emplace_back(label_pair(labels[u], labels[c]), tree.counts[u]);
      }
    }
    std::sort(found.begin(), found.end());
    pair_counts_.clear();
    const auto known = segment_.label_pairs;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0 && found[i].first == found[i - 1].first) {
        if (was_known_) pair_counts_.back().second += found[i].second;
        continue;
      }
      const auto place = std::lower_bound(known.begin(), known.end(), found[i].first);
      was_known_ = place != known.end() && *place == found[i].first;
      if (!was_known_) continue;
      const auto rank = static_cast<std::size_t>(place - known.begin());
      pair_counts_.emplace_back(segment_.n_labels() + rank, found[i].second);
    }
  }

  void check_steps_of(const LocalTree& tree, std::span<const LabelId> labels) const {
    const StepLimit limit = kernel_.step_limit();
    if (segment_.most_children.size() != segment_.n_labels()) Segment::damaged();
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      if (labels[u] == kNone) continue;
      const std::size_t n = tree.children_of(u).size();
      const std::size_t m = segment_.most_children[labels[u]];
      if (limit.steps(n, m) > limit.most) {
        refuse_steps(segment_.label(labels[u]), n, m, limit.steps(n, m));
      }
    }
  }

  const PartialTree kernel_;
  const Segment& segment_;
  PartialPairs pairs_;
  InnerTree inner_, other_;
  std::vector<LabelSum> sums_;
  std::vector<std::pair<std::size_t, double>> pair_counts_;  // by class
  bool was_known_ = false;
  std::vector<double> equal_;         // by tree: pairs of nodes of one label
  std::vector<std::uint32_t> index_;  // by node of the segment
};

}  // namespace filbert
