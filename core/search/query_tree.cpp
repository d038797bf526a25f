#include "search/query_tree.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace filbert {

namespace {

// Beyond these, products and sums of doubles could lose digits or overflow.
constexpr double kLargestSelf = 1e200;
constexpr double kSmallestSelf = 1e-200;

}  // namespace

QueryTree query_tree(const KernelSpec& spec, const Dag& dag, NodeId root, std::size_t place,
                     const StopToken& token) {
  QueryTree query{dag, take_out(dag, root, place, token), {}, {}, {}};
  if (spec.chosen || !spec->has_search()) {
    query.measure.apart = true;
    return query;
  }
  if (spec->matching() == Matching::production) {
    query.productions = local_productions(dag, query.tree);
  }
  query.measure = spec->measure(query, token);
  const double self = query.measure.self;
  const bool narrow = self == 0.0 || (self < kLargestSelf && self > kSmallestSelf);
  query.measure.apart = query.measure.apart || !narrow;
  return query;
}

std::vector<LabelId> labels_in(const Segment& segment, const QueryTree& query) {
  std::unordered_map<LabelId, LabelId> known;
  std::vector<LabelId> labels;
  for (const NodeId u : query.tree.nodes) {
    const LabelId label = query.dag.label(u);
    const auto [entry, is_new] = known.try_emplace(label, kNone);
    if (is_new) entry->second = segment.find_label(query.dag.labels().text(label));
    labels.push_back(entry->second);
  }
  return labels;
}

std::vector<NodeId> nodes_in(const Segment& segment, const QueryTree& query,
                             std::span<const LabelId> labels) {
  const LocalTree& tree = query.tree;
  std::vector<NodeId> nodes(tree.size(), kNone);
  std::vector<std::uint32_t> height(tree.size(), 0);
  std::vector<NodeId> children;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    children.clear();
    bool known = labels[u] != kNone;
    for (const std::uint32_t c : tree.children_of(u)) {
      height[u] = std::max(height[u], height[c] + 1);
      known = known && nodes[c] != kNone;
      children.push_back(nodes[c]);
    }
    if (known) nodes[u] = segment.find_node(height[u], labels[u], children);
  }
  return nodes;
}

bool is_query(const Segment& segment, NodeId node, const QueryTree& query,
              std::span<const LabelId> labels) {
  const LocalTree& tree = query.tree;
  std::vector<NodeId> found(tree.size(), kNone);
  found.back() = node;
  for (std::uint32_t u = tree.size(); u-- > 0;) {  // parents before children
    if (found[u] >= segment.n_nodes()) Segment::damaged();
    const auto children = segment.children_of(found[u]);
    const auto own = tree.children_of(u);
    if (segment.node_labels[found[u]] != labels[u] || children.size() != own.size()) return false;
    for (std::size_t j = 0; j < own.size(); ++j) {
      // Equal subtrees of the query are one node, and so they are in the segment.
      const NodeId before = std::exchange(found[own[j]], children[j]);
      if (before != kNone && before != children[j]) return false;
    }
  }
  return true;
}

}  // namespace filbert
