// One label in one round: which of its nodes share partial trees of the round's depth, and with
// which values. partial_factors.cpp explains the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/memory_meter.hpp"
#include "base/parallel.hpp"
#include "base/set_keys.hpp"
#include "base/work_meter.hpp"
#include "factors/partial/light_classes.hpp"
#include "factors/partial/partial_pairs.hpp"
#include "factors/partial/partial_state.hpp"
#include "factors/partial/sequence_hits.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

template <class Real>
class PartialWalker {
 public:
  PartialWalker(const PartialState<Real>& state, MemoryMeter& memory, WorkMeter& work)
      : state_(state),
        memory_(memory),
        work_(work),
        pair_delta_(state),
        known_(state),
        known_rows_(state),
        hits_(state),
        light_(state) {}

  // Runs round `round` of a block and adds to `found`. The block's `open` keeps the nodes that go
  // on.
  void run(Block& block, std::uint32_t round, double budget, const StopToken& token,
           PartialFound<Real>& found) {
    round_ = round;
    token_ = &token;
    found_ = &found;
    first_ = static_cast<std::uint32_t>(found.active.size());
    first_set_ = found.masses.size();
    steps_ = counted_ = 0;
    gather(block);
    bool closes = false;
    if (nodes_.size() >= 2) {
      most_steps_ = static_cast<double>(steps_) + budget * steps_of_pairs();
      closes = !walk();
    }
    if (closes) take_up_waiting();
    found.active.insert(found.active.end(), nodes_.begin(), nodes_.end());
    if (closes) close_by_pairs();
    light_.drop_sets(found, first_set_, first_);
    account(block, closes);
    look_up();
  }

  // Ends the task: the memory of the features found so far no longer counts as this walker's.
  void finish_task() {
    found_ = nullptr;
    memory_.set(scratch_bytes());
  }

 private:
  using Place = typename ValueLists<Real>::Place;

  // Gathers the nodes that have a child with a new feature, and the positions of the features of
  // all their children.
  void gather(const Block& block) {
    nodes_.clear();
    children_.clear();
    child_begin_.assign(1, 0);
    waiting_.clear();
    light_.start();
    for (std::size_t i = 0; i < block.open.size(); ++i) {
      if (i % 1024 == 0) token_->check();
      bool news = false;
      for (const NodeId c : state_.dag.children(block.open[i])) {
        children_.push_back(state_.nodes[c].newest);
        news = news || is_new(children_.back());
      }
      if (news) {
        nodes_.push_back(block.open[i]);
        child_begin_.push_back(children_.size());
        light_.add_node(block.open[i]);
      } else {
        children_.resize(child_begin_.back());
        if (light_.on()) wait(block.open[i]);
      }
    }
    steps_ += kStepsToAHit * children_.size() / 4;
  }

  // With pruning, the children of a node without news may have some in a later round: what they
  // share may be too light now and heavier with the next depth.
  void wait(NodeId u) {
    const auto children = state_.dag.children(u);
    const auto is_open = [&](NodeId c) { return !state_.pruning.closed(c); };
    if (std::any_of(children.begin(), children.end(), is_open)) {
      waiting_.push_back(u);
      if (is_touched(u)) found_->touched.push_back(u);
    } else {
      found_->closed.push_back(u);
    }
  }

  // Whether a node, or a descendant, lost something in an earlier round.
  bool is_touched(NodeId u) const {
    const auto children = state_.dag.children(u);
    return state_.pruning.touched(u) ||
           std::any_of(children.begin(), children.end(),
                       [&](NodeId c) { return state_.pruning.touched(c); });
  }

  // The nodes that wait are active when their block is closed by pairs.
  void take_up_waiting() {
    light_.forget_losses();
    for (const NodeId u : waiting_) {
      nodes_.push_back(u);
      light_.add_idle_node();
    }
    waiting_.clear();
  }

  bool is_new(const Place& place) const { return place.round == round_ - 1; }

  // Checks now and then for a stop, the memory limit and the work limit.
  void look_up() {
    token_->check();
    work_.add(steps_ - std::exchange(counted_, steps_));
    memory_.set(found_->bytes() + scratch_bytes());
  }
  std::uint64_t scratch_bytes() const {
    return left_.bytes() + right_.bytes() + longer_.bytes() + set_of_key_.bytes() + hits_.bytes() +
           pair_delta_.bytes() + known_rows_.bytes() + children_.capacity() * sizeof(Place) +
           nodes_.capacity() * (sizeof(NodeId) + 8 + sizeof(Real)) + light_.bytes();
  }

