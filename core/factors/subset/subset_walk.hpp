// One production in one round: which of its nodes share fragments of the round's depth.
//
// The walk visits the slots of the production with a set S of nodes and the summed mass of the
// partial fragments that exactly these nodes share. In a slot, S is split by the features of its
// members' children; features with the same members go on together. This avoids the exponential
// number of fragments: most have the same members as many others, or only one member.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/memory_meter.hpp"
#include "base/parallel.hpp"
#include "base/set_keys.hpp"
#include "base/work_meter.hpp"
#include "factors/subset/block_children.hpp"
#include "factors/subset/child_features.hpp"
#include "factors/subset/known_pairs.hpp"
#include "factors/subset/subset_pairs.hpp"
#include "factors/subset/subset_state.hpp"

namespace filbert {

template <class Real>
class SubsetWalker {
 public:
  SubsetWalker(const SubsetState<Real>& state, MemoryMeter& meter, WorkMeter& work)
      : state_(state),
        meter_(meter),
        work_(work),
        features_(state),
        children_(state.dag),
        pair_delta_(state),
        known_pairs_(state) {}

  // Runs round `round` of a block and adds to `found`. The block's `open` keeps the nodes that go
  // on.
  void run(Block& block, std::uint32_t round, double budget, const StopToken& token,
           SubsetFound<Real>& found) {
    features_.start(round);
    first_ = static_cast<std::uint32_t>(found.active.size());
    first_set_ = found.masses.size();
    nodes_.clear();
    for (const NodeId u : block.open) {
      const auto children = state_.dag.children(u);
      const bool news = std::any_of(children.begin(), children.end(),
                                    [&](NodeId c) { return features_.has_news(c); });
      if (news) nodes_.push_back(u);
    }
    found.active.insert(found.active.end(), nodes_.begin(), nodes_.end());
    found.n_shared.resize(found.active.size(), 0);
    bool by_pairs = false;
    steps_ = counted_ = 0;
    if (nodes_.size() >= 2 && state_.have_both_sides(nodes_)) {
      const auto n = static_cast<double>(nodes_.size());
      most_steps_ = budget * n * n * static_cast<double>(state_.dag.arity(nodes_.front()));
      by_pairs = !walk_all(found, token);
      if (by_pairs) close_by_pairs(found, token);
    }
    account(block, found, by_pairs);
    steps_ +=
        static_cast<double>(nodes_.size() + found.set_begin.back() - found.set_begin[first_set_]);
    count_steps();
  }

 private:
  void count_steps() {
    work_.add(static_cast<std::uint64_t>(kNanoseconds * (steps_ - counted_)));
    counted_ = steps_;
  }

  struct Frame {
    std::uint32_t slot;
    std::uint32_t begin, end;  // members, in arena_
    Real lo, ex;               // mass without and with a fragment of the last round

    std::uint32_t size() const { return end - begin; }
    // Adds one slot in which all members share these fragments, or may stop.
    void extend(const SubsetMasses<Real>& shared) {
      const Real old_factor = SubsetTree::factor(shared.old_mass);
      ex = ex * (old_factor + shared.new_mass) + lo * shared.new_mass;
      lo = lo * old_factor;
    }
  };

  // False if the budget ran out.
  bool walk_all(SubsetFound<Real>& found, const StopToken& token) {
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    Frame all{0, 0, n, state_.kernel.template bare<Real>(), Real(0.0)};
    children_.start(nodes_, [&](NodeId c) { all.extend(features_.all_of(c)); });
    find_last_news(n);
    set_of_key_.clear();
    arena_.resize(n);
    std::iota(arena_.begin(), arena_.end(), 0u);
    stack_.assign(1, all);
    std::uint32_t ticks = 0;
    while (!stack_.empty()) {
      const Frame frame = stack_.back();
      stack_.pop_back();
      arena_.resize(frame.end);  // memory above belongs to finished frames
      if (!step(frame, found)) return false;
      if (++ticks % 1024 == 0) {
        token.check();
        meter_.check(found.bytes());
        count_steps();
      }
    }
    return true;
  }

