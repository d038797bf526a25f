#include "forest/tree_order.hpp"

#include <cstdint>
#include <utility>

namespace filbert {

TreeOrder tree_order(const Dag& dag, std::span<const NodeId> roots) {
  TreeOrder order;
  order.nodes.reserve(dag.size());
  std::vector<std::uint8_t> met(dag.size(), 0);
  std::vector<std::uint8_t> met_label(dag.labels().size(), 0);
  std::vector<std::pair<NodeId, std::size_t>> path;  // with the number of its next child
  const auto meet = [&](NodeId u) {
    if (std::exchange(met[u], 1) != 0) return;
    if (std::exchange(met_label[dag.label(u)], 1) == 0) order.labels.push_back(dag.label(u));
    path.emplace_back(u, 0);
  };
  for (const NodeId root : roots) {
    meet(root);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < dag.arity(node)) {
        meet(dag.children(node)[next++]);
      } else {
        order.nodes.push_back(node);
        path.pop_back();
      }
    }
  }
  return order;
}

bool is_in_order(const Dag& dag, std::span<const NodeId> roots) {
  const TreeOrder order = tree_order(dag, roots);
  const auto ascend = [](const auto& numbers, std::size_t n) {
    if (numbers.size() != n) return false;
    for (std::size_t k = 0; k < n; ++k) {
      if (numbers[k] != k) return false;
    }
    return true;
  };
  return ascend(order.nodes, dag.size()) && ascend(order.labels, dag.labels().size());
}

}  // namespace filbert
