// Fragments are found bottom-up in rounds; round d adds the fragments of depth d. A fragment of
// depth d at a node is its production with, for each child, either nothing or a fragment of smaller
// depth, at least one of them of depth d - 1. Only nodes of one production can share a fragment, so
// the productions of a round are independent blocks: they are shared out to threads, and ids are
// given in the order of blocks afterwards, so results do not depend on the threads.
//
// Within a block the slots of the production are gone through with a set S of nodes and the summed
// mass of the partial fragments that exactly these nodes share. In a slot S is split by the
// features of its members' children; features with the same members go on together. That is what
// keeps the exponential number of fragments down: most have the same members as many others, or
// only one.
//
// A node's fragments that no other node has are not listed: their mass is what is missing to
// Delta(u, u). Where that mass is needed inside of parents that share the child, it is a *private*
// feature: part of the child's list, but not a column of Phi.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

#include "base/errors.hpp"
#include "engine/factors.hpp"
#include "engine/set_keys.hpp"
#include "forest/productions.hpp"

namespace filbert {

namespace {

// What subtraction leaves of a total by rounding alone.
bool negligible(double part, double total) { return std::fabs(part) <= 1e-13 * std::fabs(total); }
bool negligible(const Wide& part, const Wide& total) {
  if (part.is_zero()) return true;
  if (total.is_zero()) return false;
  return std::fabs(ratio(part, total, Wide(1.0))) <= 1e-13;
}

// ------------------------------------------------------------------------------ feature lists

// The features of each node, in chunks of one round, newest first: while a round is on, the chunks
// of the rounds before do not move.
class FeatureLists {
 public:
  explicit FeatureLists(std::size_t n_nodes) : head_(n_nodes, kNoChunk) {}

  // The newest chunk of a node is that of `round`, if it has one of that round.
  struct Chunk {
    std::uint64_t previous;
    std::uint32_t round;
    std::uint32_t private_feature;  // or kNone
    std::span<const std::uint32_t> shared;
  };

  template <class Visit>
  void for_each_chunk(NodeId u, const Visit& visit) const {
    for (std::uint64_t at = head_[u]; at != kNoChunk;) {
      const Chunk chunk = read(at);
      visit(chunk);
      at = chunk.previous;
    }
  }

  // The newest one, if it is of this round.
  template <class Visit>
  void newest_chunk(NodeId u, std::uint32_t round, const Visit& visit) const {
    if (head_[u] == kNoChunk) return;
    const Chunk chunk = read(head_[u]);
    if (chunk.round == round) visit(chunk);
  }

  void add(NodeId u, std::uint32_t round, std::uint32_t private_feature,
           std::span<const std::uint32_t> shared) {
    const std::uint64_t at = data_.size();
    data_.push_back(static_cast<std::uint32_t>(head_[u]));
    data_.push_back(static_cast<std::uint32_t>(head_[u] >> 32));
    data_.push_back(round);
    data_.push_back(private_feature);
    data_.push_back(static_cast<std::uint32_t>(shared.size()));
    data_.insert(data_.end(), shared.begin(), shared.end());
    head_[u] = at;
  }

  std::uint64_t bytes() const { return data_.size() * sizeof(std::uint32_t); }

 private:
  static constexpr std::uint64_t kNoChunk = ~std::uint64_t{0};

  Chunk read(std::uint64_t at) const {
    const std::uint32_t* p = data_.data() + at;
    return {p[0] | (static_cast<std::uint64_t>(p[1]) << 32), p[2], p[3], {p + 5, p[4]}};
  }

  std::vector<std::uint64_t> head_;
  std::vector<std::uint32_t> data_;
};

// ------------------------------------------------------------------------------ the state

template <class Real>
struct State {
  const Dag& dag;
  Real lambda;
  std::vector<Real> self;  // Delta(u, u)
  std::vector<Real> mass;  // by feature
  FeatureLists lists;
  std::vector<Real> found;              // by node: the mass of its fragments so far
  std::vector<Real> gain;               // by node: what the last round added
  std::vector<std::uint32_t> gained;    // by node: the last round that added anything
  std::vector<bool> reused;             // by node: twice or more in one slot of a production
  std::uint32_t first_new_feature = 0;  // features from here on are of the last round