  // A unit of the budget. With pruning, a few large nodes of a rare label may take longer than
  // their pairs: features of pairs would cost the sign of the error.
  double steps_of_pairs() const {
    const auto n_children = static_cast<double>(children_.size());
    const double steps = static_cast<double>(kStepsToAHit) * n_children * n_children;
    return light_.on() ? std::max(steps, kPatience) : steps;
  }
  bool is_over_budget() const { return static_cast<double>(steps_) > most_steps_; }

  // False if the budget ran out.
  bool walk() {
    set_of_key_.clear();
    left_.clear();
    right_.clear();
    if (!find_anchors()) return false;
    const std::size_t longest = state_.kernel.max_subsequence;
    for (std::size_t length = 1; !left_.empty() || !right_.empty(); ++length) {
      for (std::size_t i = 0; i < left_.size(); ++i) {
        if (i % 1024 == 0) look_up();
        const auto& c = left_.at(i);
        if (light_.drop(c.mass, left_.laid(c), Direction::left)) {
          left_.drop(i);
        } else {
          turn(c);
        }
      }
      for (std::size_t i = 0; i < right_.size(); ++i) {
        if (i % 1024 == 0) look_up();
        const auto& c = right_.at(i);
        if (light_.drop(c.mass, right_.laid(c), Direction::right)) {
          right_.drop(i);
        } else {
          emit(c);
        }
      }
      if (length == longest) break;
      if (!extend_all(left_, Direction::left) || !extend_all(right_, Direction::right)) {
        return false;
      }
    }
    return true;
  }

  // Finds sequences of one element, which is of the last round.
  bool find_anchors() {
    hits_.start_new();
    for_each_new([&](std::uint32_t feature, const Laid<Real>& laid) {
      steps_ += kStepsToAHit;
      hits_.count_new(feature, laid, side(laid));
      return !is_over_budget();
    });
    if (!is_over_budget()) {
      hits_.sort_new();
      for_each_new([&](std::uint32_t feature, const Laid<Real>& laid) {
        hits_.lay_new(feature, laid);
        return true;
      });
    }
    hits_.end_new();
    if (is_over_budget()) return false;
    add_classes(state_.step * state_.step, left_, Direction::left);
    return true;
  }

