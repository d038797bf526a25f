// Delta of single pairs of nodes for partial trees, and the part of it that the features cover so
// far.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/set_keys.hpp"
#include "factors/partial/partial_state.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

// Delta of two nodes from the Deltas of their children.
template <class Real>
class ChildSequences {
 public:
  explicit ChildSequences(const PartialTree& kernel)
      : pay_(Real(kernel.step()) * Real(kernel.step())),
        childless_(childless_delta<Real>(kernel)),
        lambda_(kernel.decay),
        delta_(kernel) {}

  // The caller fills it row by row.
  std::span<Real> deltas(std::size_t k1, std::size_t k2) {
    k1_ = k1;
    k2_ = k2;
    deltas_.assign(k1 * k2, Real(0.0));
    return deltas_;
  }

  // By child of a node whose deltas with itself have been filled in.
  void find_reach(std::span<Reach> reach) {
    const std::size_t k = reach.size();
    reach_left(
        k, [](std::size_t i) { return i; },
        [&](std::size_t i, double norm) { reach[i].left = rounded_up(norm); });
    reach_left(
        k, [k](std::size_t i) { return k - 1 - i; },
        [&](std::size_t i, double norm) { reach[i].right = rounded_up(norm); });
  }

  Real sum(const StopToken& token) {
    if (deltas_.empty()) return childless_;
    // Adding a double that is 0 takes less time than testing for it.
    const auto match = [&](std::size_t i, std::size_t j) {
      return std::is_same_v<Real, double> || !is_zero(deltas_[i * k2_ + j]);
    };
    const auto paid = [&](std::size_t i, std::size_t j) { return deltas_[i * k2_ + j] * pay_; };
    return delta_(childless_, k1_, k2_, match, paid, token);
  }

 private:
  static double rounded_up(double x) { return x * (1.0 + 1e-9); }

  // set(i, norm of the sequences that end before child i). The children are numbered by at(0),
  // at(1), ..., so that the other side takes the same code. Pairs of sequences that end before i
  // and j have the sum s(i, j) = [they end in i - 1 and j - 1] + the recursion over gaps. Nodes
  // with very many children have a simpler bound: the norm of a sum is at most the sum of the
  // norms.
  template <class At, class Set>
  void reach_left(std::size_t k, const At& at, const Set& set) {
    const auto paid = [&](std::size_t i, std::size_t j) {
      return as_double(deltas_[at(i) * k + at(j)] * pay_);
    };
    if (k > kWide) {
      double before = 0.0;
      for (std::size_t i = 0; i < k; ++i) {
        set(at(i), 1.0 + before);
        before = lambda_ * before + std::sqrt(paid(i, i)) * (1.0 + before);
      }
      return;
    }
    row_.assign(k, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      set(at(i), std::sqrt(1.0 + row_[i]));  // s(i, i)
      double diagonal = row_[0];             // s(i, j - 1)
      double left = 0.0;                     // s(i + 1, j - 1)
      row_[0] = 0.0;
      for (std::size_t j = 1; j < k; ++j) {
        const double above = row_[j];  // s(i, j)
        left = paid(i, j - 1) * (1.0 + diagonal) + lambda_ * above + lambda_ * left -
               lambda_ * lambda_ * diagonal;
        diagonal = above;
        row_[j] = left;
      }
    }
  }

  static constexpr std::size_t kWide = 512;  // children

  const Real pay_, childless_;
  const double lambda_;
  std::size_t k1_ = 0, k2_ = 0;
  std::vector<Real> deltas_;
  std::vector<double> row_;
  PartialDelta<Real> delta_;
};

// Delta(u, v) of two nodes of one label, without recursion.
template <class Real>
class PartialPairDelta {
 public:
  // `self`: Delta(u, u) by node; if it is empty, they are found like those of other pairs.
  PartialPairDelta(const PartialTree& kernel, const Dag& dag, std::span<const Real> self)
      : dag_(dag), self_(self), childless_(childless_delta<Real>(kernel)), sequences_(kernel) {}
  explicit PartialPairDelta(const PartialState<Real>& state)
      : PartialPairDelta(state.kernel, state.dag, state.self) {}

