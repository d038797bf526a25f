#include "rows/row_groups.hpp"

#include <algorithm>

namespace filbert {

RowGroups group_rows(const Occurrences& x, std::size_t trees_per_group) {
  RowGroups groups;
  groups.trees_per_group = trees_per_group;
  groups.n_trees = x.n_trees();
  groups.entries.reserve(x.nodes.size());
  groups.group_begin.push_back(0);
  for (std::size_t first = 0; first < x.n_trees(); first += trees_per_group) {
    const std::size_t last = std::min(first + trees_per_group, x.n_trees());
    const std::size_t begin = groups.entries.size();
    for (std::size_t tree = first; tree < last; ++tree) {
      const auto nodes = x.nodes_of(tree);
      const auto counts = x.counts_of(tree);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        groups.entries.push_back({nodes[i], static_cast<std::uint32_t>(tree - first), counts[i]});
      }
    }
    if (last - first > 1) {
      std::sort(groups.entries.begin() + static_cast<std::ptrdiff_t>(begin), groups.entries.end(),
                [](const RowGroups::Entry& a, const RowGroups::Entry& b) {
                  return a.node != b.node ? a.node < b.node : a.lane < b.lane;
                });
    }
    groups.group_begin.push_back(groups.entries.size());
  }
  return groups;
}

}  // namespace filbert
