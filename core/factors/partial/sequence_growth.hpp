// How the sequences of a block grow by one element, class by class. A class needs only the block
// and the features of earlier rounds, so several threads can each take some classes of a level, and
// what they find is merged afterwards.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "factors/partial/light_classes.hpp"
#include "factors/partial/partial_block.hpp"
#include "factors/partial/partial_state.hpp"
#include "factors/partial/sequence_hits.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

inline constexpr std::uint64_t kStepsToAHit = 60;

// What classes of one length become.
template <class Real>
struct Grown {
  SequenceLevel<Real>& longer;
  SequenceLevel<Real>& turned;  // of those that grow to the left: they stop, to grow to the right
  NodeSets<Real>& sets;         // of those that grow to the right: the fragments that they are
};

// For one thread.
template <class Real>
class SequenceGrowth {
 public:
  explicit SequenceGrowth(const PartialState<Real>& state)
      : state_(state), hits_(state), light_(state) {}

  // Before other calls. The block must stay where it is. After `most_steps` steps, calls end early.
  void start(const PartialBlock<Real>& block, double most_steps) {
    block_ = &block;
    most_steps_ = most_steps;
    steps_ = 0;
    light_.start(block);
  }
  std::uint64_t steps() const { return steps_; }
  bool is_over_budget() const { return static_cast<double>(steps_) > most_steps_; }
  LightClasses<Real>& light() { return light_; }
  std::uint64_t bytes() const { return hits_.bytes() + light_.bytes(); }

  // Finds sequences of one element, which is of the last round. look_up() is called now and then.
  template <class LookUp>
  void find_anchors(SequenceLevel<Real>& out, const LookUp& look_up) {
    hits_.start_new();
    for_each_new(look_up, [&](std::uint32_t feature, const Laid<Real>& laid) {
      steps_ += kStepsToAHit;
      hits_.count_new(feature, laid, side(laid));
      return !is_over_budget();
    });
    if (!is_over_budget()) {
      hits_.sort_new();
      for_each_new(look_up, [&](std::uint32_t feature, const Laid<Real>& laid) {
        hits_.lay_new(feature, laid);
        return true;
      });
    }
    hits_.end_new();
    if (!is_over_budget()) add_classes(state_.step * state_.step, out, Direction::left, look_up);
    out.settle();
  }

