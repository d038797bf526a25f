#include "patterns/tree_patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.hpp"

namespace filbert {

void TreePatterns::read(const Dag& dag, NodeId root, std::size_t number, const NodePatterns& nodes,
                        const StopToken& token) {
  count_nodes(dag, root, number, token);
  patterns_.clear();
  counts_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i % 1024 == 1023) token.check();
    for (const NodePatterns::Entry& entry : nodes.of(order_[i])) {
      const std::uint32_t at = patterns_.insert(entry.pattern);
      if (at == counts_.size()) counts_.push_back(0.0);
      counts_[at] += static_cast<double>(node_counts_[i]) * static_cast<double>(entry.count);
    }
  }
  set_values();
}

void TreePatterns::count_nodes(const Dag& dag, NodeId root, std::size_t number,
                               const StopToken& token) {
  seen_.clear();
  seen_.insert(root);
  for (std::uint32_t next = 0; next < seen_.size(); ++next) {
    if (next % 1024 == 1023) token.check();
    for (const NodeId child : dag.children(seen_.id(next))) seen_.insert(child);
  }
  order_.clear();
  for (std::uint32_t i = 0; i < seen_.size(); ++i) order_.push_back(seen_.id(i));
  std::sort(order_.begin(), order_.end());
  by_place_.assign(order_.size(), 0);
  by_place_[0] = 1;
  node_counts_.resize(order_.size());
  for (std::size_t i = order_.size(); i-- > 0;) {  // parents before children
    const std::uint64_t count = by_place_[seen_.find(order_[i])];
    if (count >= kNone) throw TooManyOccurrences(number);
    node_counts_[i] = static_cast<std::uint32_t>(count);
    for (const NodeId child : dag.children(order_[i])) by_place_[seen_.find(child)] += count;
  }
}

void TreePatterns::set_values() {
  const PatternSpec& spec = table_.spec();
  std::array<double, kFamilies> squares{};
  values_.resize(counts_.size());
  if (spec.decay == 1.0 && !spec.family_norms) {  // all masses are equal
    double sum = 0.0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      values_[i] = spec.value(counts_[i]);
      sum += values_[i] * values_[i];
    }
    square_ = spec.unit() * sum;
    return;
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    values_[i] = spec.value(counts_[i]);
    const PatternId p = pattern(i);
    squares[static_cast<std::size_t>(table_.family(p))] += table_.mass(p) * values_[i] * values_[i];
  }
  square_ = 0.0;
  if (!spec.family_norms) {
    for (const double square : squares) square_ += square;
    return;
  }
  for (double& square : squares) {
    if (square > 0.0) square_ += 1.0;
    square = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;  // now a factor
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    values_[i] *= squares[static_cast<std::size_t>(table_.family(pattern(i)))];
  }
}

}  // namespace filbert
