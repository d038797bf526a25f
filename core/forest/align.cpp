#include "forest/align.hpp"

#include "forest/builder.hpp"
#include "forest/productions.hpp"

namespace filbert {

std::vector<LabelId> map_labels(const Dag& from, const Dag& to) {
  std::vector<LabelId> map(from.labels().size());
  for (LabelId label = 0; label < map.size(); ++label) {
    map[label] = to.labels().find(from.labels().text(label));
  }
  return map;
}

std::vector<std::uint32_t> map_productions(const Dag& from, const Dag& to) {
  const std::vector<LabelId> label_in_to = map_labels(from, to);
  const Productions& productions = from.productions();
  std::vector<std::uint32_t> map(productions.size(), kNone);
  std::vector<LabelId> child_labels;
  for (std::uint32_t p = 0; p < map.size(); ++p) {
    const NodeId u = productions.example(p);
    const LabelId label = label_in_to[from.label(u)];
    bool known = label != kNone;
    child_labels.clear();
    for (const NodeId c : from.children(u)) {
      child_labels.push_back(label_in_to[from.label(c)]);
      known = known && child_labels.back() != kNone;
    }
    if (known) map[p] = to.productions().find(to, label, child_labels);
  }
  return map;
}

std::vector<NodeId> map_nodes(const Dag& from, const Dag& to, std::span<const NodeId> nodes) {
  const std::vector<LabelId> label_in_to = map_labels(from, to);
  std::vector<NodeId> map(from.size(), kNone);
  std::vector<NodeId> children;
  for (const NodeId u : nodes) {
    const LabelId label = label_in_to[from.label(u)];
    bool known = label != kNone;
    children.clear();
    for (const NodeId c : from.children(u)) {
      children.push_back(map[c]);
      known = known && map[c] != kNone;
    }
    if (known) map[u] = to.find(label, children);
  }
  return map;
}

std::vector<NodeId> find_roots(const Dag& from, std::span<const NodeId> roots, const Dag& to) {
  const std::vector<NodeId> map = map_nodes(from, to, reachable(from, roots));
  std::vector<NodeId> found;
  for (const NodeId root : roots) found.push_back(map[root]);
  return found;
}

std::shared_ptr<const Dag> merge(const Dag& a, std::span<NodeId> roots_a, const Dag& b,
                                 std::span<NodeId> roots_b) {
  const bool a_is_larger = a.size() >= b.size();
  const Dag& larger = a_is_larger ? a : b;
  const Dag& smaller = a_is_larger ? b : a;
  const std::span<NodeId> moved_roots = a_is_larger ? roots_b : roots_a;

  DagBuilder builder(larger);
  std::vector<LabelId> label_in_builder(smaller.labels().size(), kNone);
  std::vector<NodeId> renumbered(smaller.size(), kNone);
  std::vector<NodeId> children;
  for (const NodeId u : reachable(smaller, moved_roots)) {
    LabelId& label = label_in_builder[smaller.label(u)];
    if (label == kNone) label = builder.label(smaller.labels().text(smaller.label(u)));
    children.clear();
    for (const NodeId c : smaller.children(u)) children.push_back(renumbered[c]);
    renumbered[u] = builder.node(label, children);
  }
  for (NodeId& root : moved_roots) root = renumbered[root];
  return builder.finish();
}

}  // namespace filbert