  // visit(feature, where) for the new features of all children, until it returns false.
  template <class Visit>
  void for_each_new(const Visit& visit) {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (n % 1024 == 0) look_up();
      const std::size_t begin = child_begin_[n];
      for (std::size_t at = begin; at < child_begin_[n + 1]; ++at) {
        if (at + kAhead < children_.size()) state_.lists.prefetch(children_[at + kAhead]);
        if (!is_new(children_[at])) continue;
        const auto i = static_cast<std::uint32_t>(at - begin);
        const auto chunk = state_.lists.read(children_[at]);
        if (chunk.private_feature != kNone) {
          if (!visit(chunk.private_feature, Laid<Real>{n, i, i, Real(1.0)})) return;
        }
        for (std::size_t k = 0; k < chunk.size(); ++k) {
          if (!visit(chunk.features[k], Laid<Real>{n, i, i, chunk.values[k]})) return;
        }
      }
    }
  }

  bool extend_all(SequenceLevel<Real>& level, Direction direction) {
    longer_.clear();
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (level.dropped(i)) continue;
      hits_.start();
      const auto& c = level.at(i);
      const std::span<const Laid<Real>> laid = level.laid(c);
      light_.find_least(c.mass, laid, direction);
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
      if (is_over_budget()) return false;
      light_.charge_skipped(c.mass);
      hits_.sort();
      add_classes(c.mass, longer_, direction);
      if (i % 64 == 0) look_up();
    }
    std::swap(level, longer_);
    return true;
  }

  void prefetch_next(const Laid<Real>& laid, Direction direction) const {
    const std::size_t at = child_begin_[laid.node] + laid.at;
    if (direction == Direction::left ? laid.at == 0 : at + 1 == child_begin_[laid.node + 1]) return;
    state_.lists.prefetch(children_[direction == Direction::left ? at - 1 : at + 1]);
  }

  // Adds one element next to the sequences placed in one node, outwards from the innermost. To the
  // left it must be of an earlier round than the anchor; to the right it may be of any round.
  void lay_next(std::span<const Laid<Real>> laid, Direction direction) {
    const std::size_t begin = child_begin_[laid.front().node];
    const std::size_t n_children = child_begin_[laid.front().node + 1] - begin;
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
      steps_ += kStepsToAHit;
      double tail = 0.0;
      state_.lists.for_each_chunk(children_[begin + next.at], [&](const auto& chunk) {
        if (direction == Direction::left && chunk.round == round_ - 1) return;
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
      const Real& mass = state_.mass_of(chunk.private_feature);
      if (light_.skips(mass)) {
        tail += std::fabs(as_double(mass));
      } else {
        add_hit(chunk.private_feature, laid);
      }
    }
    std::size_t i = 0;
    for (; i < chunk.size() && !light_.skips(state_.mass[chunk.features[i]]); ++i) {
      add_hit(chunk.features[i], {laid.node, laid.anchor, laid.at, laid.value * chunk.values[i]});
    }
    steps_ += kStepsToAHit * (i + 1);
    return i < chunk.size() ? tail + double{chunk.tails[i]} : tail;
  }
  void add_hit(std::uint32_t feature, const Laid<Real>& laid) {
    if (!is_zero(laid.value)) hits_.add(feature, laid, side(laid));
  }
  std::uint8_t side(const Laid<Real>& laid) const { return state_.side(nodes_[laid.node]); }

  void add_classes(const Real& mass, SequenceLevel<Real>& level, Direction direction) {
    hits_.add_classes(
        mass, level, [&] { look_up(); },
        [&](const Real& longer, std::span<const Laid<Real>> laid) {
          return light_.drop_early(longer, laid, direction);
        });
  }

  // Turns a class of sequences that have grown to the left into one that grows to the right from
  // its anchor: its extent to the left no longer matters.
  void turn(const typename SequenceLevel<Real>::Class& c) {
    turned_.clear();
    std::uint32_t anchor = kNone;
    for (const Laid<Real>& l : left_.laid(c)) {
      if (turned_.empty() || turned_.back().node != l.node || anchor != l.anchor) {
        turned_.push_back({l.node, 0, l.anchor, Real(0.0)});
        anchor = l.anchor;
      }
      turned_.back().value += l.value;
    }
    right_.add(turned_, c.mass);
  }

  void emit(const typename SequenceLevel<Real>::Class& c) {
    sums_.clear();
    for (const Laid<Real>& l : right_.laid(c)) {
      if (sums_.empty() || sums_.back().node != l.node) {
        sums_.push_back({l.node, 0, 0, Real(0.0)});
      }
      sums_.back().value += l.value;
    }
    Real most(0.0);
    for (const Laid<Real>& l : sums_) {
      if (is_less(most, l.value)) most = l.value;
    }
    SetKey key;
    for (Laid<Real>& l : sums_) {
      l.value /= most;
      key += value_key(l.node, l.value);
    }
    const Real mass = state_.mu * c.mass * most * most;
    std::uint32_t& known = set_of_key_.at(key);
    if (known != 0) {
      found_->masses[first_set_ + known - 1] += mass;
      return;
    }
    for (const Laid<Real>& l : sums_) {
      found_->members.push_back(first_ + l.node);
      found_->values.push_back(l.value);
    }
    found_->set_begin.push_back(found_->members.size());
    found_->masses.push_back(mass);
    known = static_cast<std::uint32_t>(found_->masses.size() - first_set_);
  }

  // For too many classes: each pair of nodes becomes one feature, with all that the two still
  // share. Its values are proportional to the roots of Delta(u, u), so that it takes no more than
  // that from u's private mass.
  void close_by_pairs() {
    ++found_->n_by_pairs;
    found_->set_begin.resize(first_set_ + 1);
    found_->members.resize(found_->set_begin.back());
    found_->values.resize(found_->set_begin.back());
    found_->masses.resize(first_set_);
    pair_delta_.clear();
    std::uint64_t pair_steps = pair_delta_.steps();
    known_rows_.start(nodes_);
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    using std::sqrt;
    root_.clear();
    for (const NodeId u : nodes_) root_.push_back(sqrt(state_.self[u]));
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::span<const Real> known = known_rows_.row(i);
      steps_ += pair_delta_.steps() - std::exchange(pair_steps, pair_delta_.steps());
      steps_ += kStepsToAPair * (n - i);
      look_up();
      for (std::uint32_t j = i + 1; j < n; ++j) {
        if ((state_.side(nodes_[i]) | state_.side(nodes_[j])) != kBothSides) continue;
        const Real delta = pair_delta_(nodes_[i], nodes_[j], *token_);
        const Real rest = delta - known[j];
        if (negligible(rest, delta)) continue;
        if (light_.on() && std::fabs(as_double(rest)) <= state_.pruning.theta()) {
          light_.lose_at_least(i, state_.pruning.theta());  // no two losses are of the same pair
          light_.lose_at_least(j, state_.pruning.theta());
          continue;
        }
        const bool i_is_less = is_less(root_[i], root_[j]);
        const Real less = i_is_less ? root_[i] / root_[j] : root_[j] / root_[i];
        found_->members.push_back(first_ + i);
        found_->members.push_back(first_ + j);
        found_->values.push_back(i_is_less ? less : Real(1.0));
        found_->values.push_back(i_is_less ? Real(1.0) : less);
        found_->set_begin.push_back(found_->members.size());
        found_->masses.push_back(rest / less);
      }
    }
  }

  // Updates the mass of each active node and its private part, and finds the nodes that go on: none
  // if the block closes.
  void account(Block& block, bool closes) {
    const std::size_t n = nodes_.size();
    emitted_.assign(n, Real(0.0));
    found_->n_sets.resize(first_ + n);
    for (std::size_t s = first_set_; s < found_->masses.size(); ++s) {
      for (std::uint64_t i = found_->set_begin[s]; i < found_->set_begin[s + 1]; ++i) {
        emitted_[found_->members[i] - first_] +=
            found_->masses[s] * found_->values[i] * found_->values[i];
        ++found_->n_sets[found_->members[i]];
      }
    }
    closes = closes || (light_.on() && close_light());
    block.open.clear();
    if (!closes) block.open = waiting_;
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId u = nodes_[i];
      if (i % 1024 == 0) look_up();
      Real total = state_.self[u];
      if (!closes && goes_on(i)) {
        block.open.push_back(u);
        total = known_.self(u, *token_, steps_);
      } else if (light_.on()) {
        found_->closed.push_back(u);
      }
      if (light_.lost(i) > 0.0) found_->lost.push_back({u, light_.lost(i)});
      if (light_.on() && (light_.lost(i) > 0.0 || is_touched(u))) found_->touched.push_back(u);
      const Real rest = total - state_.nodes[u].found - emitted_[i];
      const bool needed = state_.nodes[u].reused && !negligible(rest, total);
      found_->total.push_back(total);
      found_->private_mass.push_back(needed ? rest : Real(0.0));
      found_->n_private += needed;
    }
    steps_ += kStepsToAHit * (found_->set_begin.back() - found_->set_begin[first_set_]) / 2;
  }

  // A node that shares no fragment of this depth shares no deeper one: all the rest is private.
  // That does not hold if something was dropped here or below.
  bool goes_on(std::size_t i) const {
    if (found_->n_sets[first_ + i] > 0) return true;
    return light_.on() && (light_.lost(i) > 0.0 || is_touched(nodes_[i]));
  }

  // Whether all that the nodes of the block could still share is light; then it is dropped. A node
  // cannot stop alone, because the others would lose what is heavy in them.
  bool close_light() {
    const double theta = state_.pruning.theta();
    const auto deeper = [&](NodeId u, const Real& found) {
      return std::max(0.0, as_double(state_.self[u]) - as_double(found));
    };
    deeper_.clear();
    for (const NodeId u : waiting_) {
      deeper_.push_back(deeper(u, state_.nodes[u].found));
      if (deeper_.back() > theta) return false;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeId u = nodes_[i];
      deeper_.push_back(goes_on(i) ? deeper(u, known_.self(u, *token_, steps_)) : 0.0);
      if (deeper_.back() > theta) return false;
    }
    const double* next = deeper_.data();
    for (const NodeId u : waiting_) {
      found_->lost.push_back({u, *next++});
      found_->touched.push_back(u);
      found_->closed.push_back(u);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) light_.lose(i, *next++);
    return true;
  }

  static constexpr std::size_t kAhead = 6;
  static constexpr std::uint64_t kStepsToAHit = 60;
  static constexpr std::uint64_t kStepsToAPair = 20;
  static constexpr double kPatience = 1e8;

  const PartialState<Real>& state_;
  MemoryShare memory_;
  WorkMeter& work_;
  PartialPairDelta<Real> pair_delta_;
  PartialKnown<Real> known_;
  PartialKnownRows<Real> known_rows_;
  const StopToken* token_ = nullptr;
  PartialFound<Real>* found_ = nullptr;
  std::uint32_t round_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t counted_ = 0;  // the part of these that is on the meter
  double most_steps_ = 0.0;

  // The block.
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> child_begin_;  // one more entry than there are nodes
  std::vector<Place> children_;           // positions of the features of the nodes' children
  std::uint32_t first_ = 0;               // of the nodes, in found_->active
  std::size_t first_set_ = 0;             // of their sets, in found_->masses
  SequenceHits<Real> hits_;
  SequenceLevel<Real> left_, right_, longer_;
  LightClasses<Real> light_;
  std::vector<NodeId> waiting_;  // open nodes of the block without news
  std::vector<double> deeper_;
  ScratchMap<SetKey, std::uint32_t> set_of_key_;  // emitted set of the block + 1
  std::vector<Laid<Real>> turned_, sums_;
  std::vector<Real> emitted_;
  std::vector<Real> root_;
};

}  // namespace filbert
