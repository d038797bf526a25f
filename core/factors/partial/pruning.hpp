// Factors of partial trees without their light fragments. This is the state that all blocks share;
// light_classes.hpp decides what is light. docs/certified-factors.md has the bounds and their
// proofs.
//
// lost(u) bounds what the features of a node lack: for all nodes u and v of one label,
//
//   |Delta(u, v) - what the features give| <= sqrt(lost(u) lost(v))
//
// Most pairs of nodes lack nothing in common, so that the sum over many nodes v is far below the
// sum of these bounds. row(u) bounds it too: each node v has a weight, and what is dropped is added
// to the rows of its nodes with the weights of its nodes.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.hpp"
#include "factors/factors.hpp"
#include "forest/dag.hpp"

namespace filbert {

inline double as_double(double x) { return x; }
inline double as_double(const Wide& x) { return x.to_double(); }

// A node's place among its siblings limits what a sequence of children can still grow to. By child
// of a node: the norm of all sequences on this side of it, the empty one included.
struct Reach {
  double left, right;  // beyond float in wide nodes if decays are 1
};

class Pruning {
 public:
  // Fragments that weigh at most `theta` in all nodes are dropped. 0: none.
  // `weights` are of the nodes, or empty for 0.
  Pruning(const Dag& dag, double theta, std::span<const double> weights) : theta_(theta) {
    if (!on()) return;
    lost_.assign(dag.size(), {});
    weights_.assign(weights.begin(), weights.end());
    weights_.resize(dag.size(), 0.0);
    touched_.assign(dag.size(), 0);
    closed_.assign(dag.size(), 1);
    child_begin_.assign(1, 0);
    for (NodeId u = 0; u < dag.size(); ++u) {
      child_begin_.push_back(child_begin_.back() + dag.arity(u));
    }
    reach_.resize(child_begin_.back());
  }

  bool on() const { return theta_ > 0.0; }
  double theta() const { return theta_; }

  std::span<Reach> reach(NodeId u) {
    return {reach_.data() + child_begin_[u], child_begin_[u + 1] - child_begin_[u]};
  }
  std::span<const Reach> reach(NodeId u) const {
    return {reach_.data() + child_begin_[u], child_begin_[u + 1] - child_begin_[u]};
  }

  // Whether a node or a descendant lost something: then features of later rounds may be heavier
  // than those of this round.
  bool touched(NodeId u) const { return touched_[u] != 0; }
  // Whether a node gets no features any more.
  bool closed(NodeId u) const { return closed_[u] != 0; }

  void open(NodeId u) {
    if (on()) closed_[u] = 0;
  }
  void close(NodeId u) { closed_[u] = 1; }
  void touch(NodeId u) { touched_[u] = 1; }
  void lose(NodeId u, const Lost& lost) { lost_[u] += lost; }

  double weight(NodeId u) const { return weights_[u]; }

  // When the reaches are known: what a child lacks, its parents lack too.
  void hand_down_weights(const Dag& dag, double mu, double step) {
    const double factor = std::sqrt(mu) * step;
    for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
      const auto children = dag.children(static_cast<NodeId>(u));
      const auto reaches = reach(static_cast<NodeId>(u));
      for (std::size_t i = 0; i < children.size(); ++i) {
        weights_[children[i]] += factor * reaches[i].left * reaches[i].right * weights_[u];
      }
    }
  }

  // After the last round: adds what nodes lack because their children lack something. Delta of two
  // nodes is linear in the Delta of each pair of children, so the change is at most the sum over
  // pairs i, j of children of one label of
  //
  //   mu left(i, j) step^2 sqrt(lost(i) lost(j)) right(i, j),  left(i, j) <= left(i) left(j)
  // A row of a parent adds up the rows of its children in the same way.
  std::vector<Lost> with_losses_of_children(const Dag& dag, double mu, double step) && {
    std::vector<double> of_label(dag.labels().size(), 0.0);
    for (NodeId u = 0; u < dag.size(); ++u) {
      const auto children = dag.children(u);
      const auto reaches = reach(u);
      double row = 0.0;
      for (std::size_t i = 0; i < children.size(); ++i) {
        const double outside = reaches[i].left * reaches[i].right * step;
        const Lost& lost = lost_[children[i]];
        of_label[dag.label(children[i])] += outside * std::sqrt(lost.square);
        row += outside * lost.row;
      }
      double sum = 0.0;
      for (const NodeId c : children) {
        double& own = of_label[dag.label(c)];
        sum += own * own;
        own = 0.0;
      }
      lost_[u] += {mu * sum, std::sqrt(mu) * row};
    }
    return std::move(lost_);
  }

  std::uint64_t bytes() const {
    return lost_.size() * (sizeof(Lost) + sizeof(double) + sizeof(std::uint64_t) + 2) +
           reach_.size() * sizeof(Reach);
  }

 private:
  double theta_;
  std::vector<Lost> lost_;       // by node
  std::vector<double> weights_;  // by node
  std::vector<std::uint8_t> touched_, closed_;
  std::vector<std::uint64_t> child_begin_;  // by node: of its children, in reach_
  std::vector<Reach> reach_;
};

}  // namespace filbert
