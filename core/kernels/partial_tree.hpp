// Partial trees (PTK), Moschitti 2006; Severyn & Moschitti 2012, Eq. 8: a fragment has any children
// of a node, in their order. For two nodes of the same label
//
//   Delta(u, v) = mu * (lambda^2 + sum over pairs of child subsequences of equal length of
//                                  weight * prod of the Deltas of the children they pair)
//
// with weight = lambda^(span on both sides), or lambda^(skipped children) for Penalty::gaps.
#pragma once

#include <cstdint>

#include "kernels/subsequence_sums.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The weight of a common child subsequence: by its whole span on both sides, or by the skipped
// children alone (SVM-light-TK, KeLP).
enum class Penalty { span, gaps };

struct PartialTree {
  double decay = 0.4;        // lambda
  double depth_decay = 0.4;  // mu
  Penalty penalty = Penalty::span;
  std::uint32_t max_subsequence = 0;  // 0: any length
  double max_steps = 1e9;             // refuse a pair of nodes above this

  // The decay of a child in a subsequence on one side.
  double step() const { return penalty == Penalty::span ? decay : 1.0; }
  // Delta of two nodes without children in common, the smallest Delta other than 0.
  double least() const { return depth_decay * decay * decay; }
  // Subsequences of length 1 have no order: equal children can be taken together.
  bool children_are_sets() const { return max_subsequence == 1; }
  StepLimit step_limit() const { return {max_steps, max_subsequence}; }
};

// The Deltas that need no recursion. With a = mu lambda^2: two terminal nodes of one label have
// Delta a. Two simple nodes (label_kinds.hpp) have Delta a, plus `pair` if their children are
// equal.
template <class Real>
struct LightWeights {
  explicit LightWeights(const PartialTree& kernel)
      : pay(kernel.penalty == Penalty::span ? Real(kernel.decay) * Real(kernel.decay) : Real(1.0)),
        single(Real(kernel.depth_decay) * (Real(kernel.decay) * Real(kernel.decay))),
        pair(Real(kernel.depth_decay) * pay * single) {}

  Real pay;     // for each pair of children in a common subsequence
  Real single;  // a
  Real pair;
};

// Delta of two nodes from the Deltas of their children.
template <class Real>
class PartialDelta {
 public:
  explicit PartialDelta(const PartialTree& kernel)
      : mu_(kernel.depth_decay), longest_(kernel.max_subsequence), sums_(Real(kernel.decay)) {}

  // `alone` is Delta without children in common; the other parameters are those of SubsequenceSums.
  template <class Match, class Paid>
  Real operator()(const Real& alone, std::size_t n, std::size_t m, const Match& match,
                  const Paid& paid, const StopToken& token) {
    return alone + mu_ * sums_.sum(n, m, longest_, match, paid, token);
  }

 private:
  const Real mu_;
  const std::size_t longest_;
  SubsequenceSums<Real> sums_;
};

}  // namespace filbert
