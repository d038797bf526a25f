#include "rows/partial_sides.hpp"

#include <algorithm>
#include <numeric>

namespace filbert {

namespace {

// By class: 0 for the class with the most nodes.
std::vector<std::uint32_t> rank_by_frequency(std::span<const std::uint32_t> class_of,
                                             std::size_t n_classes) {
  std::vector<std::uint32_t> count(n_classes, 0);
  for (const std::uint32_t cls : class_of) {
    if (cls != kNone) ++count[cls];
  }
  std::vector<std::uint32_t> order(n_classes);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return count[a] > count[b]; });
  std::vector<std::uint32_t> rank(n_classes);
  for (std::uint32_t i = 0; i < n_classes; ++i) rank[order[i]] = i;
  return rank;
}

}  // namespace

void PartialSides::rank_columns(const Dag& columns, std::span<const std::uint32_t> class_of) {
  const std::vector<std::uint32_t> frequency = rank_by_frequency(class_of, kinds.size());
  std::vector<NodeId> order;
  for (NodeId u = 0; u < columns.size(); ++u) {
    if (class_of[u] != kNone && kinds[class_of[u]] == LabelKind::general) order.push_back(u);
  }
  const auto child_rank = [&](NodeId child) {
    return class_of[child] == kNone ? kNone : frequency[class_of[child]];
  };
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    if (class_of[a] != class_of[b]) return class_of[a] < class_of[b];
    const auto x = columns.children(a);
    const auto y = columns.children(b);
    if (x.size() != y.size()) return x.size() < y.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (child_rank(x[i]) != child_rank(y[i])) return child_rank(x[i]) < child_rank(y[i]);
    }
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  column_rank.assign(columns.size(), kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i) column_rank[order[i]] = i;
}

bool PartialSides::describes(const Dag& dag, std::span<const std::uint32_t> class_of) const {
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (class_of[u] == kNone || kinds[class_of[u]] != LabelKind::simple) continue;
    if (dag.arity(u) > 1) return false;
  }
  return true;
}

}  // namespace filbert
