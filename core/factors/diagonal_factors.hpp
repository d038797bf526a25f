// The factors of kernels for which only equal subtrees match: Delta is diagonal, and every distinct
// subtree has exactly one fragment, which no other subtree has.
#pragma once

#include <vector>

#include "factors/factors.hpp"
#include "kernels/self_delta.hpp"

namespace filbert {

template <class Real, class Kernel>
Factors<Real> diagonal_factors(const Kernel& kernel, const Dag& dag) {
  Factors<Real> factors;
  factors.set_begin.assign(1, 0);
  factors.self = self_deltas<Real>(kernel, dag);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) factors.self[u] = Real(0.0);
  }
  factors.residual = factors.self;
  return factors;
}

}  // namespace filbert
