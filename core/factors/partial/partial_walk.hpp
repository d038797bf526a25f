// One label in one round: which of its nodes share partial trees of the round's depth, and with
// which values. partial_factors.cpp explains the mathematics.
//
// A large block is split: its classes of sequences grow in pieces, on all threads that have nothing
// else to do. What the pieces find is merged in their order. The pieces depend only on the block.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/helpers.hpp"
#include "base/memory_meter.hpp"
#include "base/parallel.hpp"
#include "base/work_meter.hpp"
#include "factors/partial/light_classes.hpp"
#include "factors/partial/partial_block.hpp"
#include "factors/partial/partial_pairs.hpp"
#include "factors/partial/partial_state.hpp"
#include "factors/partial/sequence_growth.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

// The memory of one thread for any block, its own or a piece of another thread's.
template <class Real>
struct PartialScratch {
  PartialScratch(const PartialState<Real>& state, MemoryMeter& meter)
      : growth(state), known(state), memory(meter) {}

  SequenceGrowth<Real> growth;
  PartialKnown<Real> known;
  MemoryShare memory;
};

// What all threads share while they walk over blocks.
template <class Real>
struct PartialWalkers {
  const PartialState<Real>& state;
  MemoryMeter& memory;
  WorkMeter& work;
  Helpers& helpers;
  std::vector<std::unique_ptr<PartialScratch<Real>>> scratch;  // by thread

  // Called by the thread itself.
  PartialScratch<Real>& scratch_of(int worker) {
    auto& own = scratch[static_cast<std::size_t>(worker)];
    if (!own) own = std::make_unique<PartialScratch<Real>>(state, memory);
    return *own;
  }
};

template <class Real>
class PartialWalker {
 public:
  PartialWalker(PartialWalkers<Real>& all, int worker)
      : all_(all),
        state_(all.state),
        worker_(worker),
        growth_(all.scratch_of(worker).growth),
        memory_(all.memory),
        pair_delta_(all.state),
        known_rows_(all.state) {}

