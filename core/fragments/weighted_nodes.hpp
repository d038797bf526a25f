// The support vectors of one decision function as a forest of distinct nodes with weights:
//
//   f(u) = sum_i coef_i scale_i count_i(u)
//
// with scale_i one over the norm of tree i, or 1. A fragment's weight in the model depends only on
// f over the nodes at which the fragment is rooted (Pighin & Moschitti 2010, Eq. 6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

struct WeightedNodes {
  // By node id. The frequency is 0 for nodes at which the kernel has no fragment and for nodes of
  // trees with coefficient 0.
  std::vector<double> weight;            // f
  std::vector<std::uint64_t> frequency;  // occurrences in the support vectors

  // The support vectors that have a node, and which of them are positive; only if requested.
  std::vector<std::uint64_t> tree_begin;  // one more entry than there are nodes
  std::vector<std::uint32_t> trees;
  std::vector<bool> positive;  // by tree
  std::uint32_t n_positive = 0;

  std::uint32_t n_trees() const { return static_cast<std::uint32_t>(positive.size()); }
  std::span<const std::uint32_t> trees_of(NodeId u) const {
    return {trees.data() + tree_begin[u], tree_begin[u + 1] - tree_begin[u]};
  }
};

WeightedNodes weighted_nodes(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                             std::span<const double> coef, bool normalize, bool with_trees,
                             int n_threads, const Watch& watch);

// One over each tree's norm, 0 if the norm is 0 or out of range; 1 without normalisation.
std::vector<double> tree_scales(const KernelSpec& spec, const Dag& dag,
                                std::span<const NodeId> roots, bool normalize, int n_threads,
                                const Watch& watch);

// By node id; kNone if no fragment of the kernel is rooted there.
std::vector<std::uint32_t> fragment_roots(const KernelSpec& spec, const Dag& dag);

}  // namespace filbert
