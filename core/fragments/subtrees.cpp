#include "fragments/subtrees.hpp"

#include <algorithm>
#include <cmath>

namespace filbert {

namespace {

// take(node, worth) for each subtree that occurs.
template <class Take>
void visit(const Subtree& kernel, const Dag& dag, const WeightedNodes& nodes, Criterion criterion,
           const Take& take) {
  Judge judge(nodes, criterion);
  const std::vector<double> values = subtree_values(kernel.decay, dag);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (nodes.frequency[u] > 0) take(u, judge.of_nodes({&u, 1}, values[u]));
  }
}

}  // namespace

std::vector<double> subtree_values(double decay, const Dag& dag) {
  std::vector<double> values(dag.size(), 1.0);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) continue;
    values[u] = std::sqrt(decay);
    for (const NodeId c : dag.children(u)) values[u] *= values[c];
  }
  return values;
}

double best_subtree(const Subtree& kernel, const Dag& dag, const WeightedNodes& nodes,
                    Criterion criterion, std::uint64_t min_frequency) {
  double best = 0.0;
  visit(kernel, dag, nodes, criterion, [&](NodeId, const Worth& worth) {
    if (worth.frequency >= min_frequency) best = std::max(best, std::fabs(worth.relevance));
  });
  return best;
}

MinedFragments mine_subtrees(const Subtree& kernel, const MiningTask& task) {
  Filter filter(task.threshold, task.min_frequency);
  std::vector<NodeId> found;
  std::vector<Worth> worths;
  std::uint64_t n_nodes = 0;
  visit(kernel, task.dag, task.nodes, task.criterion, [&](NodeId u, const Worth& worth) {
    if (filter.hopeless(worth) || !filter.keeps(worth)) return;
    found.push_back(u);
    worths.push_back(worth);
    const std::uint64_t most = MiningTask::kMostNodes * (task.max_fragments + 1);
    n_nodes += std::min(task.dag.sizes()[u], most);
    task.check_size(found.size(), n_nodes);
  });
  return in_order(task, worths, filter.largest_rejected(),
                  [&](std::size_t i, FlatFragment& out) { to_flat(task.dag, found[i], out); });
}

}  // namespace filbert