  // Runs round `round` of a block and adds to `found`. The block's `open` keeps the nodes that go
  // on.
  void run(Block& block, std::uint32_t round, double budget, const StopToken& token,
           PartialFound<Real>& found) {
    token_ = &token;
    found_ = &found;
    first_ = static_cast<std::uint32_t>(found.active.size());
    first_set_ = found.masses.size();
    steps_ = counted_ = 0;
    sets_.clear();
    gather(block, round);
    bool closes = false;
    if (block_.nodes.size() >= 2) {
      most_steps_ = static_cast<double>(steps_) + budget * steps_of_pairs();
      closes = !walk();
    }
    if (closes) take_up_waiting();
    found.active.insert(found.active.end(), block_.nodes.begin(), block_.nodes.end());
    if (closes) close_by_pairs();
    keep_sets();
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

  // What a piece of a level became.
  struct Part {
    SequenceLevel<Real> longer{false}, turned{false};
    NodeSets<Real> sets{false};
    std::vector<Loss> losses;
    std::uint64_t steps = 0;

    void clear() {
      longer.clear();
      turned.clear();
      sets.clear();
    }
    std::uint64_t bytes() const {
      return longer.bytes() + turned.bytes() + sets.bytes() + losses.capacity() * sizeof(Loss);
    }
  };

  bool prunes() const { return state_.pruning.on(); }

  // Gathers the nodes that have a child with a new feature, and the positions of the features of
  // all their children.
  void gather(const Block& block, std::uint32_t round) {
    block_.start(round);
    waiting_.clear();
    for (std::size_t i = 0; i < block.open.size(); ++i) {
      if (i % 1024 == 0) token_->check();
      const NodeId u = block.open[i];
      bool news = false;
      for (const NodeId c : state_.dag.children(u)) {
        block_.children.push_back(state_.nodes[c].newest);
        news = news || block_.is_new(block_.children.back());
      }
      if (news) {
        block_.end_node(u);
        if (!prunes()) continue;
        const std::span<const Reach> reach = state_.pruning.reach(u);
        block_.reach.insert(block_.reach.end(), reach.begin(), reach.end());
        block_.weights.push_back(state_.pruning.weight(u));
      } else {
        block_.children.resize(block_.child_begin.back());
        if (prunes()) wait(u);
      }
    }
    lost_.assign(block_.nodes.size(), {});
    steps_ += kStepsToAHit * block_.children.size() / 4;
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

  // The nodes that wait are active when their block is closed by pairs. What the walk dropped is
  // not lost then.
  void take_up_waiting() {
    block_.nodes.insert(block_.nodes.end(), waiting_.begin(), waiting_.end());
    for (const NodeId u : waiting_) block_.weights.push_back(state_.pruning.weight(u));
    waiting_.clear();
    lost_.assign(block_.nodes.size(), {});
  }

  // Checks now and then for a stop, the memory limit and the work limit.
  void look_up() {
    token_->check();
    all_.work.add(steps_ - std::exchange(counted_, steps_));
    memory_.set(found_->bytes() + scratch_bytes());
  }
  std::uint64_t scratch_bytes() const {
    return block_.bytes() + left_.bytes() + right_.bytes() + longer_.bytes() + sets_.bytes() +
           growth_.bytes() + pair_delta_.bytes() + known_rows_.bytes() + parts_bytes_ +
           block_.nodes.capacity() * (2 * sizeof(Real) + sizeof(Lost));
  }

  // A unit of the budget. With pruning, a few large nodes of a rare label may take longer than
  // their pairs: features of pairs would cost the sign of the error.
  double steps_of_pairs() const {
    const auto n_children = static_cast<double>(block_.children.size());
    const double steps = static_cast<double>(kStepsToAHit) * n_children * n_children;
    return prunes() ? std::max(steps, kPatience) : steps;
  }
  double steps_left() const { return most_steps_ - static_cast<double>(steps_); }

  // False if the budget ran out.
  bool walk() {
    left_.clear();
    right_.clear();
    if (!grow_alone([&](const auto& look_up) { growth_.find_anchors(left_, look_up); })) {
      return false;
    }
    const std::size_t longest = state_.kernel.max_subsequence;
    for (std::size_t length = 1; !left_.empty() || !right_.empty(); ++length) {
      const bool extends = length != longest;
      if (!grow(left_, Direction::left, extends)) return false;
      if (!grow(right_, Direction::right, extends)) return false;
      if (!extends) break;
    }
    return true;
  }

  // Replaces a level by the next one.
  bool grow(SequenceLevel<Real>& level, Direction direction, bool extends) {
    longer_.clear();
    const bool within_budget = level.n_items() <= kPiece ? grow_alone([&](const auto& look_up) {
      growth_.grow(level, 0, level.size(), direction, extends, {longer_, right_, sets_}, look_up);
    })
                                                         : grow_in_pieces(level, direction,
                                                                          extends);
    std::swap(level, longer_);
    return within_budget;
  }

  template <class Grow>
  bool grow_alone(const Grow& grow) {
    growth_.start(block_, steps_left());
    const std::uint64_t before = steps_;
    grow([&] {
      steps_ = before + growth_.steps();
      look_up();
    });
    steps_ = before + growth_.steps();
    growth_.light().add_losses(lost_);
    return !growth_.is_over_budget();
  }

  // The budget is known to be exceeded only after some pieces. So these take a part of it, as far
  // as the earlier ones tell.
  bool grow_in_pieces(const SequenceLevel<Real>& level, Direction direction, bool extends) {
    const std::vector<std::size_t> begin = pieces(level);
    const std::size_t n_pieces = begin.size() - 1;
    const std::uint64_t before = steps_;
    std::size_t n = 1;
    for (std::size_t done = 0; done < n_pieces; done += n) {
      if (done > 0) {
        const double steps = static_cast<double>(steps_ - before) / static_cast<double>(done);
        const double fit = std::min(steps_left() / (4.0 * steps), double{kMostParts});
        n = std::max<std::size_t>(1, static_cast<std::size_t>(fit));
      }
      n = std::min(n, n_pieces - done);
      const auto bounds = std::span(begin).subspan(done, n + 1);
      if (all_.helpers.available()) {
        grow_apart(level, bounds, direction, extends);
      } else {
        grow_here(level, bounds, direction, extends);
      }
      look_up();
      if (steps_left() < 0.0) return false;
    }
    return true;
  }

  // Without help the same happens at once, without parts.
  void grow_here(const SequenceLevel<Real>& level, std::span<const std::size_t> begin,
                 Direction direction, bool extends) {
    const double left = steps_left();
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
      growth_.start(block_, left);
      const std::uint64_t before = steps_;
      growth_.grow(level, begin[i], begin[i + 1], direction, extends, {longer_, right_, sets_},
                   [&] {
                     steps_ = before + growth_.steps();
                     look_up();
                   });
      steps_ = before + growth_.steps();
      growth_.light().add_losses(lost_);
    }
  }

  void grow_apart(const SequenceLevel<Real>& level, std::span<const std::size_t> begin,
                  Direction direction, bool extends) {
    const std::size_t n = begin.size() - 1;
    if (parts_.size() < n) parts_.resize(n);
    all_.helpers.split(n, worker_, *token_, [&](std::size_t i, int worker, const StopToken& token) {
      grow_piece(level, begin[i], begin[i + 1], direction, extends, parts_[i],
                 all_.scratch_of(worker), token);
    });
    for (std::size_t i = 0; i < n; ++i) merge(parts_[i]);
    parts_bytes_ =
        std::accumulate(parts_.begin(), parts_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Part& part) { return sum + part.bytes(); });
  }

