// Search by local patterns. The kernel is a product of sparse vectors, and each pattern has a list
// of the trees that have it. The lists of the query's patterns give the kernel with all trees:
//
//   K(q, t) = sum over the patterns p of q of mass_p x_p(q) x_p(t)
//
// A pattern is looked up by a hash of its content and then compared in full. The patterns of a
// query come in an order that depends on the query alone, and norms are sums in ascending order,
// so values do not depend on the forests that the trees are from.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "patterns/pattern_table.hpp"
#include "patterns/tree_patterns.hpp"
#include "search/segment_search.hpp"

namespace filbert {

struct PatternMeasure {
  double self;                                  // the kernel of the tree with itself
  std::array<double, kFamilies> family_factor;  // 1 / norm of the family, or 1
};

// `terms` is a buffer.
PatternMeasure measure_patterns(const PatternTable& table, const TreePatterns& tree,
                                std::array<std::vector<double>, kFamilies>& terms);

// The patterns of a query, with the weights mass_p x_p(q).
struct QueryPatterns {
  PatternTable table;
  std::vector<PatternId> patterns;
  std::vector<double> weights;
};

QueryTree pattern_query(const PatternSpec& spec, const Dag& dag, NodeId root, std::size_t place,
                        const StopToken& token);

class PatternSearch final : public SegmentSearch {
 public:
  PatternSearch(const PatternSpec& spec, const Segment& segment);

  void bound(const QueryTree& query, std::span<const LabelId> labels, const StopToken& token,
             std::span<double> upper) override;
  bool is_exact() const override { return true; }
  double value(std::uint32_t, const StopToken&) override { return 0.0; }

 private:
  void find_patterns(const PatternTable& table, const StopToken& token);
  std::uint32_t find(const PatternTable& table, PatternId p);
  double count_value(std::uint32_t count) const {
    return count < values_.size() ? values_[count] : spec_.value(count);
  }

  const PatternSpec spec_;
  const Segment& segment_;
  std::vector<double> values_;         // by count, for small counts
  std::vector<LabelId> labels_;        // by label of the query: that of the segment, or kNone
  std::vector<std::uint32_t> number_;  // by pattern of the query: that of the segment, or kNone
  std::vector<std::uint32_t> key_;
};

}  // namespace filbert
