#include "fragments/weighted_nodes.hpp"

#include "forest/occurrences.hpp"
#include "forest/productions.hpp"
#include "kernels/chosen_symbols.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

// Turns the lists of nodes by tree into lists of trees by node.
void list_trees(const Occurrences& x, WeightedNodes& nodes) {
  std::vector<std::uint64_t>& begin = nodes.tree_begin;
  begin.assign(nodes.weight.size() + 2, 0);
  for (const NodeId u : x.nodes) ++begin[u + 2];
  for (std::size_t u = 2; u < begin.size(); ++u) begin[u] += begin[u - 1];
  nodes.trees.resize(x.nodes.size());
  for (std::size_t tree = 0; tree < x.n_trees(); ++tree) {
    for (const NodeId u : x.nodes_of(tree)) {
      nodes.trees[begin[u + 1]++] = static_cast<std::uint32_t>(tree);
    }
  }
  begin.pop_back();
}

}  // namespace

std::vector<std::uint32_t> fragment_roots(const KernelSpec& spec, const Dag& dag) {
  std::vector<std::uint32_t> roots(dag.size(), 0);
  if (!spec->counts_leaves()) {
    const std::span<const std::uint32_t> productions = dag.productions().of_nodes();
    roots.assign(productions.begin(), productions.end());
  }
  const std::vector<std::uint8_t> counted = counted_nodes(spec, dag);
  for (NodeId u = 0; u < counted.size(); ++u) {
    if (counted[u] == 0) roots[u] = kNone;
  }
  return roots;
}

std::vector<double> tree_scales(const KernelSpec& spec, const Dag& dag,
                                std::span<const NodeId> roots, bool normalize, int n_threads,
                                const Watch& watch) {
  std::vector<double> scales(roots.size(), 1.0);
  if (!normalize) return scales;
  const std::vector<Wide> selves = self_kernels(spec, {dag, roots}, n_threads, watch);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    scales[i] = selves[i].is_zero() ? 0.0 : (Wide(1.0) / sqrt(selves[i])).to_double();
  }
  return scales;
}

WeightedNodes weighted_nodes(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                             std::span<const double> coef, bool normalize, bool with_trees,
                             int n_threads, const Watch& watch) {
  std::vector<NodeId> support;
  std::vector<double> own_coef;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (coef[i] == 0.0) continue;
    support.push_back(roots[i]);
    own_coef.push_back(coef[i]);
  }
  const std::vector<double> scales = tree_scales(spec, dag, support, normalize, n_threads, watch);
  const Occurrences x =
      count_occurrences(dag, support, fragment_roots(spec, dag), n_threads, watch);
  WeightedNodes nodes;
  nodes.weight.assign(dag.size(), 0.0);
  nodes.frequency.assign(dag.size(), 0);
  for (std::size_t tree = 0; tree < support.size(); ++tree) {
    const double weight = own_coef[tree] * scales[tree];
    const std::span<const NodeId> ids = x.nodes_of(tree);
    const std::span<const std::uint32_t> counts = x.counts_of(tree);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      nodes.weight[ids[k]] += weight * counts[k];
      nodes.frequency[ids[k]] += counts[k];
    }
  }
  if (with_trees) {
    list_trees(x, nodes);
    for (const double c : own_coef) {
      nodes.positive.push_back(c > 0.0);
      nodes.n_positive += c > 0.0 ? 1 : 0;
    }
  }
  return nodes;
}

}  // namespace filbert