  void clear() { memo_.clear(); }
  std::uint64_t bytes() const { return memo_.bytes(); }
  std::size_t n_known() const { return memo_.size(); }
  std::uint64_t steps() const { return steps_; }

  // Delta of a node with itself, if the Deltas of its descendants are known.
  Real self(NodeId u, const StopToken& token) {
    const auto children = dag_.children(u);
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children.size() > 1000) token.check();
      for (std::size_t j = 0; j < i; ++j) {
        if (!at_once(children[i], children[j])) (*this)(children[i], children[j], token);
      }
    }
    fill(u, u);
    return sequences_.sum(token);
  }
  // Right after self(u): the reach of its children.
  void find_reach(std::span<Reach> reach) { sequences_.find_reach(reach); }

  Real operator()(NodeId u, NodeId v, const StopToken& token) {
    if (at_once(u, v)) return known(u, v);
    stack_.assign(1, std::minmax(u, v));
    while (!stack_.empty()) {
      const auto [x, y] = stack_.back();
      if (memo_.get(key(x, y)) != nullptr) {
        stack_.pop_back();
        continue;
      }
      if (++ticks_ % 64 == 0) token.check();
      const std::size_t before = stack_.size();
      fill(x, y);
      if (stack_.size() > before) continue;
      memo_.at(key(x, y)) = sequences_.sum(token);
      stack_.pop_back();
    }
    return *memo_.get(key(u, v));
  }

 private:
  bool at_once(NodeId a, NodeId b) const {
    if (a == b && !self_.empty()) return true;
    return dag_.label(a) != dag_.label(b) || dag_.is_leaf(a) || dag_.is_leaf(b);
  }
  Real known(NodeId a, NodeId b) const {
    if (a == b && !self_.empty()) return self_[a];
    return dag_.label(a) == dag_.label(b) ? childless_ : Real(0.0);
  }

  // The Deltas of the children; the ones that are not known yet go onto the stack. The smaller node
  // always comes first, so that rounding does not depend on the caller.
  void fill(NodeId x, NodeId y) {
    const auto here = dag_.children(x);
    const auto there = dag_.children(y);
    steps_ += kStepsToAPair + kStepsToACell * here.size() * there.size();
    Real* delta = sequences_.deltas(here.size(), there.size()).data();
    for (const NodeId a : here) {
      for (const NodeId b : there) {
        if (at_once(a, b)) {
          *delta++ = known(a, b);
        } else if (const Real* found = memo_.get(key(a, b))) {
          *delta++ = *found;
        } else {
          stack_.push_back(std::minmax(a, b));
          ++delta;
        }
      }
    }
  }

  static constexpr std::uint64_t kStepsToAPair = 50;
  static constexpr std::uint64_t kStepsToACell = 5;

  static std::uint64_t key(NodeId a, NodeId b) {
    return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
  }

  const Dag& dag_;
  const std::span<const Real> self_;
  const Real childless_;
  ChildSequences<Real> sequences_;
  ScratchMap<std::uint64_t, Real> memo_;
  std::vector<std::pair<NodeId, NodeId>> stack_;
  std::uint32_t ticks_ = 0;
  std::uint64_t steps_ = 0;
};

// The part of Delta that the features have found so far.
template <class Real>
class PartialKnown {
 public:
  explicit PartialKnown(const PartialState<Real>& state)
      : state_(state), sequences_(state.kernel) {}

  // The part of a node's Delta with itself, from its children: one round further than theirs.
  Real self(NodeId u, const StopToken& token, std::uint64_t& steps) {
    const auto children = state_.dag.children(u);
    const std::size_t k = children.size();
    const std::span<Real> deltas = sequences_.deltas(k, k);
    steps += 50 + 5 * k * k;
    for (std::size_t i = 0; i < k; ++i) {
      deltas[i * k + i] = state_.nodes[children[i]].found;
      for (std::size_t j = 0; j < i; ++j) {
        deltas[i * k + j] = deltas[j * k + i] = pair(children[i], children[j], steps);
      }
      if (k > 100) token.check();
    }
    return sequences_.sum(token);
  }

