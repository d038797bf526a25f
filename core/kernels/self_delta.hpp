// Delta of nodes with themselves, for kernels that multiply over the slots of children.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/dag.hpp"
#include "forest/local_tree.hpp"

namespace filbert {

inline std::span<const NodeId> children_of(const Dag& dag, NodeId u) { return dag.children(u); }
inline std::span<const std::uint32_t> children_of(const LocalTree& tree, std::uint32_t u) {
  return tree.children_of(u);
}

// By node, children first; a leaf has Kernel::leaf. `Tree` is a Dag or a LocalTree.
template <class Real, class Kernel, class Tree>
std::vector<Real> self_deltas(const Kernel& kernel, const Tree& tree) {
  std::vector<Real> self(tree.size(), Real(Kernel::leaf));
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) continue;
    Real delta = kernel.template bare<Real>();
    for (const std::uint32_t c : children_of(tree, u)) delta *= kernel.factor(self[c]);
    self[u] = delta;
  }
  return self;
}

// The kernel of one tree with itself. For subtrees, a node matches only itself.
template <class Real, class Kernel>
Real self_kernel_of_equal(const Kernel& kernel, const LocalTree& tree) {
  const std::vector<Real> self = self_deltas<Real>(kernel, tree);
  Real total(0.0);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const Real count(tree.counts[u]);
    if (!tree.is_leaf(u)) total += count * count * self[u];
  }
  return total;
}

// The number of pairs of distinct nodes of one production.
inline double n_own_pairs(const LocalProductions& productions) {
  std::vector<double> members(productions.example.size(), 0.0);
  double pairs = 0.0;
  for (const std::uint32_t p : productions.of) {
    if (p != kNone) pairs += 2.0 * members[p]++ + 1.0;
  }
  return pairs;
}

// By production. All Deltas are kept, one square per production: for trees with few pairs.
template <class Real, class Kernel>
Real self_kernel_of_productions(const Kernel& kernel, const LocalTree& tree,
                                const LocalProductions& productions) {
  const std::size_t n = productions.example.size();
  std::vector<std::vector<std::uint32_t>> members(n);
  std::vector<std::uint32_t> place(tree.size(), 0);  // among the members of its production
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) continue;
    std::vector<std::uint32_t>& own = members[productions.of[u]];
    place[u] = static_cast<std::uint32_t>(own.size());
    own.push_back(u);
  }
  std::vector<std::size_t> square(n + 1, 0);
  for (std::size_t p = 0; p < n; ++p) {
    square[p + 1] = square[p] + members[p].size() * members[p].size();
  }
  std::vector<Real> delta(square[n]);
  const auto at = [&](std::uint32_t u, std::uint32_t v) -> Real& {
    const std::uint32_t p = productions.of[u];
    return delta[square[p] + place[u] * members[p].size() + place[v]];
  };
  Real total(0.0);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const Real count(tree.counts[u]);
    if (tree.is_leaf(u)) {
      if (kernel.include_leaves) total += count * count * kernel.template bare<Real>();
      continue;
    }
    const auto own = tree.children_of(u);
    for (const std::uint32_t v : members[productions.of[u]]) {
      if (v > u) break;
      Real value = kernel.template bare<Real>();
      const auto other = tree.children_of(v);
      for (std::size_t j = 0; j < own.size(); ++j) {
        const bool match = productions.of[own[j]] == productions.of[other[j]];
        if (match && !tree.is_leaf(own[j])) value *= kernel.factor(at(own[j], other[j]));
      }
      at(u, v) = at(v, u) = value;
      total += count * Real(v == u ? 1.0 : 2.0) * Real(tree.counts[v]) * value;
    }
  }
  return total;
}

}  // namespace filbert
