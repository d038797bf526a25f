// Which classes of sequences of a block are light enough to be dropped, and what that loses.
//
// A class has a mass m and values v at its placements. Whatever it grows to, its fragments weigh in
// a node u at most (docs/certified-factors.md)
//
//   mu m (sum over placements in u of v reach_left(outermost) reach_right(anchor))^2   to the left
//   mu m (sum over placements in u of v reach_right(outermost))^2                     to the right
//
// If that is at most theta in all nodes of the class, the class is dropped in all of them, and each
// node is charged with its own bound. Nodes must not drop a class alone: others would lose what is
// heavy in them. Masses may be negative after a block was closed by pairs, so bounds take |m|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "factors/partial/partial_state.hpp"
#include "factors/partial/pruning.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

template <class Real>
class LightClasses {
 public:
  explicit LightClasses(const PartialState<Real>& state)
      : pruning_(state.pruning),
        theta_(state.pruning.theta()),
        lambda_(as_double(state.lambda)),
        mu_(as_double(state.mu)),
        step_(as_double(state.step)) {}

  bool on() const { return pruning_.on(); }

  // Starts a block, and adds its nodes one by one.
  void start() {
    reach_.clear();
    begin_.assign(1, 0);
    lost_.clear();
    skipped_.clear();
  }
  void add_node(NodeId u) {
    if (!on()) return;
    const std::span<const Reach> reach = pruning_.reach(u);
    reach_.insert(reach_.end(), reach.begin(), reach.end());
    begin_.push_back(reach_.size());
    lost_.push_back(0.0);
    skipped_.push_back(0.0);
  }
  // Nodes without placements, which are charged by lose() only.
  void add_idle_node() { lost_.push_back(0.0); }

  double lost(std::size_t node) const { return on() ? lost_[node] : 0.0; }
  void lose(std::size_t node, double mass) { lost_[node] += mass; }
  void lose_at_least(std::size_t node, double mass) { lost_[node] = std::max(lost_[node], mass); }
  void forget_losses() { std::fill(lost_.begin(), lost_.end(), 0.0); }

  // Charges for a class of all sequences that have been merged, or for one before merging: several
  // light ones may make a heavy class, so the limit is lower then.
  bool drop(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    return on() && drop_below(theta_, mass, laid, direction);
  }
  bool drop_early(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    return on() && drop_below(kEarly * theta_, mass, laid, direction);
  }

  // Before a class is extended: finds the mass up to which a further feature, with values of at
  // most 1, cannot make a class that would be kept.
  void find_least(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    least_ = 0.0;
    if (!on()) return;
    double most = 0.0;
    for (std::size_t i = 0; i < laid.size();) most = std::max(most, extended(laid, i, direction));
    const double weight = mu_ * std::fabs(as_double(mass)) * most * most;
    least_ = weight > 0.0 ? kEarly * theta_ / weight : std::numeric_limits<double>::infinity();
  }
  bool skips() const { return least_ > 0.0; }
  bool skips(const Real& mass) const { return std::fabs(as_double(mass)) <= least_; }

  // `tail`: the squared norm of the features that were skipped beside a placement. Norms of several
  // placements add up at most (Minkowski).
  void skip(const Laid<Real>& next, double tail, Direction direction) {
    if (tail <= 0.0) return;
    double& skipped = skipped_[next.node];
    if (skipped == 0.0) skipping_.push_back(next.node);
    skipped += as_double(next.value) * std::sqrt(tail) * outside(next, direction);
  }
  void charge_skipped(const Real& mass) {
    for (const std::uint32_t node : skipping_) {
      lost_[node] += mu_ * std::fabs(as_double(mass)) * skipped_[node] * skipped_[node];
      skipped_[node] = 0.0;
    }
    skipping_.clear();
  }

