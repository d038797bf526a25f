#include "rows/needed_pairs.hpp"

#include <algorithm>

namespace filbert {

std::vector<bool> few_chosen(const ChosenSymbols& chosen, const Dag& dag,
                             std::span<const NodeId> roots) {
  constexpr std::uint64_t kLarge = 1000;
  std::vector<bool> few(roots.size(), false);
  const auto is_large = [&](NodeId root) { return dag.sizes()[root] > kLarge; };
  if (std::none_of(roots.begin(), roots.end(), is_large)) return few;
  const std::vector<std::uint8_t> of = chosen.of_nodes(dag);
  std::vector<double> n_chosen(of.begin(), of.end());  // below each node; children come first
  for (NodeId u = 0; u < dag.size(); ++u) {
    for (const NodeId child : dag.children(u)) n_chosen[u] += n_chosen[child];
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double n = n_chosen[roots[i]];
    few[i] = is_large(roots[i]) && n * n <= static_cast<double>(dag.sizes()[roots[i]]);
  }
  return few;
}

}  // namespace filbert
