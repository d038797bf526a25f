// The exact factorisation of Delta:
//
//   Delta = Phi M Phi^T + diag(r)
//
// over the distinct nodes of a forest. A column of Phi is a class of fragments: all fragments that
// are rooted in exactly the same two or more distinct nodes, taken together; its mass is the sum of
// their weights. Fragments that only one distinct node has make up its residual r.
//
// A partial tree may be found in a node in several ways, of different weights: there Phi has
// values, and a class is all fragments whose values are the same in all nodes but for a common
// factor.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/large_array.hpp"
#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

template <class Real>
struct Factors {
  // Phi by columns: the nodes of each feature.
  std::vector<std::uint64_t> set_begin;  // by feature, one more than there are
  LargeArray<NodeId> nodes;              // of a feature
  LargeArray<Real> set_values;           // beside them, or empty: then all are 1
  std::vector<Real> mass;                // by feature
  std::vector<Real> residual;            // by node
  std::vector<Real> self;                // by node: Delta(u, u)

  // Phi by rows, once list_rows() was called.
  std::vector<std::uint64_t> begin;     // by node, one more than there are
  std::vector<std::uint32_t> features;  // of a node: ascending
  std::vector<Real> values;             // beside them, or empty: then all are 1

  // What happened on the way.
  std::uint32_t n_rounds = 0;
  std::uint64_t n_blocks_by_pairs = 0;
  std::uint64_t peak_bytes = 0;

  std::span<const std::uint32_t> features_of(NodeId u) const {
    return {features.data() + begin[u], begin[u + 1] - begin[u]};
  }
  std::span<const NodeId> nodes_of(std::uint32_t feature) const {
    return {nodes.data() + set_begin[feature], set_begin[feature + 1] - set_begin[feature]};
  }
};

inline constexpr std::uint8_t kBothSides = 3;

struct FactorLimits {
  // The walk over a block of n nodes with k children may take budget * n^2 * k steps before the
  // block is closed by pairs. 0 closes every block so.
  double budget = 1.0;
  std::uint64_t max_bytes = ~std::uint64_t{0};
  // In all, in steps of about a nanosecond.
  double max_work = std::numeric_limits<double>::infinity();
  // Partial trees. By node, where only Delta between nodes of one side and of the other is wanted:
  // 1, 2, or both. What nodes of one side alone share is then left out, and counts as a node's own.
  std::span<const std::uint8_t> sides = {};
};

// What a kernel is asked to factorise.
struct FactorTask {
  const Dag& dag;
  const FactorLimits& limits;
  std::vector<std::uint8_t> needed;  // by node: whether anybody asks for its Delta; empty: all
  int n_threads;                     // 1 at least
  const Watch& watch;
};

// Whether doubles hold Delta(u, u) for all nodes of the forest, and some more.
// Throws what factorize() throws.
bool fits_double(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
                 const Watch& watch);

// Throws OutOfMemory where the factors would exceed max_bytes, WorkExceeded where they take more
// than max_work, whatever the number of threads, and TooExpensive where a single pair of nodes
// would take more than the kernel's StepLimit.
template <class Real>
Factors<Real> factorize(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits,
                        int n_threads, const Watch& watch);

// Phi by rows, too.
template <class Real>
void list_rows(Factors<Real>& factors);

}  // namespace filbert
