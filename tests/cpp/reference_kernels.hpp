// Tree kernels as the papers define them, on plain trees, by recursion and by enumeration of child
// subsequences: slow, and for small trees only. And the core's kernels in a form that is easy to
// compare with them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows/matrix.hpp"
#include "some_kernel.hpp"
#include "trees.hpp"

namespace filbert {

// --- the reference

inline bool is_inner(const Tree& u) { return !u.children.empty(); }

inline bool same_production(const Tree& u, const Tree& v) {
  if (!is_inner(u) || u.label != v.label || u.children.size() != v.children.size()) return false;
  for (std::size_t j = 0; j < u.children.size(); ++j) {
    if (u.children[j].label != v.children[j].label) return false;
  }
  return true;
}

inline int count_inner(const Tree& u) {
  int n = is_inner(u) ? 1 : 0;
  for (const Tree& child : u.children) n += count_inner(child);
  return n;
}

inline double delta_subtree(const SomeKernel& spec, const Tree& u, const Tree& v) {
  return is_inner(u) && u == v ? std::pow(spec.decay, count_inner(u)) : 0.0;
}

inline double delta_subset(const SomeKernel& spec, const Tree& u, const Tree& v) {
  if (!same_production(u, v)) return 0.0;
  double delta = spec.decay;
  for (std::size_t j = 0; j < u.children.size(); ++j) {
    delta *= 1.0 + delta_subset(spec, u.children[j], v.children[j]);
  }
  return delta;
}

// A choice of children is a set of bits. From the first chosen to the last:
inline int span_of(std::uint32_t choice) {
  return static_cast<int>(std::bit_width(choice)) - std::countr_zero(choice);
}

inline double product_of_pairs(const std::vector<std::vector<double>>& deltas, std::uint32_t here,
                               std::uint32_t there) {
  double product = 1.0;
  for (; here != 0; here &= here - 1, there &= there - 1) {
    product *= deltas[static_cast<std::size_t>(std::countr_zero(here))]
                     [static_cast<std::size_t>(std::countr_zero(there))];
  }
  return product;
}

inline double delta_partial(const SomeKernel& spec, const Tree& u, const Tree& v) {
  if (u.label != v.label) return 0.0;
  std::vector<std::vector<double>> deltas(u.children.size());
  for (std::size_t i = 0; i < u.children.size(); ++i) {
    for (const Tree& y : v.children) deltas[i].push_back(delta_partial(spec, u.children[i], y));
  }
  double sum = spec.decay * spec.decay;
  for (std::uint32_t here = 1; here < 1u << u.children.size(); ++here) {
    for (std::uint32_t there = 1; there < 1u << v.children.size(); ++there) {
      const int length = std::popcount(here);
      if (length != std::popcount(there)) continue;
      if (spec.max_subsequence != 0 && std::cmp_greater(length, spec.max_subsequence)) continue;
      const int skipped = spec.penalty == Penalty::gaps ? 2 * length : 0;
      sum += std::pow(spec.decay, span_of(here) + span_of(there) - skipped) *
             product_of_pairs(deltas, here, there);
    }
  }
  return spec.depth_decay * sum;
}

inline double delta(const SomeKernel& spec, const Tree& u, const Tree& v) {
  if (spec.name == "subtree") return delta_subtree(spec, u, v);
  if (spec.name == "partial_tree") return delta_partial(spec, u, v);
  if (spec.include_leaves && !is_inner(u) && u == v) return spec.decay;
  return delta_subset(spec, u, v);
}

inline void list_nodes(const Tree& tree, std::vector<const Tree*>& nodes) {
  nodes.push_back(&tree);
  for (const Tree& child : tree.children) list_nodes(child, nodes);
}

inline double reference_kernel(const SomeKernel& spec, const Tree& a, const Tree& b) {
  std::vector<const Tree*> nodes_a, nodes_b;
  list_nodes(a, nodes_a);
  list_nodes(b, nodes_b);
  long double sum = 0.0L;  // a hundred thousand terms
  for (const Tree* u : nodes_a) {
    for (const Tree* v : nodes_b) sum += delta(spec, *u, *v);
  }
  return static_cast<double>(sum);
}

inline std::vector<double> reference_norms(const SomeKernel& spec, const std::vector<Tree>& trees) {
  std::vector<double> norms;
  for (const Tree& tree : trees) norms.push_back(std::sqrt(reference_kernel(spec, tree, tree)));
  return norms;
}

inline std::vector<double> reference_matrix(const SomeKernel& spec, const std::vector<Tree>& a,
                                            const std::vector<Tree>& b) {
  std::vector<double> k;
  for (const Tree& s : a) {
    for (const Tree& t : b) k.push_back(reference_kernel(spec, s, t));
  }
  return k;
}

// Divided by the norms of both trees; 0 where there is nothing to divide.
inline std::vector<double> normalized(std::vector<double> k, const std::vector<double>& norms_a,
                                      const std::vector<double>& norms_b) {
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (k[i] != 0.0) k[i] /= norms_a[i / norms_b.size()] * norms_b[i % norms_b.size()];
  }
  return k;
}

