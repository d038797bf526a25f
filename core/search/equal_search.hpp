// Search by kernels that match equal subtrees only: K(q, t) is the sum over the subtrees s of q of
// count_q(s) count_t(s) Delta(s, s), one list of trees for each s.
#pragma once

#include <vector>

#include "kernels/self_delta.hpp"
#include "search/segment_search.hpp"

namespace filbert {

template <class Formula>
class EqualSearch final : public SegmentSearch {
 public:
  EqualSearch(const Formula& formula, const Segment& segment)
      : formula_(formula), segment_(segment) {}

  void bound(const QueryTree& query, std::span<const LabelId> labels, const StopToken& token,
             std::span<double> upper) override {
    const LocalTree& tree = query.tree;
    const std::vector<NodeId> nodes = nodes_in(segment_, query, labels);
    const std::vector<double> self = self_deltas<double>(formula_, tree);
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      if (tree.is_leaf(u) || nodes[u] == kNone) continue;
      const double weight = tree.counts[u] * self[u];
      const auto r = Segment::range(segment_.class_ends, nodes[u], segment_.class_trees.size());
      for (std::uint64_t i = r.first; i < r.last; ++i) {
        const std::uint32_t t = segment_.class_trees[i];
        if (t >= upper.size()) Segment::damaged();
        upper[t] += weight * segment_.class_counts[i];
      }
      token.check();
    }
  }
  bool is_exact() const override { return true; }
  double value(std::uint32_t, const StopToken&) override { return 0.0; }

 private:
  const Formula formula_;
  const Segment& segment_;
};

}  // namespace filbert