  Real pair(NodeId a, NodeId b, std::uint64_t& steps) {
    const Dag& dag = state_.dag;
    if (a == b) return state_.nodes[a].found;
    if (dag.label(a) != dag.label(b)) return Real(0.0);
    if (dag.is_leaf(a) || dag.is_leaf(b)) return state_.childless;
    chunks_.clear();
    Real sum(0.0);
    state_.lists.for_each_chunk(state_.nodes[a].newest,
                                [&](const auto& chunk) { chunks_.push_back(chunk); });
    std::size_t next = 0;
    state_.lists.for_each_chunk(state_.nodes[b].newest, [&](const auto& chunk) {
      while (next < chunks_.size() && chunks_[next].round > chunk.round) ++next;
      if (next == chunks_.size() || chunks_[next].round != chunk.round) return;
      const auto& other = chunks_[next];
      steps += 10 + other.size() + chunk.size();
      for (std::size_t i = 0, j = 0; i < other.size() && j < chunk.size();) {
        const std::uint32_t x = other.features[i];
        const std::uint32_t y = chunk.features[j];
        if (x == y) sum += state_.mass[x] * other.values[i] * chunk.values[j];
        i += x <= y;
        j += y <= x;
      }
    });
    return sum;
  }

 private:
  const PartialState<Real>& state_;
  ChildSequences<Real> sequences_;
  std::vector<typename ValueLists<Real>::Chunk> chunks_;
};

// The same for all pairs of a block, row by row, by adding each feature to the nodes that have it.
template <class Real>
class PartialKnownRows {
 public:
  explicit PartialKnownRows(const PartialState<Real>& state) : state_(state) {}

  void start(std::span<const NodeId> nodes) {
    number_of_feature_.clear();
    features_.clear();
    begin_.assign(1, 0);
    entries_.clear();
    row_.assign(nodes.size(), Real(0.0));
    for (const NodeId u : nodes) {
      state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const auto& chunk) {
        for (std::size_t i = 0; i < chunk.size(); ++i) {
          entries_.push_back({number_of(chunk.features[i]), chunk.values[i]});
        }
      });
      begin_.push_back(entries_.size());
    }
    find_nodes();
  }

  // Node i with the nodes after it. Call it in ascending order of i.
  std::span<const Real> row(std::uint32_t i) {
    std::fill(row_.begin() + i, row_.end(), Real(0.0));
    for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) {
      Feature& feature = features_[entries_[k].number];
      ++feature.next;  // node i itself
      const Real weight = feature.mass * entries_[k].value;
      for (std::size_t at = feature.next; at < feature.end; ++at) {
        row_[by_feature_[at].number] += weight * by_feature_[at].value;
      }
    }
    return row_;
  }

  std::uint64_t bytes() const { return (entries_.size() + by_feature_.size()) * sizeof(Entry); }

 private:
  struct Feature {
    Real mass;
    std::size_t next, end;  // in by_feature_
  };
  struct Entry {
    std::uint32_t number;  // of a feature, or of a node
    Real value;
  };

  std::uint32_t number_of(std::uint32_t feature) {
    std::uint32_t& known = number_of_feature_.at(feature);
    if (known == 0) {
      features_.push_back({state_.mass[feature], 0, 0});
      known = static_cast<std::uint32_t>(features_.size());
    }
    return known - 1;
  }

  // The nodes that have each feature, ascending.
  void find_nodes() {
    for (const Entry& entry : entries_) ++features_[entry.number].end;
    std::size_t sum = 0;
    for (Feature& feature : features_) {
      feature.next = sum;
      sum += feature.end;
      feature.end = feature.next;
    }
    by_feature_.resize(sum);
    for (std::uint32_t i = 0; i + 1 < begin_.size(); ++i) {
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) {
        by_feature_[features_[entries_[k].number].end++] = {i, entries_[k].value};
      }
    }
  }

  const PartialState<Real>& state_;
  ScratchMap<std::uint32_t, std::uint32_t> number_of_feature_;  // number + 1; 0: none
  std::vector<Feature> features_;                               // by number
  std::vector<std::size_t> begin_;                              // of a node, in entries_
  std::vector<Entry> entries_, by_feature_;
  std::vector<Real> row_;
};

}  // namespace filbert
