// The exact factorisation of Delta:
//
//   Delta = Phi M Phi^T + diag(r)
//
// over the distinct nodes of a forest. A column of Phi is a class of fragments: all fragments that
// are rooted in exactly the same two or more distinct nodes, taken together; its mass is the sum of
// their weights. Fragments that only one distinct node has make up its residual r.
//
// A partial tree may occur in a node in several ways, with different weights. Then Phi has values,
// and a class consists of all fragments whose values in all nodes are the same up to a common
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

// What the features of a node u lack, if light fragments were dropped. For all nodes v of its
// label, at most the root of square(u) square(v) of Delta(u, v); and for the sum over all v of
// weight(v) Delta(u, v), at most row(u), see FactorLimits::weights.
struct Lost {
  double square = 0.0;
  double row = 0.0;

  bool any() const { return square > 0.0; }
  Lost& operator+=(const Lost& other) {
    square += other.square;
    row += other.row;
    return *this;
  }
};

template <class Real>
struct Factors {
  // Phi by columns: the nodes of each feature.
  std::vector<std::uint64_t> set_begin;  // one more entry than there are features
  LargeArray<NodeId> nodes;              // of a feature
  LargeArray<Real> set_values;           // beside them, or empty: then all are 1
  std::vector<Real> mass;                // by feature
  std::vector<Real> residual;            // by node
  std::vector<Real> self;                // by node: Delta(u, u)

  // Phi by rows, after a call of list_rows().
  std::vector<std::uint64_t> begin;     // one more entry than there are nodes
  std::vector<std::uint32_t> features;  // of a node: ascending
  std::vector<Real> values;             // beside them, or empty: then all are 1

  std::vector<Lost> lost;  // by node, if light fragments were dropped

  // With FactorLimits::any_order, where nodes are not numbered as in the forest: the number of each
  // node there.
  std::vector<NodeId> original;

  // Statistics of the factorisation.
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
  // The walk over a block of n nodes with k children may take budget * n^2 * k steps. After that
  // the block is closed by pairs. A budget of 0 closes every block by pairs.
  double budget = 1.0;
  std::uint64_t max_bytes = ~std::uint64_t{0};
  // The limit on the total work, in steps of about a nanosecond.
  double max_work = std::numeric_limits<double>::infinity();
  // For subset trees and partial trees, if only Delta between nodes of two sides is needed. By
  // node: 1, 2, or both bits. Fragments shared only by nodes of one side are then left out and
  // count as private to a node.
  std::span<const std::uint8_t> sides = {};
  // For partial trees, if not 0: fragments that weigh no more in any node are dropped, unless the
  // values need Wide. Factors::lost bounds the error.
  double theta = 0.0;
  // Then, by node: the weights of Lost::row, or empty for 0.
  std::span<const double> weights = {};
  // The nodes may be numbered in the order in which they are factorised. Nodes that share features
  // then lie together, which saves time in assemble().
  bool any_order = false;
};

// The input of a factorisation.
struct FactorTask {
  const Dag& dag;
  const FactorLimits& limits;
  std::vector<std::uint8_t> needed;  // by node: whether its Delta is needed; empty: all
  int n_threads;                     // at least 1
  const Watch& watch;
};

// Whether doubles hold Delta(u, u) for all nodes of the forest, with a margin. Throws what
// factorize() throws.
bool fits_double(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
                 const Watch& watch);

// Throws OutOfMemory if the factors would exceed max_bytes, WorkExceeded if they take more than
// max_work (for any number of threads), and TooExpensive if a single pair of nodes would take more
// than the kernel's StepLimit.
template <class Real>
Factors<Real> factorize(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits,
                        int n_threads, const Watch& watch);

// Adds Phi by rows.
template <class Real>
void list_rows(Factors<Real>& factors);

}  // namespace filbert
