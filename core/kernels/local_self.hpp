// The kernel of one tree with itself, from the pairs of its own nodes.
#pragma once

#include <vector>

#include "forest/local_tree.hpp"
#include "kernels/spec.hpp"

namespace filbert {

// The pairs of distinct nodes of one production.
inline double n_own_pairs(const LocalProductions& productions) {
  std::vector<double> members(productions.example.size(), 0.0);
  double pairs = 0.0;
  for (const std::uint32_t p : productions.of) {
    if (p != kNone) pairs += 2.0 * members[p]++ + 1.0;
  }
  return pairs;
}

// Subset trees. All Deltas are kept, one square for each production: for trees of few pairs.
template <class Real>
Real self_subset_tree(const KernelSpec& spec, const LocalTree& tree,
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
      if (spec.include_leaves) total += count * count * Real(spec.decay);
      continue;
    }
    const auto own = tree.children_of(u);
    for (const std::uint32_t v : members[productions.of[u]]) {
      if (v > u) break;
      Real value(spec.decay);
      const auto other = tree.children_of(v);
      for (std::size_t j = 0; j < own.size(); ++j) {
        const bool match = productions.of[own[j]] == productions.of[other[j]];
        if (match && !tree.is_leaf(own[j])) value *= Real(1.0) + at(own[j], other[j]);
      }
      at(u, v) = at(v, u) = value;
      total += count * Real(v == u ? 1.0 : 2.0) * Real(tree.counts[v]) * value;
    }
  }
  return total;
}

// Subtrees: by node, lambda to the number of inner nodes, and 1 for a leaf.
template <class Real>
std::vector<Real> subtree_weights(const KernelSpec& spec, const LocalTree& tree) {
  std::vector<Real> weight(tree.size(), Real(1.0));
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) continue;
    weight[u] = Real(spec.decay);
    for (const std::uint32_t c : tree.children_of(u)) weight[u] *= weight[c];
  }
  return weight;
}

template <class Real>
Real self_subtree(const KernelSpec& spec, const LocalTree& tree) {
  const std::vector<Real> weight = subtree_weights<Real>(spec, tree);
  Real total(0.0);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const Real count(tree.counts[u]);
    if (!tree.is_leaf(u)) total += count * count * weight[u];
  }
  return total;
}

}  // namespace filbert
