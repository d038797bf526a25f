// Delta of single pairs of nodes, for the blocks that are closed by pairs.
#pragma once

#include <utility>
#include <vector>

#include "base/set_keys.hpp"
#include "factors/subset/subset_state.hpp"

namespace filbert {

// Delta(u, v) of two nodes of one production by the textbook formula, without recursion.
template <class Real>
class SubsetPairDelta {
 public:
  explicit SubsetPairDelta(const SubsetState<Real>& state) : state_(state) {}

  void clear() { memo_.clear(); }
  std::uint64_t bytes() const { return memo_.bytes(); }

  Real operator()(NodeId u, NodeId v) {
    if (u == v) return state_.self[u];
    stack_.assign(1, {u, v});
    while (!stack_.empty()) {
      const auto [x, y] = stack_.back();
      if (memo_.get(key(x, y)) != nullptr) {
        stack_.pop_back();
        continue;
      }
      const std::size_t before = stack_.size();
      Real delta = state_.kernel.template bare<Real>();
      for (std::size_t slot = 0; slot < state_.dag.arity(x); ++slot) {
        const NodeId a = state_.dag.children(x)[slot];
        const NodeId b = state_.dag.children(y)[slot];
        if (!comparable(a, b)) continue;
        if (a == b) {
          delta *= state_.kernel.factor(state_.self[a]);
        } else if (const Real* known = memo_.get(key(a, b))) {
          delta *= state_.kernel.factor(*known);
        } else {
          stack_.push_back({a, b});
        }
      }
      if (stack_.size() > before) continue;
      memo_.at(key(x, y)) = delta;
      stack_.pop_back();
    }
    return *memo_.get(key(u, v));
  }

 private:
  bool comparable(NodeId a, NodeId b) const {
    return !state_.dag.is_leaf(a) && state_.dag.production(a) == state_.dag.production(b);
  }
  static std::uint64_t key(NodeId a, NodeId b) {
    return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
  }

  const SubsetState<Real>& state_;
  ScratchMap<std::uint64_t, Real> memo_;
  std::vector<std::pair<NodeId, NodeId>> stack_;
};

}  // namespace filbert
