// Subset trees (STK, SST), Collins & Duffy 2002: a fragment has all children of a node or none. For
// two nodes of the same production
//
//   Delta(u, v) = lambda * prod_j (1 + Delta(u_j, v_j))      j: slots where both children are inner
//                                                            nodes of the same production
//
// (Severyn & Moschitti 2012, section 3.2). If leaves count, each pair of equal leaves adds lambda
// to the kernel.
#pragma once

#include "kernels/tree_kernel.hpp"

namespace filbert {

struct SubsetTree {
  double decay = 0.4;           // lambda
  bool include_leaves = false;  // leaves count as fragments

  static constexpr Matching matching = Matching::production;

  // Delta of two matching nodes without matching children.
  template <class Real>
  Real bare() const {
    return Real(decay);
  }
  // The factor of a slot whose children match: the fragment may end there.
  template <class Real>
  static Real factor(const Real& child) {
    return Real(1.0) + child;
  }
  // The value used as Delta of a leaf: its factor is 1.
  static constexpr double leaf = 0.0;
};

}  // namespace filbert
