#include "forest/label_sequences.hpp"

#include "base/errors.hpp"

namespace filbert {

LabelSequences label_sequences(const Dag& dag, std::span<const NodeId> roots, bool leaves_only) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  std::uint64_t size = 0;
  for (const NodeId root : roots) {
    const std::uint64_t more = dag.sizes()[root];
    if (more > kMost - size) {
      throw CapacityError("the trees have more than 2^32 nodes: pass fewer trees at a time");
    }
    size += more;
  }
  LabelSequences sequences;
  std::vector<NodeId> open;  // nodes to visit, the next one last
  for (const NodeId root : roots) {
    open.push_back(root);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (!leaves_only || dag.is_leaf(node)) sequences.labels.push_back(dag.label(node));
      const std::span<const NodeId> children = dag.children(node);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
    sequences.ends.push_back(sequences.labels.size());
  }
  return sequences;
}

}  // namespace filbert