  // By member: the number of varying slots up to the last one with a new feature.
  void find_last_news(std::uint32_t n) {
    last_news_.assign(n, 0);
    for (std::uint32_t slot = 0; slot < children_.n_slots(); ++slot) {
      child_has_news_.clear();
      for (std::uint32_t c = 0; c < children_.n_different(slot); ++c) {
        child_has_news_.push_back(features_.has_news(children_.child(slot, c)));
      }
      for (std::uint32_t i = 0; i < n; ++i) {
        if (child_has_news_[children_.number(slot, i)]) last_news_[i] = slot + 1;
      }
    }
  }

  // Takes one set through its slots. False if the budget ran out.
  bool step(Frame frame, SubsetFound<Real>& found) {
    // Only a set that has no fragment of the last round yet asks for them.
    const bool asks = frame.slot < children_.n_slots() && is_zero(frame.ex);
    const auto [most_news, second_news] = asks ? two_latest_news(frame) : TwoSlots{};
    for (; frame.slot < children_.n_slots(); ++frame.slot) {
      // If there is no fragment of the last round so far, two members must still be able to get
      // one. If no member can after this slot, only this slot's new features matter.
      const bool wanting = is_zero(frame.ex);
      if (wanting && second_news <= frame.slot) return true;
      features_.only_new(wanting && most_news == frame.slot + 1);
      steps_ += frame.size();
      const NodeId first = children_.child_of(frame.slot, arena_[frame.begin]);
      if (have_same_child(frame)) {
        frame.extend(features_.all_of(first));
      } else if (frame.size() == 2) {
        const NodeId second = children_.child_of(frame.slot, arena_[frame.begin + 1]);
        frame.extend(features_.common(first, second, steps_));
      } else {
        frame.extend(split(frame));
      }
      if (steps_ > most_steps_) return false;
    }
    if (!is_zero(frame.ex)) emit(frame, found);
    return true;
  }

  using TwoSlots = std::pair<std::uint32_t, std::uint32_t>;
  TwoSlots two_latest_news(const Frame& frame) const {
    std::uint32_t most = 0;
    std::uint32_t second = 0;
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      const std::uint32_t news = last_news_[arena_[i]];
      second = std::max(second, std::min(news, most));
      most = std::max(most, news);
    }
    return {most, second};
  }

  bool have_same_child(const Frame& frame) const {
    const std::uint32_t first = children_.number(frame.slot, arena_[frame.begin]);
    return std::all_of(
        arena_.begin() + frame.begin + 1, arena_.begin() + frame.end,
        [&](std::uint32_t member) { return children_.number(frame.slot, member) == first; });
  }