inline std::vector<double> reference_matrix(const SomeKernel& spec, const std::vector<Tree>& a,
                                            const std::vector<Tree>& b, bool normalize) {
  const std::vector<double> k = reference_matrix(spec, a, b);
  if (!normalize) return k;
  return normalized(k, reference_norms(spec, a), reference_norms(spec, b));
}

// --- the core

inline Trees trees_of(const Forest& forest) { return {*forest.dag, forest.roots}; }

// Entries that nobody writes stay NaN, which equals nothing.
inline constexpr double kUnwritten = std::numeric_limits<double>::quiet_NaN();

inline std::vector<double> matrix(const SomeKernel& spec, const Forest& a, const Forest& b,
                                  bool normalize, int n_threads = 2) {
  std::vector<double> out(a.roots.size() * b.roots.size(), kUnwritten);
  kernel_matrix(spec, trees_of(a), trees_of(b), normalize, n_threads, {}, out.data());
  return out;
}

inline std::vector<double> matrix(const SomeKernel& spec, const Forest& a, bool normalize,
                                  int n_threads = 2) {
  std::vector<double> out(a.roots.size() * a.roots.size(), kUnwritten);
  kernel_matrix(spec, trees_of(a), normalize, n_threads, {}, out.data());
  return out;
}

inline double one_value(const SomeKernel& spec, const Forest& forest, std::size_t i, std::size_t j,
                        bool normalize) {
  const Forest a{forest.dag, {forest.roots[i]}};
  const Forest b{forest.dag, {forest.roots[j]}};
  return matrix(spec, a, b, normalize, 1)[0];
}

// --- kernels to try

inline SomeKernel subtree(double decay) {
  SomeKernel spec;
  spec.name = "subtree";
  spec.decay = decay;
  return spec;
}

inline SomeKernel subset_tree(double decay, bool include_leaves = false) {
  SomeKernel spec;
  spec.decay = decay;
  spec.include_leaves = include_leaves;
  return spec;
}

inline SomeKernel partial_tree(double decay, double depth_decay, Penalty penalty = Penalty::span,
                               std::uint32_t max_subsequence = 0) {
  SomeKernel spec;
  spec.name = "partial_tree";
  spec.decay = decay;
  spec.depth_decay = depth_decay;
  spec.penalty = penalty;
  spec.max_subsequence = max_subsequence;
  return spec;
}

// One of each way through the code.
inline std::vector<SomeKernel> some_specs() {
  return {subtree(0.4),
          subset_tree(0.4),
          subset_tree(0.4, true),
          partial_tree(0.4, 0.6),
          partial_tree(0.4, 0.6, Penalty::gaps, 1),
          partial_tree(0.4, 0.6, Penalty::span, 2)};
}

inline std::vector<SomeKernel> many_specs() {
  std::vector<SomeKernel> specs{subtree(0.4), subtree(1.0)};
  for (const double decay : {0.05, 0.4, 1.0}) {
    specs.push_back(subset_tree(decay));
    specs.push_back(subset_tree(decay, true));
    for (const Penalty penalty : {Penalty::span, Penalty::gaps}) {
      for (const std::uint32_t longest : {0, 1, 2, 3, 4, 100}) {
        specs.push_back(partial_tree(decay, decay == 1.0 ? 1.0 : 0.7, penalty, longest));
      }
    }
  }
  return specs;
}

}  // namespace filbert
