#include "fragments/subset_miner.hpp"

#include <algorithm>
#include <cmath>

#include "base/power.hpp"

namespace filbert {

std::vector<SubsetFragment> subset_base(const SubsetTree& kernel, const Dag& dag,
                                        const WeightedNodes& nodes) {
  const Productions& productions = dag.productions();
  std::vector<SubsetFragment> base(productions.size());
  std::vector<SubsetFragment> leaves;
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (nodes.frequency[u] == 0) continue;
    if (!dag.is_leaf(u)) {
      base[productions.of(u)].members.push_back(u);
    } else if (kernel.include_leaves) {
      leaves.push_back({{kNone, dag.label(u)}, {u}});
    }
  }
  std::size_t n = 0;
  for (std::uint32_t p = 0; p < productions.size(); ++p) {
    if (base[p].members.empty()) continue;
    base[p].key.assign(1 + dag.arity(productions.example(p)), kNone);
    base[p].key[0] = p;
    if (n != p) base[n] = std::move(base[p]);
    ++n;
  }
  base.resize(n);
  std::move(leaves.begin(), leaves.end(), std::back_inserter(base));
  return base;
}

double subset_value(const SubsetTree& kernel, std::span<const std::uint32_t> key) {
  if (is_leaf_key(key)) return std::sqrt(kernel.decay);
  const auto n_bare = std::count(key.begin(), key.end(), kNone);
  return power(std::sqrt(kernel.decay), static_cast<std::uint32_t>(key.size() - n_bare));
}

double best_subset_base(const SubsetTree& kernel, const Dag& dag, const WeightedNodes& nodes,
                        Criterion criterion, std::uint64_t min_frequency) {
  Judge judge(nodes, criterion);
  double best = 0.0;
  for (const SubsetFragment& fragment : subset_base(kernel, dag, nodes)) {
    const Worth worth = judge.of_nodes(fragment.members, subset_value(kernel, fragment.key));
    if (worth.frequency >= min_frequency) best = std::max(best, std::fabs(worth.relevance));
  }
  return best;
}

}  // namespace filbert
