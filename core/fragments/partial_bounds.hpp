// Upper bounds for the weight of a partial tree at a node, by which the search is pruned.
//
// The total weight of all occurrences of all fragments is, with c_q the children of v,
//
//   total(v) = sqrt(mu) (lambda + sum_q first total(c_q) R(v, q))
//   R(v, q)  = 1 + sum over q' > q of gap(q' - q) total(c_q') R(v, q')
//
// where first and gap are lambda and lambda^(q' - q). With the penalty of gaps they are 1 and
// lambda^(q' - q - 1). R(v, q) is the factor that a fragment whose last child at v is c_q can still
// gain there, summed over all fragments, so it is a bound for each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "forest/dag.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// The factors for an occurrence of a fragment that gets another child.
struct PartialCosts {
  explicit PartialCosts(const PartialTree& kernel)
      : decay(kernel.decay),
        node(std::sqrt(kernel.depth_decay)),
        first(kernel.step()),
        next(kernel.step()) {}

  double decay;  // a node without children, and each skipped child
  double node;   // every node
  double first;  // the first child, instead of a node without children
  double next;   // another child, beside skipped children
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
  // The factor that a fragment can gain below v, if v is the last of its nodes.
  double alone(NodeId v) const { return alone_[v]; }
  // The same if the child at this position is the fragment's last child of v.
  double after(NodeId v, std::uint32_t position) const { return after_[edge_begin_[v] + position]; }

  static double limited(double x) { return x < kMost ? x : kMost; }

 private:
  static constexpr double kMost = 1e150;  // a larger bound is useless
  PartialCosts costs_;
  std::vector<double> alone_;              // by node
  std::vector<std::uint64_t> edge_begin_;  // one more entry than there are nodes
  std::vector<double> after_;              // by edge
};

}  // namespace filbert