  bool gained_in(NodeId u, std::uint32_t round) const { return gained[u] == round; }
};

// A production's nodes that may still have fragments to find.
struct Block {
  std::vector<NodeId> open;
};

// What a block found in a round.
template <class Real>
struct Found {
  std::vector<NodeId> active;
  std::vector<std::uint32_t> set_begin{0};  // the sets' members, as indices into `active`
  std::vector<std::uint32_t> members;
  std::vector<Real> masses;  // by set
  std::vector<Real> total;   // by active node: the mass of its fragments after this
  std::vector<Real> private_mass;
  std::vector<bool> closed;
  bool by_pairs = false;
};

// ------------------------------------------------------------------------------ Delta of a pair

// Delta(u, v) of two nodes of one production by the textbook recursion, without recursing.
template <class Real>
class PairDelta {
 public:
  explicit PairDelta(const State<Real>& state)
      : state_(state), productions_(state.dag.productions()) {}

  void clear() { memo_.clear(); }

  Real operator()(NodeId u, NodeId v) {
    if (u == v) return state_.self[u];
    stack_.assign(1, {u, v});
    while (!stack_.empty()) {
      const auto [x, y] = stack_.back();
      if (memo_.contains(key(x, y))) {
        stack_.pop_back();
        continue;
      }
      const std::size_t before = stack_.size();
      Real delta = state_.lambda;
      for (std::size_t slot = 0; slot < state_.dag.arity(x); ++slot) {
        const NodeId a = state_.dag.children(x)[slot];
        const NodeId b = state_.dag.children(y)[slot];
        if (!comparable(a, b)) continue;
        if (a == b) {
          delta *= Real(1.0) + state_.self[a];
        } else if (const auto known = memo_.find(key(a, b)); known != memo_.end()) {
          delta *= Real(1.0) + known->second;
        } else {
          stack_.push_back({a, b});
        }
      }
      if (stack_.size() > before) continue;
      memo_.emplace(key(x, y), delta);
      stack_.pop_back();
    }
    return memo_.at(key(u, v));
  }

 private:
  bool comparable(NodeId a, NodeId b) const {
    return productions_.of(a) != kNone && productions_.of(a) == productions_.of(b);
  }
  static std::uint64_t key(NodeId a, NodeId b) {
    return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
  }

  const State<Real>& state_;
  const Productions& productions_;
  std::unordered_map<std::uint64_t, Real> memo_;
  std::vector<std::pair<NodeId, NodeId>> stack_;
};

// ------------------------------------------------------------------------------ one block, one
// round

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

// ------------------------------------------------------------------------------ all rounds

template <class Real>
class Factorizer {
 public:
  Factorizer(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
             const Watch& watch)
      : limits_(limits),
        n_threads_(n_threads),
        watch_(watch),
        include_leaves_(spec.include_leaves),
        state_{dag,
               Real(spec.decay),
               std::vector<Real>(dag.size(), Real(0.0)),
               {},
               FeatureLists(dag.size()),
               std::vector<Real>(dag.size(), Real(0.0)),
               std::vector<Real>(dag.size(), Real(0.0)),
               std::vector<std::uint32_t>(dag.size(), 0),
               std::vector<bool>(dag.size(), false),
               0} {}

  Factors<Real> run() {
    compute_self();
    first_round();
    for (std::uint32_t round = 2; !blocks_.empty(); ++round) {
      n_rounds_ = round;
      next_round(round);
      check_memory();
    }
    if (include_leaves_) add_leaves();
    return collect();
  }

 private:
  void compute_self() {
    const Dag& dag = state_.dag;
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (dag.is_leaf(u)) continue;
      Real self = state_.lambda;
      for (const NodeId c : dag.children(u)) self *= Real(1.0) + state_.self[c];
      state_.self[u] = self;
    }
  }