  // The first class of each piece, and the end of the last one.
  static std::vector<std::size_t> pieces(const SequenceLevel<Real>& level) {
    std::vector<std::size_t> begin{0};
    std::size_t end = kPiece;  // in the level's items
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (level.at(i).end < end && i + 1 < level.size()) continue;
      begin.push_back(i + 1);
      end = level.at(i).end + kPiece;
    }
    return begin;
  }

  void grow_piece(const SequenceLevel<Real>& level, std::size_t first, std::size_t last,
                  Direction direction, bool extends, Part& part, PartialScratch<Real>& scratch,
                  const StopToken& token) const {
    part.clear();
    SequenceGrowth<Real>& growth = scratch.growth;
    growth.start(block_, steps_left());
    std::uint64_t counted = 0;
    growth.grow(level, first, last, direction, extends, {part.longer, part.turned, part.sets}, [&] {
      token.check();
      all_.work.add(growth.steps() - std::exchange(counted, growth.steps()));
      scratch.memory.set(growth.bytes() + part.bytes());
    });
    scratch.memory.set(0);
    part.steps = growth.steps();
    growth.light().take_losses(part.losses);
  }

  void merge(const Part& part) {
    steps_ += part.steps;
    counted_ += part.steps;
    longer_.absorb(part.longer);
    right_.absorb(part.turned);
    sets_.absorb(part.sets);
    for (const Loss& loss : part.losses) lost_[loss.node] += loss.lost();
  }

  // For too many classes: each pair of nodes becomes one feature, with all that the two still
  // share. Its values are proportional to the roots of Delta(u, u), so that it takes no more than
  // that from u's private mass.
  void close_by_pairs() {
    ++found_->n_by_pairs;
    sets_.clear();
    pair_delta_.clear();
    std::uint64_t pair_steps = pair_delta_.steps();
    known_rows_.start(block_.nodes);
    const auto n = static_cast<std::uint32_t>(block_.nodes.size());
    using std::sqrt;
    root_.clear();
    for (const NodeId u : block_.nodes) root_.push_back(sqrt(state_.self[u]));
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::span<const Real> known = known_rows_.row(i);
      steps_ += pair_delta_.steps() - std::exchange(pair_steps, pair_delta_.steps());
      steps_ += kStepsToAPair * (n - i);
      look_up();
      for (std::uint32_t j = i + 1; j < n; ++j) {
        if ((state_.side(block_.nodes[i]) | state_.side(block_.nodes[j])) != kBothSides) continue;
        const Real delta = pair_delta_(block_.nodes[i], block_.nodes[j], *token_);
        const Real rest = delta - known[j];
        if (negligible(rest, delta)) continue;
        if (prunes() && std::fabs(as_double(rest)) <= state_.pruning.theta()) {
          lose_pair(i, j, std::fabs(as_double(rest)));
          continue;
        }
        const bool i_is_less = is_less(root_[i], root_[j]);
        const Real less = i_is_less ? root_[i] / root_[j] : root_[j] / root_[i];
        const Member<Real> pair[] = {{i, i_is_less ? less : Real(1.0)},
                                     {j, i_is_less ? Real(1.0) : less}};
        sets_.add_distinct(pair, rest / less);
      }
    }
  }

  // No two losses are of the same pair, so their squares need not be added.
  void lose_pair(std::uint32_t i, std::uint32_t j, double mass) {
    lost_[i].square = lost_[j].square = state_.pruning.theta();
    lost_[i].row += mass * state_.pruning.weight(block_.nodes[j]);
    lost_[j].row += mass * state_.pruning.weight(block_.nodes[i]);
  }

  // Drops sets that are light in all their nodes. The others go to the result, the heaviest first,
  // so that a node's light features are at the end of its list.
  void keep_sets() {
    order_.clear();
    growth_.start(block_, 0.0);
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      const auto& set = sets_.at(s);
      if (growth_.light().drop_set(set.mass, sets_.items(set))) continue;
      order_.push_back({prunes() ? std::fabs(as_double(set.mass)) : 0.0, s});
    }
    growth_.light().add_losses(lost_);
    if (prunes()) {
      std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
    }
    for (const auto& [mass, s] : order_) {
      const std::span<const Member<Real>> members = sets_.items(sets_.at(s));
      std::size_t at = found_->members.size();
      found_->members.resize(at + members.size());
      found_->values.resize(at + members.size());
      for (const Member<Real>& member : members) {
        found_->members[at] = first_ + member.node;
        found_->values[at++] = member.value;
      }
      found_->set_begin.push_back(at);
      found_->masses.push_back(sets_.at(s).mass);
    }
  }

  // Updates the mass of each active node and its private part, and finds the nodes that go on: none
  // if the block closes.
  void account(Block& block, bool closes) {
    const std::size_t n = block_.nodes.size();
    emitted_.assign(n, Real(0.0));
    found_->n_sets.resize(first_ + n);
    for (std::size_t s = first_set_; s < found_->masses.size(); ++s) {
      for (std::uint64_t i = found_->set_begin[s]; i < found_->set_begin[s + 1]; ++i) {
        emitted_[found_->members[i] - first_] +=
            found_->masses[s] * found_->values[i] * found_->values[i];
        ++found_->n_sets[found_->members[i]];
      }
    }
    if (!closes) find_totals();
    closes = closes || (prunes() && close_light());
    block.open.clear();
    if (!closes) block.open = waiting_;
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId u = block_.nodes[i];
      if (i % 1024 == 0) look_up();
      Real total = state_.self[u];
      if (!closes && goes_on(i)) {
        block.open.push_back(u);
        total = totals_[i];
      } else if (prunes()) {
        found_->closed.push_back(u);
      }
      if (lost_[i].any()) found_->lost.push_back({u, lost_[i]});
      if (prunes() && (lost_[i].any() || is_touched(u))) found_->touched.push_back(u);
      const Real rest = total - state_.nodes[u].found - emitted_[i];
      const bool needed = state_.nodes[u].reused && !negligible(rest, total);
      found_->total.push_back(total);
      found_->private_mass.push_back(needed ? rest : Real(0.0));
      found_->n_private += needed;
    }
    steps_ += kStepsToAHit * (found_->set_begin.back() - found_->set_begin[first_set_]) / 2;
  }

  // Delta(u, u) of the fragments so far, of the nodes that go on.
  void find_totals() {
    const std::size_t n = block_.nodes.size();
    totals_.resize(n);
    const std::size_t n_pieces = (n + kPieceNodes - 1) / kPieceNodes;
    std::vector<std::uint64_t> steps(n_pieces, 0);
    all_.helpers.split(n_pieces, worker_, *token_,
                       [&](std::size_t piece, int worker, const StopToken& token) {
                         PartialKnown<Real>& known = all_.scratch_of(worker).known;
                         const std::size_t last = std::min(n, (piece + 1) * kPieceNodes);
                         for (std::size_t i = piece * kPieceNodes; i < last; ++i) {
                           if (!goes_on(i)) continue;
                           totals_[i] = known.self(block_.nodes[i], token, steps[piece]);
                         }
                         token.check();
                       });
    steps_ = std::accumulate(steps.begin(), steps.end(), steps_);
    look_up();
  }

  // A node that shares no fragment of this depth shares no deeper one: all the rest is private.
  // That does not hold if something was dropped here or below.
  bool goes_on(std::size_t i) const {
    if (found_->n_sets[first_ + i] > 0) return true;
    return prunes() && (lost_[i].any() || is_touched(block_.nodes[i]));
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
    for (std::size_t i = 0; i < block_.nodes.size(); ++i) {
      const NodeId u = block_.nodes[i];
      deeper_.push_back(goes_on(i) ? deeper(u, totals_[i]) : 0.0);
      if (deeper_.back() > theta) return false;
    }
    const double* next = deeper_.data();
    double sum = 0.0;
    for (const NodeId u : waiting_) sum += std::sqrt(*next++) * state_.pruning.weight(u);
    for (const NodeId u : block_.nodes) sum += std::sqrt(*next++) * state_.pruning.weight(u);
    next = deeper_.data();
    const auto lost = [sum](double deeper) { return Lost{deeper, std::sqrt(deeper) * sum}; };
    for (const NodeId u : waiting_) {
      found_->lost.push_back({u, lost(*next++)});
      found_->touched.push_back(u);
      found_->closed.push_back(u);
    }
    for (Lost& own : lost_) own += lost(*next++);
    return true;
  }

  static constexpr std::uint64_t kStepsToAPair = 20;
  static constexpr double kPatience = 1e8;
  static constexpr std::size_t kPiece = 1 << 12;  // items of a level
  static constexpr std::size_t kPieceNodes = 128;
  static constexpr int kMostParts = 64;  // before they are merged

  PartialWalkers<Real>& all_;
  const PartialState<Real>& state_;
  const int worker_;
  SequenceGrowth<Real>& growth_;
  MemoryShare memory_;
  PartialPairDelta<Real> pair_delta_;
  PartialKnownRows<Real> known_rows_;
  const StopToken* token_ = nullptr;
  PartialFound<Real>* found_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t counted_ = 0;  // the part of these that is on the meter
  double most_steps_ = 0.0;

  PartialBlock<Real> block_;
  std::uint32_t first_ = 0;    // of the nodes, in found_->active
  std::size_t first_set_ = 0;  // of their sets, in found_->masses
  SequenceLevel<Real> left_, right_, longer_;
  NodeSets<Real> sets_;
  std::vector<Lost> lost_;       // by node
  std::vector<NodeId> waiting_;  // open nodes of the block without news
  std::vector<Part> parts_;
  std::uint64_t parts_bytes_ = 0;
  std::vector<std::pair<double, std::size_t>> order_;  // of sets: by mass, then by number
  std::vector<Real> totals_;                           // by node that goes on
  std::vector<double> deeper_;
  std::vector<Real> emitted_;
  std::vector<Real> root_;
};

}  // namespace filbert
