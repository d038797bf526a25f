// What the tests of the factors share: brute force on small forests, and how errors are measured.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "factors/factors.hpp"
#include "factors/tree_factors.hpp"
#include "reference_kernels.hpp"

namespace filbert {

inline Tree tree_at(const Dag& dag, NodeId u) {
  Tree tree{std::string(dag.labels().text(dag.label(u))), {}};
  for (const NodeId child : dag.children(u)) tree.children.push_back(tree_at(dag, child));
  return tree;
}

// Delta of all pairs of distinct nodes, by rows.
inline std::vector<double> reference_delta(const SomeKernel& spec, const Dag& dag) {
  std::vector<Tree> trees;
  for (NodeId u = 0; u < dag.size(); ++u) trees.push_back(tree_at(dag, u));
  std::vector<double> all;
  for (const Tree& a : trees) {
    for (const Tree& b : trees) all.push_back(delta(spec, a, b));
  }
  return all;
}

inline double plain(double x) { return x; }
inline double plain(const Wide& x) { return x.to_double(); }

// With the rows.
template <class Real>
Factors<Real> factorized(const SomeKernel& spec, const Dag& dag, double budget, int n_threads) {
  Factors<Real> factors = factorize<Real>(spec, dag, {budget}, n_threads, {});
  list_rows(factors);
  return factors;
}

// Phi M Phi^T + diag(r), by rows.
template <class Real>
std::vector<double> multiplied(const Factors<Real>& factors) {
  const std::size_t n = factors.residual.size();
  std::vector<double> product(n * n, 0.0);
  const auto value = [&](std::uint64_t k) {
    return factors.values.empty() ? 1.0L : static_cast<long double>(plain(factors.values[k]));
  };
  std::vector<long double> z(factors.mass.size(), 0.0L);
  for (NodeId u = 0; u < n; ++u) {
    for (std::uint64_t k = factors.begin[u]; k < factors.begin[u + 1]; ++k) {
      z[factors.features[k]] = value(k) * plain(factors.mass[factors.features[k]]);
    }
    for (NodeId v = 0; v < n; ++v) {
      long double sum = u == v ? plain(factors.residual[u]) : 0.0;
      for (std::uint64_t k = factors.begin[v]; k < factors.begin[v + 1]; ++k) {
        sum += value(k) * z[factors.features[k]];
      }
      product[u * n + v] = static_cast<double>(sum);
    }
    for (const std::uint32_t t : factors.features_of(u)) z[t] = 0.0L;
  }
  return product;
}

// The kernel matrix that the trees' factors stand for, by rows.
inline std::vector<double> multiplied(const TreeFactors& factors) {
  const std::size_t n = factors.n_trees();
  std::vector<double> product(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> z(factors.mass.size(), 0.0);
    factors.add(j, factors.scale[j], z.data());
    for (std::size_t i = 0; i < n; ++i) {
      product[i * n + j] =
          factors.scale[i] * factors.dot(i, z.data()) + (i == j ? factors.diagonal[i] : 0.0);
    }
  }
  return product;
}

// Near-duplicates: what the walk over a block has to cope with. Each tree has a few nodes of an
// earlier one relabelled.
inline void relabel_some(std::mt19937& random, Tree& tree) {
  if (below(random, 8) == 0) tree.label = std::string(1, static_cast<char>('A' + below(random, 3)));
  for (Tree& child : tree.children) relabel_some(random, child);
}

inline std::vector<Tree> near_duplicates(unsigned seed, std::size_t n, int depth) {
  std::mt19937 random(seed);
  std::vector<Tree> trees{random_tree(random, depth, 3)};
  while (trees.size() < n) {
    trees.push_back(trees[below(random, static_cast<std::uint32_t>(trees.size()))]);
    relabel_some(random, trees.back());
  }
  return trees;
}

}  // namespace filbert