  // After a walk: sets from `first_set` on that are light in all their nodes are dropped. The
  // others are sorted by mass, the heaviest first, so that a node's light features are at the end
  // of its list. Members are numbered from `first_node` on.
  void drop_sets(PartialFound<Real>& found, std::size_t first_set, std::uint32_t first_node) {
    if (!on() || found.masses.size() == first_set) return;
    order_.clear();
    for (std::size_t s = first_set; s < found.masses.size(); ++s) {
      if (!drop_set(found, s, first_node)) order_.push_back(s);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::fabs(as_double(found.masses[a])) > std::fabs(as_double(found.masses[b]));
    });
    keep_in_order(found, first_set);
  }

  std::uint64_t bytes() const {
    return reach_.capacity() * sizeof(Reach) + lost_.capacity() * 24 +
           old_.members.capacity() * (4 + sizeof(Real));
  }

 private:
  static constexpr double kEarly = 1.0 / 16;

  // The most that sequences can add outside of a placement.
  double outside(const Laid<Real>& laid, Direction direction) const {
    const std::size_t begin = begin_[laid.node];
    if (direction == Direction::right) return reach_[begin + laid.at].right;
    return reach_[begin + laid.at].left * reach_[begin + laid.anchor].right;
  }

  bool drop_below(double limit, const Real& mass, std::span<const Laid<Real>> laid,
                  Direction direction) {
    const double weight = mu_ * std::fabs(as_double(mass));
    bounds_.clear();
    for (std::size_t i = 0; i < laid.size();) {
      const std::uint32_t node = laid[i].node;
      double sum = 0.0;
      for (; i < laid.size() && laid[i].node == node; ++i) {
        sum += as_double(laid[i].value) * outside(laid[i], direction);
      }
      const double bound = weight * sum * sum;
      if (!(bound <= limit)) return false;
      bounds_.push_back({node, bound});
    }
    for (const Bound& bound : bounds_) lost_[bound.node] += bound.mass;
    return true;
  }

  // The bound of the class of one more element of value 1 in the node of laid[i], without masses.
  // Moves i to the next node.
  double extended(std::span<const Laid<Real>> laid, std::size_t& i, Direction direction) const {
    const std::uint32_t node = laid[i].node;
    const std::size_t n_children = begin_[node + 1] - begin_[node];
    double sum = 0.0;
    while (i < laid.size() && laid[i].node == node) {
      Laid<Real> next = laid[i];
      double value = 0.0;
      for (;;) {  // as in PartialWalker::lay_next
        value *= lambda_;
        if (i < laid.size() && laid[i].node == node && laid[i].anchor == next.anchor &&
            laid[i].at == next.at) {
          value += step_ * as_double(laid[i++].value);
        }
        if (direction == Direction::left ? next.at == 0 : next.at + 1 == n_children) break;
        next.at = direction == Direction::left ? next.at - 1 : next.at + 1;
        sum += value * outside(next, direction);
      }
    }
    return sum;
  }

  bool drop_set(const PartialFound<Real>& found, std::size_t s, std::uint32_t first_node) {
    bounds_.clear();
    for (std::uint64_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
      const double value = as_double(found.values[i]);
      const double mass = std::fabs(as_double(found.masses[s])) * value * value;
      if (!(mass <= theta_)) return false;
      bounds_.push_back({found.members[i] - first_node, mass});
    }
    for (const Bound& bound : bounds_) lost_[bound.node] += bound.mass;
    return true;
  }

  void keep_in_order(PartialFound<Real>& found, std::size_t first_set) {
    const std::uint64_t begin = found.set_begin[first_set];
    old_.set_begin.assign(found.set_begin.begin() + static_cast<std::ptrdiff_t>(first_set),
                          found.set_begin.end());
    old_.masses.assign(found.masses.begin() + static_cast<std::ptrdiff_t>(first_set),
                       found.masses.end());
    old_.members.assign(found.members.data() + begin, found.members.data() + found.members.size());
    old_.values.assign(found.values.data() + begin, found.values.data() + found.values.size());
    found.masses.resize(first_set);
    found.set_begin.resize(first_set + 1);
    std::uint64_t to = begin;
    for (const std::size_t s : order_) {
      const std::size_t old = s - first_set;
      for (std::uint64_t i = old_.set_begin[old]; i < old_.set_begin[old + 1]; ++i, ++to) {
        found.members[to] = old_.members[i - begin];
        found.values[to] = old_.values[i - begin];
      }
      found.masses.push_back(old_.masses[old]);
      found.set_begin.push_back(to);
    }
    found.members.resize(to);
    found.values.resize(to);
  }

  struct Bound {
    std::uint32_t node;
    double mass;
  };
  struct Sets {
    std::vector<std::uint64_t> set_begin;
    std::vector<Real> masses, values;
    std::vector<std::uint32_t> members;
  };

  const Pruning& pruning_;
  const double theta_, lambda_, mu_, step_;
  std::vector<Reach> reach_;        // by child of the block's nodes
  std::vector<std::size_t> begin_;  // by node: its children in reach_
  std::vector<double> lost_;        // by node
  std::vector<Bound> bounds_;       // of one class
  double least_ = 0.0;
  std::vector<double> skipped_;          // by node: the norm of what was skipped, without the mass
  std::vector<std::uint32_t> skipping_;  // nodes for which that is not 0
  std::vector<std::size_t> order_;
  Sets old_;
};

}  // namespace filbert
