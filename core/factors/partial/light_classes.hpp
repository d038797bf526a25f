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
//
// Charges are listed, and the block adds them up in the order of its classes: several threads look
// at the classes of a large block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "factors/partial/partial_block.hpp"
#include "factors/partial/partial_state.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

// What a node loses: an index among the nodes of the block, the root of a bound, and the sum of
// these roots over the nodes of the class, by their weights.
struct Loss {
  std::uint32_t node;
  double root, sum;

  Lost lost() const { return {root * root, root * sum}; }
};

// For one thread.
template <class Real>
class LightClasses {
 public:
  explicit LightClasses(const PartialState<Real>& state)
      : pruning_(state.pruning),
        limit_(std::sqrt(state.pruning.theta())),
        lambda_(as_double(state.lambda)),
        mu_(as_double(state.mu)),
        step_(as_double(state.step)) {}

  bool on() const { return pruning_.on(); }

  // The block must stay where it is.
  void start(const PartialBlock<Real>& block) {
    block_ = &block;
    losses_.clear();
    skipped_.resize(std::max(skipped_.size(), block.nodes.size()), 0.0);
  }

  // Charges for a class of all sequences that have been merged, or for one before merging: several
  // light ones may make a heavy class, so the limit is lower then.
  bool drop(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    return on() && drop_below(limit_, mass, laid, direction);
  }
  bool drop_early(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    return on() && drop_below(kEarlyRoot * limit_, mass, laid, direction);
  }

  // Before a class is extended: finds the mass up to which a further feature, with values of at
  // most 1, cannot make a class that would be kept.
  void find_least(const Real& mass, std::span<const Laid<Real>> laid, Direction direction) {
    least_ = 0.0;
    if (!on()) return;
    double most = 0.0;
    for (std::size_t i = 0; i < laid.size();) most = std::max(most, extended(laid, i, direction));
    const double weight = mu_ * std::fabs(as_double(mass)) * most * most;
    const double limit = kEarlyRoot * limit_;
    least_ = weight > 0.0 ? limit * limit / weight : std::numeric_limits<double>::infinity();
  }
  bool skips() const { return least_ > 0.0; }
  bool skips(double mass) const { return mass <= least_; }

  // `tail`: the squared norm of the features that were skipped beside a placement. Norms of several
  // placements add up at most (Minkowski).
  void skip(const Laid<Real>& next, double tail, Direction direction) {
    if (tail <= 0.0) return;
    double& skipped = skipped_[next.node];
    if (skipped == 0.0) skipping_.push_back(next.node);
    skipped += as_double(next.value) * std::sqrt(tail) * outside(next, direction);
  }
  void charge_skipped(const Real& mass) {
    const double root = std::sqrt(mu_ * std::fabs(as_double(mass)));
    const std::size_t before = losses_.size();
    for (const std::uint32_t node : skipping_) {
      losses_.push_back({node, root * std::exchange(skipped_[node], 0.0), 0.0});
    }
    skipping_.clear();
    add_up(before);
  }

  // After a walk: charges for a set that is light in all its nodes.
  bool drop_set(const Real& mass, std::span<const Member<Real>> members) {
    const double root = std::sqrt(std::fabs(as_double(mass)));
    return on() && charge(limit_, members,
                          [&](std::size_t& i) { return root * as_double(members[i++].value); });
  }

  // Adds the charges to those of the nodes.
  void add_losses(std::span<Lost> lost) {
    for (const Loss& loss : losses_) lost[loss.node] += loss.lost();
    losses_.clear();
  }
  // The charges since the last call of this or of add_losses().
  void take_losses(std::vector<Loss>& losses) {
    losses.assign(losses_.begin(), losses_.end());
    losses_.clear();
  }

  std::uint64_t bytes() const {
    return losses_.capacity() * sizeof(Loss) + skipped_.capacity() * sizeof(double);
  }

 private:
  static constexpr double kEarlyRoot = 1.0 / 4;

  // The most that sequences can add outside of a placement.
  double outside(const Laid<Real>& laid, Direction direction) const {
    const Reach* const reach = block_->reach.data() + block_->child_begin[laid.node];
    if (direction == Direction::right) return reach[laid.at].right;
    return reach[laid.at].left * reach[laid.anchor].right;
  }

  bool drop_below(double limit, const Real& mass, std::span<const Laid<Real>> laid,
                  Direction direction) {
    const double root = std::sqrt(mu_ * std::fabs(as_double(mass)));
    return charge(limit, laid, [&](std::size_t& i) {
      const std::uint32_t node = laid[i].node;
      double sum = 0.0;
      for (; i < laid.size() && laid[i].node == node; ++i) {
        sum += as_double(laid[i].value) * outside(laid[i], direction);
      }
      return root * sum;
    });
  }

  // Charges every node, unless the bound of one is above the limit. bound(i) is that of the node of
  // items[i], and moves i to the next node. All are roots.
  template <class Item, class Bound>
  bool charge(double limit, std::span<const Item> items, const Bound& bound) {
    const std::size_t before = losses_.size();
    for (std::size_t i = 0; i < items.size();) {
      const std::uint32_t node = items[i].node;
      const double root = bound(i);
      if (!(root <= limit)) {
        losses_.resize(before);
        return false;
      }
      losses_.push_back({node, root, 0.0});
    }
    add_up(before);
    return true;
  }

  // Fills in the sums of one class, whose losses are those from `first` on.
  void add_up(std::size_t first) {
    double sum = 0.0;
    for (std::size_t i = first; i < losses_.size(); ++i) {
      sum += losses_[i].root * block_->weights[losses_[i].node];
    }
    for (std::size_t i = first; i < losses_.size(); ++i) losses_[i].sum = sum;
  }

  // The bound of the class of one more element of value 1 in the node of laid[i], without masses.
  // Moves i to the next node.
  double extended(std::span<const Laid<Real>> laid, std::size_t& i, Direction direction) const {
    const std::uint32_t node = laid[i].node;
    const std::size_t n_children = block_->n_children(node);
    double sum = 0.0;
    while (i < laid.size() && laid[i].node == node) {
      Laid<Real> next = laid[i];
      double value = 0.0;
      for (;;) {  // as in SequenceGrowth::lay_next
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

  const Pruning& pruning_;
  const double limit_, lambda_, mu_, step_;  // limit_: the root of theta
  const PartialBlock<Real>* block_ = nullptr;
  std::vector<Loss> losses_;
  double least_ = 0.0;
  std::vector<double> skipped_;          // by node: the norm of what was skipped, without the mass
  std::vector<std::uint32_t> skipping_;  // nodes for which that is not 0
};

}  // namespace filbert