  // Grows classes `first` to `last` - 1 of a level.
  template <class LookUp>
  void grow(const SequenceLevel<Real>& level, std::size_t first, std::size_t last,
            Direction direction, bool extends, Grown<Real> out, const LookUp& look_up) {
    kept_.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (i % 1024 == 0) look_up();
      const auto& c = level.at(i);
      const std::span<const Laid<Real>> laid = level.items(c);
      if (light_.drop(c.mass, laid, direction)) continue;
      if (direction == Direction::left) {
        turn(c.mass, laid, out.turned);
      } else {
        emit(c.mass, laid, out.sets);
      }
      kept_.push_back(i);
    }
    if (!extends) kept_.clear();
    for (std::size_t k = 0; k < kept_.size() && !is_over_budget(); ++k) {
      if (k % 64 == 0) look_up();
      if (k + kAhead < kept_.size()) prefetch_class(level, kept_[k + kAhead], direction);
      const auto& c = level.at(kept_[k]);
      extend(c.mass, level.items(c), direction, out.longer, look_up);
    }
    out.longer.settle();
    out.turned.settle();
    out.sets.settle();
    look_up();
  }

 private:
  // visit(feature, where) for the new features of all children, until it returns false.
  template <class LookUp, class Visit>
  void for_each_new(const LookUp& look_up, const Visit& visit) {
    const auto& children = block_->children;
    for (std::uint32_t n = 0; n < block_->nodes.size(); ++n) {
      if (n % 1024 == 0) look_up();
      const std::size_t begin = block_->child_begin[n];
      for (std::size_t at = begin; at < block_->child_begin[n + 1]; ++at) {
        if (at + kAhead < children.size()) state_.lists.prefetch(children[at + kAhead]);
        if (!block_->is_new(children[at])) continue;
        const auto i = static_cast<std::uint32_t>(at - begin);
        const auto chunk = state_.lists.read(children[at]);
        if (chunk.private_feature != kNone) {
          if (!visit(chunk.private_feature, Laid<Real>{n, i, i, Real(1.0)})) return;
        }
        for (std::size_t k = 0; k < chunk.size(); ++k) {
          if (!visit(chunk.features[k], Laid<Real>{n, i, i, chunk.values[k]})) return;
        }
      }
    }
  }

  template <class LookUp>
  void extend(const Real& mass, std::span<const Laid<Real>> laid, Direction direction,
              SequenceLevel<Real>& longer, const LookUp& look_up) {
    hits_.start(laid.back().node);
    light_.find_least(mass, laid, direction);
    for (std::size_t begin = 0; begin < laid.size();) {
      std::size_t end = begin + 1;
      while (end < laid.size() && laid[end].node == laid[begin].node &&
             laid[end].anchor == laid[begin].anchor) {
        ++end;
      }
      if (begin + kAhead < laid.size()) prefetch_next(laid[begin + kAhead], direction);
      lay_next(laid.subspan(begin, end - begin), direction);
      begin = end;
    }
    light_.charge_skipped(mass);
    hits_.sort();
    add_classes(mass, longer, direction, look_up);
  }

  // The features beside the first placements of a class that comes soon.
  void prefetch_class(const SequenceLevel<Real>& level, std::size_t i, Direction direction) const {
    const std::span<const Laid<Real>> laid = level.items(level.at(i));
    for (const Laid<Real>& l : laid.first(std::min(laid.size(), kAhead))) {
      prefetch_next(l, direction);
    }
  }
  void prefetch_next(const Laid<Real>& laid, Direction direction) const {
    const std::size_t at = block_->child_begin[laid.node] + laid.at;
    const bool is_last =
        direction == Direction::left ? laid.at == 0 : at + 1 == block_->child_begin[laid.node + 1];
    if (is_last) return;
    state_.lists.prefetch(block_->children[direction == Direction::left ? at - 1 : at + 1]);
  }

  // Adds one element next to the sequences placed in one node, outwards from the innermost. To the
  // left it must be of an earlier round than the anchor; to the right it may be of any round.
  void lay_next(std::span<const Laid<Real>> laid, Direction direction) {
    const std::size_t begin = block_->child_begin[laid.front().node];
    const std::size_t n_children = block_->n_children(laid.front().node);
    Laid<Real> next = laid.front();
    next.value = Real(0.0);
    std::size_t used = 0;
    for (;;) {
      next.value *= state_.lambda;
      if (used < laid.size() && laid[used].at == next.at) {
        next.value += state_.step * laid[used++].value;
      }
      if (direction == Direction::left ? next.at == 0 : next.at + 1 == n_children) return;
      next.at = direction == Direction::left ? next.at - 1 : next.at + 1;
      prefetch_next(next, direction);
      steps_ += kStepsToAHit;
      double tail = 0.0;
      state_.lists.for_each_chunk(block_->children[begin + next.at], [&](const auto& chunk) {
        if (direction == Direction::left && chunk.round == block_->round - 1) return;
        tail += light_.skips() ? add_heavy_hits(chunk, next) : add_hits(chunk, next);
      });
      light_.skip(next, tail, direction);
    }
  }

  double add_hits(const typename ValueLists<Real>::Chunk& chunk, const Laid<Real>& laid) {
    steps_ += kStepsToAHit * (chunk.size() + 1);
    if (chunk.private_feature != kNone) add_hit(chunk.private_feature, laid);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      add_hit(chunk.features[i], {laid.node, laid.anchor, laid.at, laid.value * chunk.values[i]});
    }
    return 0.0;
  }
  // The same without light features, which are the last ones. Returns their squared norm.
  double add_heavy_hits(const typename ValueLists<Real>::Chunk& chunk, const Laid<Real>& laid) {
    double tail = 0.0;
    if (chunk.private_feature != kNone) {
      const double mass = std::fabs(as_double(state_.mass_of(chunk.private_feature)));
      if (light_.skips(mass)) {
        tail += mass;
      } else {
        add_hit(chunk.private_feature, laid);
      }
    }
    std::size_t i = 0;
    for (; i < chunk.size() && !light_.skips(double{chunk.weights[i].mass}); ++i) {
      add_hit(chunk.features[i], {laid.node, laid.anchor, laid.at, laid.value * chunk.values[i]});
    }
    steps_ += kStepsToAHit * (i + 1);
    return i < chunk.size() ? tail + double{chunk.weights[i].tail} : tail;
  }
  void add_hit(std::uint32_t feature, const Laid<Real>& laid) {
    if (!is_zero(laid.value)) hits_.add(feature, laid, side(laid));
  }
  std::uint8_t side(const Laid<Real>& laid) const { return state_.side(block_->nodes[laid.node]); }

  template <class LookUp>
  void add_classes(const Real& mass, SequenceLevel<Real>& level, Direction direction,
                   const LookUp& look_up) {
    hits_.add_classes(mass, level, look_up,
                      [&](const Real& longer, std::span<const Laid<Real>> laid) {
                        return light_.drop_early(longer, laid, direction);
                      });
  }

  // Turns a class of sequences that have grown to the left into one that grows to the right from
  // its anchor: its extent to the left no longer matters.
  void turn(const Real& mass, std::span<const Laid<Real>> laid, SequenceLevel<Real>& turned) {
    turned_.clear();
    std::uint32_t anchor = kNone;
    for (const Laid<Real>& l : laid) {
      if (turned_.empty() || turned_.back().node != l.node || anchor != l.anchor) {
        turned_.push_back({l.node, 0, l.anchor, Real(0.0)});
        anchor = l.anchor;
      }
      turned_.back().value += l.value;
    }
    turned.add(turned_, mass);
  }

  // Sequences are fragments: in a node, the sum over their placements.
  void emit(const Real& mass, std::span<const Laid<Real>> laid, NodeSets<Real>& sets) {
    members_.clear();
    for (const Laid<Real>& l : laid) {
      if (members_.empty() || members_.back().node != l.node) {
        members_.push_back({l.node, Real(0.0)});
      }
      members_.back().value += l.value;
    }
    sets.add(members_, state_.mu * mass);
  }

  static constexpr std::size_t kAhead = 6;

  const PartialState<Real>& state_;
  const PartialBlock<Real>* block_ = nullptr;
  double most_steps_ = 0.0;
  std::uint64_t steps_ = 0;
  SequenceHits<Real> hits_;
  LightClasses<Real> light_;
  std::vector<std::size_t> kept_;  // classes of a level
  std::vector<Laid<Real>> turned_;
  std::vector<Member<Real>> members_;
};

}  // namespace filbert