  // Fragments of one production. A production of a single node has nothing to share at all.
  void first_round() {
    const Dag& dag = state_.dag;
    const Productions& productions = dag.productions();
    std::vector<std::vector<NodeId>> nodes(productions.size());
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (productions.of(u) != kNone) nodes[productions.of(u)].push_back(u);
    }
    find_reused(nodes);
    n_rounds_ = 1;
    for (std::vector<NodeId>& members : nodes) {
      if (members.size() == 1) {
        add_chunk(members.front(), 1, state_.self[members.front()], {},
                  state_.self[members.front()]);
        continue;
      }
      const std::uint32_t feature = new_feature(state_.lambda, false);
      for (const NodeId u : members) add_chunk(u, 1, Real(0.0), {&feature, 1}, state_.lambda);
      blocks_.push_back({std::move(members)});
    }
  }

  // A child that stands twice in one slot of a production: there its private mass is shared.
  void find_reused(const std::vector<std::vector<NodeId>>& nodes) {
    std::vector<std::uint32_t> stamp(state_.dag.size(), 0);
    std::uint32_t mark = 0;
    for (const std::vector<NodeId>& members : nodes) {
      if (members.size() < 2) continue;
      for (std::size_t slot = 0; slot < state_.dag.arity(members.front()); ++slot) {
        ++mark;
        for (const NodeId u : members) {
          const NodeId c = state_.dag.children(u)[slot];
          if (stamp[c] == mark) state_.reused[c] = true;
          stamp[c] = mark;
        }
      }
    }
  }

  void next_round(std::uint32_t round) {
    // The largest blocks first, small ones many to a task.
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const Block& a, const Block& b) { return a.open.size() > b.open.size(); });
    std::vector<std::size_t> task_begin{0};
    std::size_t weight = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      weight += blocks_[i].open.size();
      if (weight >= kTaskNodes || i + 1 == blocks_.size()) {
        task_begin.push_back(i + 1);
        weight = 0;
      }
    }
    std::vector<Found<Real>> found(blocks_.size());
    std::vector<std::unique_ptr<Walker<Real>>> walkers(static_cast<std::size_t>(n_threads_));
    parallel_for(task_begin.size() - 1, n_threads_, watch_,
                 [&](std::size_t task, int worker, const StopToken& token) {
                   auto& walker = walkers[static_cast<std::size_t>(worker)];
                   if (!walker) walker = std::make_unique<Walker<Real>>(state_);
                   for (std::size_t i = task_begin[task]; i < task_begin[task + 1]; ++i) {
                     found[i] = walker->run(blocks_[i], round, limits_.budget, token);
                   }
                 });
    state_.first_new_feature = static_cast<std::uint32_t>(state_.mass.size());
    for (const Found<Real>& block : found) commit(block, round);
    std::erase_if(blocks_, [](const Block& block) { return block.open.empty(); });
  }

  // Gives the block's sets their ids and its nodes their new features.
  void commit(const Found<Real>& found, std::uint32_t round) {
    n_by_pairs_ += found.by_pairs;
    const std::size_t n = found.active.size();
    const auto first = static_cast<std::uint32_t>(state_.mass.size());
    for (const Real& mass : found.masses) new_feature(mass, false);
    begin_.assign(n + 1, 0);
    for (const std::uint32_t member : found.members) ++begin_[member + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    ids_.resize(found.members.size());
    fill_.assign(begin_.begin(), begin_.end() - 1);
    for (std::size_t s = 0; s < found.masses.size(); ++s) {
      for (std::uint32_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        ids_[fill_[found.members[i]]++] = first + static_cast<std::uint32_t>(s);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      add_chunk(found.active[i], round, found.private_mass[i],
                {ids_.data() + begin_[i], begin_[i + 1] - begin_[i]}, found.total[i]);
    }
  }

  std::uint32_t new_feature(const Real& mass, bool is_private) {
    if (state_.mass.size() >= kNone - 1) {
      throw CapacityError("the factors have more than 2^32 - 2 features: split the corpus");
    }
    state_.mass.push_back(mass);
    private_.push_back(is_private);
    return static_cast<std::uint32_t>(state_.mass.size() - 1);
  }

  void add_chunk(NodeId u, std::uint32_t round, const Real& private_mass,
                 std::span<const std::uint32_t> shared, const Real& total) {
    const bool has_private = !(negligible(private_mass, total));
    const std::uint32_t feature =
        has_private && state_.reused[u] ? new_feature(private_mass, true) : kNone;
    if (feature != kNone || !shared.empty()) state_.lists.add(u, round, feature, shared);
    state_.gain[u] = total - state_.found[u];
    state_.found[u] = total;
    state_.gained[u] = round;
  }

  void add_leaves() {
    const Dag& dag = state_.dag;
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (dag.is_leaf(u)) state_.self[u] = state_.lambda;
    }
  }

  void check_memory() const {
    const std::uint64_t bytes = state_.lists.bytes() * 2 + state_.mass.size() * (sizeof(Real) + 1) +
                                state_.dag.size() * (4 * sizeof(Real) + 16);
    if (bytes > limits_.max_bytes) {
      throw OutOfMemory("the factors need more than " + std::to_string(bytes >> 20) +
                            " MiB after round " + std::to_string(n_rounds_),
                        bytes);
    }
  }

  // From chunks to compressed rows, with the private features taken out and the others renumbered.
  Factors<Real> collect() {
    const Dag& dag = state_.dag;
    Factors<Real> factors;
    factors.n_rounds = n_rounds_;
    factors.n_blocks_by_pairs = n_by_pairs_;
    std::vector<std::uint32_t> column(state_.mass.size(), kNone);
    for (std::size_t t = 0; t < column.size(); ++t) {
      if (private_[t]) continue;
      column[t] = static_cast<std::uint32_t>(factors.mass.size());
      factors.mass.push_back(state_.mass[t]);
    }
    factors.begin.assign(1, 0);
    factors.residual.resize(dag.size());
    std::vector<std::uint32_t> own;
    for (NodeId u = 0; u < dag.size(); ++u) {
      own.clear();
      Real shared(0.0);
      state_.lists.for_each_chunk(u, [&](const FeatureLists::Chunk& chunk) {
        for (const std::uint32_t t : chunk.shared) {
          own.push_back(column[t]);
          shared += state_.mass[t];
        }
      });
      std::sort(own.begin(), own.end());
      factors.features.insert(factors.features.end(), own.begin(), own.end());
      factors.begin.push_back(factors.features.size());
      const Real rest = state_.self[u] - shared;
      factors.residual[u] = negligible(rest, state_.self[u]) ? Real(0.0) : rest;
    }
    factors.self = std::move(state_.self);
    return factors;
  }

  static constexpr std::size_t kTaskNodes = 256;

  const FactorLimits& limits_;
  int n_threads_;
  const Watch& watch_;
  bool include_leaves_;
  State<Real> state_;
  std::vector<Block> blocks_;
  std::vector<bool> private_;
  std::uint32_t n_rounds_ = 0;
  std::uint64_t n_by_pairs_ = 0;
  std::vector<std::uint32_t> begin_, fill_, ids_;
};

