// Complete subtrees (ST), Vishwanathan & Smola 2003: a fragment is a node with everything below it.
// Only equal subtrees match, and Delta is lambda to the number of their nodes that have children:
//
//   Delta(u, u) = lambda * prod_j Delta(u_j, u_j)      where a leaf counts as 1
#pragma once

#include "kernels/tree_kernel.hpp"

namespace filbert {

struct Subtree {
  double decay = 0.4;  // lambda

  static constexpr Matching matching = Matching::subtree;
  static constexpr bool include_leaves = false;

  // As in SubsetTree.
  template <class Real>
  Real bare() const {
    return Real(decay);
  }
  template <class Real>
  static Real factor(const Real& child) {
    return child;
  }
  static constexpr double leaf = 1.0;
};

}  // namespace filbert
