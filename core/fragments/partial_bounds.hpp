// The most that a partial tree can weigh at a node, for the search to know when to give up.
//
// All ways in which all fragments occur together weigh, with c_q the children of v,
//
//   total(v) = sqrt(mu) (lambda + sum_q first total(c_q) R(v, q))
//   R(v, q)  = 1 + sum over q' > q of gap(q' - q) total(c_q') R(v, q')
//
// where first and gap are lambda and lambda^(q' - q), or with the penalty of gaps 1 and
// lambda^(q' - q - 1). R(v, q) is what a fragment whose last child at v is c_q can still gain
// there, over all fragments: more than any one of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "forest/dag.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// What a way in which a fragment occurs pays, when it gets another child.
struct PartialCosts {
  explicit PartialCosts(const PartialTree& kernel)
      : decay(kernel.decay),
        node(std::sqrt(kernel.depth_decay)),
        first(kernel.step()),
        next(kernel.step()) {}

  double decay;  // a node without children, and each child that is passed over
  double node;   // every node
  double first;  // the first child, in place of a node without children
  double next;   // another child, beside those that are passed over
};

class PartialBounds {
 public:
  PartialBounds(const PartialTree& kernel, const Dag& dag)
      : costs_(kernel), alone_(dag.size()), edge_begin_(dag.size() + 1, 0), after_(dag.n_edges()) {
    std::vector<double> total(dag.size());
    for (NodeId v = 0; v < dag.size(); ++v) {
      const auto children = dag.children(v);
      edge_begin_[v + 1] = edge_begin_[v] + children.size();
      double below = 0.0;  // all sequences of children
      double gain = 0.0;   // R - 1
      for (std::size_t q = children.size(); q-- > 0;) {
        after_[edge_begin_[v] + q] = 1.0 + gain;
        const double here = total[children[q]] * (1.0 + gain);
        below = limited(below + costs_.first * here);
        gain = limited(costs_.next * here + costs_.decay * gain);
      }
      alone_[v] = (costs_.decay + below) / costs_.decay;
      total[v] = limited(costs_.node * (costs_.decay + below));
    }
  }

  const PartialCosts& costs() const { return costs_; }
  // The factor that a fragment can gain below v, where v is the last of its nodes.
  double alone(NodeId v) const { return alone_[v]; }
  // And where the child at this position is the last that it has of v.
  double after(NodeId v, std::uint32_t position) const { return after_[edge_begin_[v] + position]; }

  static double limited(double x) { return x < kMost ? x : kMost; }

 private:
  static constexpr double kMost = 1e150;  // more is as good as no bound
  PartialCosts costs_;
  std::vector<double> alone_;              // by node
  std::vector<std::uint64_t> edge_begin_;  // by node, and one more
  std::vector<double> after_;              // by edge
};

}  // namespace filbert