// Delta is diagonal: every distinct subtree has its own fragment and no other.
template <class Real>
Factors<Real> factorize_subtrees(const KernelSpec& spec, const Dag& dag) {
  Factors<Real> factors;
  factors.begin.assign(dag.size() + 1, 0);
  factors.self.assign(dag.size(), Real(0.0));
  std::vector<Real> weight(dag.size(), Real(1.0));
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) continue;
    weight[u] = Real(spec.decay);
    for (const NodeId c : dag.children(u)) weight[u] *= weight[c];
    factors.self[u] = weight[u];
  }
  factors.residual = factors.self;
  return factors;
}

}  // namespace

bool fits_double(const KernelSpec& spec, const Dag& dag) {
  if (spec.kernel == TreeKernel::subtree) return true;
  if (spec.decay < 1e-200) return false;
  std::vector<double> self(dag.size(), 0.0);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) continue;
    double product = spec.decay;
    for (const NodeId c : dag.children(u)) product *= 1.0 + self[c];
    if (!(product < 1e140)) return false;  // room for sums over trees and their squares
    self[u] = product;
  }
  return true;
}

template <class Real>
Factors<Real> factorize(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits,
                        int n_threads, const Watch& watch) {
  if (spec.kernel == TreeKernel::subtree) return factorize_subtrees<Real>(spec, dag);
  return Factorizer<Real>(spec, dag, limits, std::max(1, n_threads), watch).run();
}

template Factors<double> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                   const Watch&);
template Factors<Wide> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                 const Watch&);

}  // namespace filbert
