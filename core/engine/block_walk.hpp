// One production in one round: which of its nodes share fragments of the round's depth.
//
// The slots of the production are gone through with a set S of nodes and the summed mass of the
// partial fragments that exactly these nodes share. In a slot S is split by the features of its
// members' children; features with the same members go on together. That is what keeps the
// exponential number of fragments down: most have the same members as many others, or only one.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "engine/factor_state.hpp"
#include "engine/pair_delta.hpp"
#include "engine/set_keys.hpp"

namespace filbert {

template <class Real>
class Walker {
 public:
  explicit Walker(const State<Real>& state) : state_(state), pair_delta_(state) {}

  // Round `round` of a block. `open` keeps the nodes that go on.
  Found<Real> run(Block& block, std::uint32_t round, double budget, const StopToken& token) {
    round_ = round;
    Found<Real> found;
    std::erase_if(block.open, [&](NodeId u) { return !has_news(u); });
    found.active = block.open;
    nodes_ = found.active;
    const auto n = static_cast<double>(nodes_.size());
    if (nodes_.size() >= 2) {
      const auto arity = static_cast<double>(state_.dag.arity(nodes_.front()));
      steps_left_ = budget * n * n * arity;
      if (!walk_all(found, token)) {
        close_by_pairs(found, token);
        found.by_pairs = true;
      }
    }
    account(found);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!found.closed[i]) block.open[kept++] = nodes_[i];
    }
    block.open.resize(kept);
    return found;
  }

 private:
  struct Frame {
    std::uint32_t slot;
    std::uint32_t begin, end;  // members, in arena_
    Real lo, ex;               // mass without and with a fragment of the last round
  };

  // Features of the children in one slot that have the same members, taken together.
  struct Bucket {
    std::uint32_t first_feature;
    std::uint32_t n_groups = 0;
    Real old_mass{0.0}, new_mass{0.0};
  };

  struct Sums {
    Real old_mass{0.0}, new_mass{0.0};
  };

  bool has_news(NodeId u) const {
    for (const NodeId c : state_.dag.children(u)) {
      if (state_.gained_in(c, round_ - 1)) return true;
    }
    return false;
  }

  NodeId child(std::uint32_t member, std::uint32_t slot) const {
    return state_.dag.children(nodes_[member])[slot];
  }

  // False where the budget ran out.
  bool walk_all(Found<Real>& found, const StopToken& token) {
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    const auto arity = static_cast<std::uint32_t>(state_.dag.arity(nodes_.front()));
    last_news_.assign(n, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t slot = 0; slot < arity; ++slot) {
        if (state_.gained_in(child(i, slot), round_ - 1)) last_news_[i] = slot;
      }
    }
    set_of_key_.clear();
    arena_.resize(n);
    std::iota(arena_.begin(), arena_.end(), 0u);
    stack_.assign(1, {0, 0, n, state_.lambda, Real(0.0)});
    std::uint32_t ticks = 0;
    while (!stack_.empty()) {
      const Frame frame = stack_.back();
      stack_.pop_back();
      arena_.resize(frame.end);  // what lies above belongs to frames that are done
      if (!step(frame, arity, found)) return false;
      if (++ticks % 1024 == 0) token.check();
    }
    return true;
  }

  // One set through its slots. False where the budget ran out.
  bool step(Frame frame, std::uint32_t arity, Found<Real>& found) {
    for (; frame.slot < arity; ++frame.slot) {
      // Without a fragment of the last round so far, two members must still be able to get one; and
      // where none can after this slot, only this slot's new features matter.
      new_only_ = false;
      if (is_zero(frame.ex)) {
        const auto [can, last] = outlook(frame);
        if (can < 2) return true;
        new_only_ = last == frame.slot;
      }
      const std::uint32_t size = frame.end - frame.begin;
      steps_left_ -= size;
      const NodeId first = child(arena_[frame.begin], frame.slot);
      bool same = true;
      for (std::uint32_t i = frame.begin + 1; i < frame.end && same; ++i) {
        same = child(arena_[i], frame.slot) == first;
      }
      Sums all;
      if (same) {
        all = masses_of(first);
      } else if (size == 2) {
        all = common_masses(first, child(arena_[frame.begin + 1], frame.slot));
      } else {
        split(frame, all);
      }
      if (steps_left_ < 0) return false;
      frame.ex = frame.ex * (Real(1.0) + all.old_mass + all.new_mass) + frame.lo * all.new_mass;
      frame.lo = frame.lo * (Real(1.0) + all.old_mass);
    }
    if (!is_zero(frame.ex)) emit(frame, found);
    return true;
  }

  static bool is_zero(double x) { return x == 0.0; }
  static bool is_zero(const Wide& x) { return x.is_zero(); }

  // How many members can still get a new feature, and the last slot where one can.
  std::pair<std::uint32_t, std::uint32_t> outlook(const Frame& frame) const {
    std::uint32_t can = 0;
    std::uint32_t last = 0;
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      const std::uint32_t news = last_news_[arena_[i]];
      can += news >= frame.slot;
      last = std::max(last, news);
    }
    return {can, last};
  }

  Sums masses_of(NodeId c) const {
    if (state_.gained_in(c, round_ - 1)) return {state_.found[c] - state_.gain[c], state_.gain[c]};
    return {state_.found[c], Real(0.0)};
  }

  bool is_new(std::uint32_t feature) const { return feature >= state_.first_new_feature; }

  void add(Sums& sums, std::uint32_t feature) const {
    (is_new(feature) ? sums.new_mass : sums.old_mass) += state_.mass[feature];
  }

  // The shared features of two different children: a merge of two lists that descend by rounds and
  // ascend within them.
  Sums common_masses(NodeId a, NodeId b) {
    Sums sums;
    chunks_a_.clear();
    for_each_chunk(a, [&](const auto& chunk) { chunks_a_.push_back(chunk); });
    std::size_t next = 0;
    for_each_chunk(b, [&](const auto& chunk) {
      while (next < chunks_a_.size() && chunks_a_[next].round > chunk.round) ++next;
      if (next == chunks_a_.size() || chunks_a_[next].round != chunk.round) return;
      const std::span<const std::uint32_t> x = chunks_a_[next].shared;
      const std::span<const std::uint32_t> y = chunk.shared;
      steps_left_ -= static_cast<double>(x.size() + y.size());
      for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        if (x[i] == y[j]) add(sums, x[i]);
        const bool advance_x = x[i] <= y[j];
        const bool advance_y = y[j] <= x[i];
        i += advance_x;
        j += advance_y;
      }
    });
    return sums;
  }

  // Splits a set by the features of its members' children in this slot. What all members share goes
  // into `all`; every other set of two or more members becomes a frame of its own.
  void split(const Frame& frame, Sums& all) {
    group_by_child(frame);
    table_.clear();
    buckets_.clear();
    bucket_of_key_.clear();
    // 1. The members of each feature, as a key of the groups that have it.
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      const SetKey key = set_key(g);
      for_each_feature(groups_[g].child, [&](std::uint32_t feature) {
        SeenFeature& seen = table_.at(feature);
        seen.key += key;
        seen.n_members += groups_[g].n_members;
        steps_left_ -= 1;
      });
      if (steps_left_ < 0) return;
    }
    // 2. Features of the same members, and of two at least, are one bucket.
    for (const std::uint32_t feature : table_.keys()) {
      SeenFeature& seen = table_.at(feature);
      if (seen.n_members < 2) continue;
      std::uint32_t& known = bucket_of_key_.at(seen.key);
      if (known == 0) {
        buckets_.push_back({feature, seen.n_members, Real(0.0), Real(0.0)});
        known = static_cast<std::uint32_t>(buckets_.size());
      }
      seen.bucket = known - 1;
      Bucket& bucket = buckets_[seen.bucket];
      (is_new(feature) ? bucket.new_mass : bucket.old_mass) += state_.mass[feature];
    }
    push_buckets(frame, all);
  }

  struct Group {
    NodeId child;
    std::uint32_t n_members;
    std::uint32_t begin;  // in grouped_
  };

  // Members with the same child have the same features there: they stay together.
  void group_by_child(const Frame& frame) {
    groups_.clear();
    group_of_child_.clear();
    group_of_.clear();
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) {
      const NodeId c = child(arena_[i], frame.slot);
      std::uint32_t& known = group_of_child_.at(c);
      if (known == 0) {
        groups_.push_back({c, 0, 0});
        known = static_cast<std::uint32_t>(groups_.size());
      }
      ++groups_[known - 1].n_members;
      group_of_.push_back(known - 1);
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

  // The chunks that matter in this slot, newest first.
  template <class Visit>
  void for_each_chunk(NodeId c, const Visit& visit) const {
    if (!new_only_) {
      state_.lists.for_each_chunk(c, visit);
    } else if (state_.gained_in(c, round_ - 1)) {
      state_.lists.newest_chunk(c, round_ - 1, visit);
    }
  }

  template <class Visit>
  void for_each_feature(NodeId c, const Visit& visit) const {
    for_each_chunk(c, [&](const FeatureLists::Chunk& chunk) {
      if (chunk.private_feature != kNone) visit(chunk.private_feature);
      for (const std::uint32_t feature : chunk.shared) visit(feature);
    });
  }

  void push_buckets(const Frame& frame, Sums& all) {
    const std::uint32_t size = frame.end - frame.begin;
    // 3. The members of each bucket, from the groups that have its first feature.
    auto top = static_cast<std::uint32_t>(arena_.size());  // above the frames that wait
    bucket_frames_.clear();
    for (const Bucket& bucket : buckets_) {
      if (bucket.n_groups == size) {
        all.old_mass += bucket.old_mass;
        all.new_mass += bucket.new_mass;
        bucket_frames_.push_back(kNone);
        continue;
      }
      Frame next{frame.slot + 1, top, top, frame.lo * bucket.old_mass,
                 frame.ex * (bucket.old_mass + bucket.new_mass) + frame.lo * bucket.new_mass};
      top += bucket.n_groups;
      bucket_frames_.push_back(static_cast<std::uint32_t>(stack_.size()));
      stack_.push_back(next);
    }
    arena_.resize(top);
    for (const Group& group : groups_) {
      for_each_feature(group.child, [&](std::uint32_t feature) {
        const SeenFeature& seen = table_.at(feature);
        if (seen.n_members < 2 || buckets_[seen.bucket].first_feature != feature) return;
        const std::uint32_t at = bucket_frames_[seen.bucket];
        if (at == kNone) return;
        for (std::uint32_t i = 0; i < group.n_members; ++i) {
          arena_[stack_[at].end++] = grouped_[group.begin + i];
        }
      });
    }
  }

  void emit(const Frame& frame, Found<Real>& found) {
    SetKey key;
    for (std::uint32_t i = frame.begin; i < frame.end; ++i) key += set_key(arena_[i]);
    std::uint32_t& known = set_of_key_.at(key);
    if (known != 0) {
      found.masses[known - 1] += frame.ex;
      return;
    }
    known = static_cast<std::uint32_t>(found.masses.size() + 1);
    found.members.insert(found.members.end(), arena_.begin() + frame.begin,
                         arena_.begin() + frame.end);
    found.set_begin.push_back(static_cast<std::uint32_t>(found.members.size()));
    found.masses.push_back(frame.ex);
  }

  // Too many sets: each pair of nodes becomes one feature, with all that the two still share.
  void close_by_pairs(Found<Real>& found, const StopToken& token) {
    found.set_begin.assign(1, 0);
    found.members.clear();
    found.masses.clear();
    pair_delta_.clear();
    new_only_ = false;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      token.check();
      for (std::uint32_t j = i + 1; j < nodes_.size(); ++j) {
        const Real delta = pair_delta_(nodes_[i], nodes_[j]);
        const Sums known = common_masses(nodes_[i], nodes_[j]);
        const Real rest = delta - known.old_mass - known.new_mass;
        if (negligible(rest, delta)) continue;
        found.members.push_back(i);
        found.members.push_back(j);
        found.set_begin.push_back(static_cast<std::uint32_t>(found.members.size()));
        found.masses.push_back(rest);
      }
    }
  }

  // What each active node has now, and how much of it is private.
  void account(Found<Real>& found) const {
    const std::size_t n = nodes_.size();
    std::vector<Real> emitted(n, Real(0.0));
    std::vector<bool> any(n, false);
    for (std::size_t s = 0; s < found.masses.size(); ++s) {
      for (std::uint32_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        emitted[found.members[i]] += found.masses[s];
        any[found.members[i]] = true;
      }
    }
    found.total.resize(n);
    found.private_mass.resize(n);
    found.closed.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId u = nodes_[i];
      // A node that shares no fragment of this depth shares no deeper one: all the rest is private.
      found.closed[i] = found.by_pairs || !any[i];
      if (found.closed[i]) {
        found.total[i] = state_.self[u];
      } else {
        Real total = state_.lambda;
        for (const NodeId c : state_.dag.children(u)) total *= Real(1.0) + state_.found[c];
        found.total[i] = total;
      }
      const Real rest = found.total[i] - state_.found[u] - emitted[i];
      found.private_mass[i] = negligible(rest, found.total[i]) ? Real(0.0) : rest;
    }
  }

  struct SeenFeature {
    SetKey key;
    std::uint32_t n_members = 0;
    std::uint32_t bucket = 0;
  };

  const State<Real>& state_;
  PairDelta<Real> pair_delta_;
  std::uint32_t round_ = 0;
  double steps_left_ = 0;
  std::span<const NodeId> nodes_;
  std::vector<std::uint32_t> last_news_;
  std::vector<std::uint32_t> arena_;
  std::vector<Frame> stack_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> grouped_;
  ScratchMap<std::uint32_t, SeenFeature> table_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> bucket_frames_;
  ScratchMap<SetKey, std::uint32_t> bucket_of_key_;   // bucket + 1
  ScratchMap<SetKey, std::uint32_t> set_of_key_;      // emitted set + 1
  ScratchMap<NodeId, std::uint32_t> group_of_child_;  // group + 1
  std::vector<std::uint32_t> group_of_;
  bool new_only_ = false;
  std::vector<FeatureLists::Chunk> chunks_a_;
};

}  // namespace filbert
