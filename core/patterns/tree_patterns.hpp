// The patterns of one tree after the other, with their counts and their values as features:
//
//   x_p = value(count_p) / family norm        K(a, b) = sum_p mass_p x_p(a) x_p(b)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/place_map.hpp"
#include "forest/dag.hpp"
#include "patterns/node_patterns.hpp"

namespace filbert {

// The memory of one thread. Sums are in the order of the tree's nodes.
class TreePatterns {
 public:
  explicit TreePatterns(const PatternTable& table) : table_(table) {}

  // Throws TooManyOccurrences with `number` as the index of the tree.
  void read(const Dag& dag, NodeId root, std::size_t number, const NodePatterns& nodes,
            const StopToken& token);

  std::size_t size() const { return counts_.size(); }
  PatternId pattern(std::size_t i) const { return patterns_.id(static_cast<std::uint32_t>(i)); }
  double count(std::size_t i) const { return counts_[i]; }
  double value(std::size_t i) const { return values_[i]; }
  double square() const { return square_; }  // K of the tree with itself

  // The distinct nodes of the tree, children before their parents.
  std::span<const NodeId> nodes() const { return order_; }
  std::uint32_t node_count(std::size_t i) const { return node_counts_[i]; }
  // The place of a pattern that the tree has.
  std::size_t place(PatternId pattern) const { return patterns_.find(pattern); }

 private:
  void count_nodes(const Dag& dag, NodeId root, std::size_t number, const StopToken& token);
  void set_values();

  const PatternTable& table_;
  PlaceMap seen_;                           // the tree's nodes
  std::vector<NodeId> order_;               // ascending
  std::vector<std::uint64_t> by_place_;     // occurrences, by place in seen_
  std::vector<std::uint32_t> node_counts_;  // by place in order_
  PlaceMap patterns_;
  std::vector<double> counts_;
  std::vector<double> values_;
  double square_ = 0.0;
};

}  // namespace filbert