  // Splits a set by the features of its members' children in this slot. Every subset of at least
  // two members, except the whole set, becomes a separate frame. Returns the masses that all
  // members share.
  SubsetMasses<Real> split(const Frame& frame) {
    group_by_child(frame);
    seen_.clear();
    seen_of_feature_.clear();
    visits_.clear();
    // 1. The members of each feature, as a key of the groups that have it. Only one child has a
    // private feature, so it is not looked up, and it matters only if several members have it.
    std::size_t n_alone = 0;
    for (std::size_t g = 0; g < std::min(kAhead, groups_.size()); ++g) {
      features_.follow(groups_[g].child);
    }
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      Group& group = groups_[g];
      const SetKey key = set_key(g);
      if (g + 2 * kAhead < groups_.size()) features_.prefetch_place(groups_[g + 2 * kAhead].child);
      if (g + kAhead < groups_.size()) features_.follow(groups_[g + kAhead].child);
      features_.fetch_more();
      features_.for_each_chunk(group.child, [&](const FeatureLists::Chunk& chunk) {
        if (chunk.private_feature != kNone) {
          if (group.n_members > 1) {
            visits_.push_back(static_cast<std::uint32_t>(seen_.size()));
            seen_.push_back({key, chunk.private_feature, group.n_members, group.sides});
          } else {
            ++n_alone;
          }
        }
        for (const std::uint32_t feature : chunk.shared) {
          std::uint32_t& known = seen_of_feature_.at(feature);
          if (known == 0) {
            seen_.push_back({{}, feature, 0, 0});
            known = static_cast<std::uint32_t>(seen_.size());
          }
          Seen& seen = seen_[known - 1];
          seen.key += key;
          seen.n_members += group.n_members;
          seen.sides |= group.sides;
          visits_.push_back(known - 1);
        }
      });
      group.visits_end = visits_.size();
    }
    steps_ += static_cast<double>(visits_.size() + n_alone);
    if (steps_ > most_steps_) return {};
    find_buckets();
    return push_buckets(frame);
  }

  struct Group {
    NodeId child;
    std::uint32_t n_members;
    std::uint8_t sides;      // of its members
    std::uint32_t begin;     // in grouped_
    std::size_t visits_end;  // in visits_
  };

  // Members with the same child have the same features there: they stay together.
  void group_by_child(const Frame& frame) {
    for (const std::uint32_t number : numbers_met_) group_of_number_[number] = kNone;
    numbers_met_.clear();
    if (group_of_number_.size() < children_.n_different(frame.slot)) {
      group_of_number_.resize(children_.n_different(frame.slot), kNone);
    }
    groups_.clear();
    group_of_.clear();
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      const std::uint32_t number = children_.number(frame.slot, arena_[i]);
      std::uint32_t& known = group_of_number_[number];
      if (known == kNone) {
        known = static_cast<std::uint32_t>(groups_.size());
        numbers_met_.push_back(number);
        groups_.push_back({children_.child(frame.slot, number), 0, 0, 0, 0});
      }
      ++groups_[known].n_members;
      groups_[known].sides |= state_.side(nodes_[arena_[i]]);
      group_of_.push_back(known);
    }
    std::uint32_t begin = 0;
    for (Group& group : groups_) {
      group.begin = begin;
      begin += group.n_members;
      group.n_members = 0;
    }
    grouped_.resize(begin);
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      Group& group = groups_[group_of_[i - frame.begin]];
      grouped_[group.begin + group.n_members++] = arena_[i];
    }
  }

  // 2. Features of the same members, at least two and not of one side alone, are one bucket.
  void find_buckets() {
    buckets_.clear();
    bucket_of_key_.clear();
    for (std::uint32_t s = 0; s < seen_.size(); ++s) {
      const Seen& seen = seen_[s];
      if (seen.n_members < 2 || seen.sides != kBothSides) continue;
      std::uint32_t& known = bucket_of_key_.at(seen.key);
      if (known == 0) {
        buckets_.push_back({s, seen.n_members, {}});
        known = static_cast<std::uint32_t>(buckets_.size());
      }
      features_.add(buckets_[known - 1].masses, seen.feature);
    }
  }

  // 3. A frame for each bucket, with its members: the groups that have its first feature.
  SubsetMasses<Real> push_buckets(const Frame& frame) {
    SubsetMasses<Real> all;
    auto top = static_cast<std::uint32_t>(arena_.size());  // above the waiting frames
    frame_of_seen_.assign(seen_.size(), kNone);
    for (const Bucket& bucket : buckets_) {
      if (bucket.n_members == frame.size()) {
        all = bucket.masses;
        continue;
      }
      const SubsetMasses<Real>& m = bucket.masses;
      frame_of_seen_[bucket.first_seen] = static_cast<std::uint32_t>(stack_.size());
      stack_.push_back({frame.slot + 1, top, top, frame.lo * m.old_mass,
                        frame.ex * (m.old_mass + m.new_mass) + frame.lo * m.new_mass});
      top += bucket.n_members;
    }
    arena_.resize(top);
    std::size_t visit = 0;
    for (const Group& group : groups_) {
      for (; visit < group.visits_end; ++visit) {
        const std::uint32_t at = frame_of_seen_[visits_[visit]];
        if (at == kNone) continue;
        Frame& next = stack_[at];
        std::copy_n(grouped_.begin() + group.begin, group.n_members, arena_.begin() + next.end);
        next.end += group.n_members;
      }
    }
    return all;
  }

  void emit(const Frame& frame, SubsetFound<Real>& found) {
    SetKey key;
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) key += set_key(arena_[i]);
    std::uint32_t& known = set_of_key_.at(key);
    if (known != 0) {
      found.masses[first_set_ + known - 1] += frame.ex;
      return;
    }
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      found.members.push_back(first_ + arena_[i]);
    }
    found.set_begin.push_back(found.members.size());
    found.masses.push_back(frame.ex);
    known = static_cast<std::uint32_t>(found.masses.size() - first_set_);
  }

  // For too many sets: each pair of nodes becomes one feature, with all that the two still share.
  void close_by_pairs(SubsetFound<Real>& found, const StopToken& token) {
    ++found.n_by_pairs;
    found.set_begin.resize(first_set_ + 1);
    found.members.resize(found.set_begin.back());
    found.masses.resize(first_set_);
    pair_delta_.clear();
    known_pairs_.start(nodes_);
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      token.check();
      meter_.check(found.bytes() + pair_delta_.bytes());
      steps_ += static_cast<double>((n - i) * state_.dag.arity(nodes_.front()));
      count_steps();
      const std::span<const Real> known = known_pairs_.row(i);
      for (std::uint32_t j = i + 1; j < n; ++j) {
        if ((state_.side(nodes_[i]) | state_.side(nodes_[j])) != kBothSides) continue;
        const Real delta = pair_delta_(nodes_[i], nodes_[j]);
        const Real rest = delta - known[j];
        if (negligible(rest, delta)) continue;
        found.members.push_back(first_ + i);
        found.members.push_back(first_ + j);
        found.set_begin.push_back(found.members.size());
        found.masses.push_back(rest);
      }
    }
  }

  // Updates the mass of each active node and its private part, and finds the nodes that go on.
  void account(Block& block, SubsetFound<Real>& found, bool by_pairs) {
    const std::size_t n = nodes_.size();
    emitted_.assign(n, Real(0.0));
    std::uint32_t* const n_shared = found.n_shared.data() + first_;
    for (std::size_t s = first_set_; s < found.masses.size(); ++s) {
      for (std::uint64_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        emitted_[found.members[i] - first_] += found.masses[s];
        ++n_shared[found.members[i] - first_];
      }
    }
    block.open.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId u = nodes_[i];
      if (i + kAhead < n) {
        for (const NodeId c : state_.dag.children(nodes_[i + kAhead])) features_.prefetch_place(c);
      }
      // A node that shares no fragment of this depth shares no deeper one: all the rest is private.
      Real total = state_.self[u];
      if (!by_pairs && n_shared[i] > 0) {
        block.open.push_back(u);
        total = state_.kernel.template bare<Real>();
        for (const NodeId c : state_.dag.children(u)) {
          total *= state_.kernel.factor(state_.nodes[c].found);
        }
      }
      const Real rest = total - state_.nodes[u].found - emitted_[i];
      const bool needed = state_.nodes[u].reused && !negligible(rest, total);
      found.total.push_back(total);
      found.private_mass.push_back(needed ? rest : Real(0.0));
      found.n_private += needed;
    }
  }

  static constexpr std::size_t kAhead = ChildFeatures<Real>::kAhead;
  static constexpr double kNanoseconds = 40.0;  // per step

  struct Seen {
    SetKey key;  // of the groups that have the feature
    std::uint32_t feature;
    std::uint32_t n_members;
    std::uint8_t sides;  // of them
  };

  // Features of the children in one slot that have the same members, taken together.
  struct Bucket {
    std::uint32_t first_seen;
    std::uint32_t n_members;
    SubsetMasses<Real> masses;
  };

  const SubsetState<Real>& state_;
  MemoryMeter& meter_;
  WorkMeter& work_;
  ChildFeatures<Real> features_;
  BlockChildren children_;
  SubsetPairDelta<Real> pair_delta_;
  KnownPairs<Real> known_pairs_;
  double steps_ = 0;
  double counted_ = 0;  // the part of these that is on the meter
  double most_steps_ = 0;

  // The block.
  std::vector<NodeId> nodes_;
  std::uint32_t first_ = 0;    // of them, in found.active
  std::size_t first_set_ = 0;  // of their sets, in found.masses
  std::vector<std::uint32_t> last_news_;
  std::vector<char> child_has_news_;
  std::vector<std::uint32_t> arena_;
  std::vector<Frame> stack_;
  ScratchMap<SetKey, std::uint32_t> set_of_key_;  // emitted set of the block + 1
  std::vector<Real> emitted_;

  // A split.
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_, grouped_;
  std::vector<std::uint32_t> group_of_number_;  // kNone except for numbers met
  std::vector<std::uint32_t> numbers_met_;
  std::vector<Seen> seen_;
  ScratchMap<std::uint32_t, std::uint32_t> seen_of_feature_;  // number + 1; 0: none
  std::vector<std::uint32_t> visits_;                         // of seen_, by group
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> frame_of_seen_;         // in stack_, or kNone
  ScratchMap<SetKey, std::uint32_t> bucket_of_key_;  // number + 1; 0: none
};

}  // namespace filbert
