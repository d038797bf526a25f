// The factors of Delta for partial trees.
//
// Delta(u, v) is a sum over fragments f of w_f f(u) f(v). The fragment of a single node has the
// value 1 in every node of its label and the weight mu lambda^2. A fragment with the fragments f_1
// ... f_p below its root has
//
//   f(u) = sum over child positions i_1 < ... < i_p of u of  pay(i) * f_1(c_i1) * ... * f_p(c_ip)
//   w_f  = mu * w_f1 * ... * w_fp
//
// where pay(i) is lambda^(i_p - i_1 + 1) for spans and lambda to the number of skipped children for
// gaps: `step` for each element (lambda or 1), lambda for each skipped child. As in
// subset_factors.cpp, round d adds the fragments of depth d. Only nodes of one label share
// fragments, so the labels are the blocks of a round. If the values of two fragments are
// proportional, f = c g in all nodes, they become one feature of weight w_g + c^2 w_f, and the sum
// stays the same. Because f is linear in each f_j, sequences of features may be used instead of
// sequences of fragments.
//
// In a block, sequences grow element by element. A sequence is represented by its placements:
// values over (node, child position of the outermost element), which determine everything that it
// can grow to. Sequences with proportional values are merged at this stage, and sequences of only
// one node are dropped: this keeps their number small. To find each sequence with an element of the
// last round once, the search starts at the first such element, its anchor, and grows the sequence
// to the left by features of earlier rounds. From then on only the position of the anchor matters:
// positions further left are summed out, and the sequence grows to the right by any features.
// Lengths are enumerated one by one, so that they can be bounded, and the sequences of each length
// are fragments: f(u) is the sum over the positions in u.
//
// The test for proportional values: they are divided by their maximum, and 40 bits of each go into
// a key of 128 bits. Values that should be equal differ by about 1e-15. If a rounding boundary lies
// between them, they are not merged, which costs a feature but no precision. Values that are not
// equal but agree in 40 bits would be merged with a relative error below 1e-12. The values are sums
// of products of powers of lambda, in which such coincidences are not found in practice, and even
// one in each of 50 steps would stay below 1e-10. All values are at most 1, and no value is ever
// the result of a subtraction. A value that underflows belongs to a pair whose Delta is many orders
// of magnitude larger, because of the single node that they share (see partial_fits_double).
//
// A node's fragments that no other node has are not listed: their mass is the missing part of
// Delta(u, u). Up to depth d that part follows from the children up to depth d - 1 by the recursion
// of Delta itself. The recursion also needs Delta between different children of one node, which is
// computed from the features that these have found so far.
//
// If nodes have sides (FactorLimits), a feature that only nodes of one side have is dropped like a
// feature of a single node. Nodes of both sides lose nothing: both sides have every feature that
// such nodes share. The masses of the other nodes' private fragments come out wrong, but only their
// parents could share these, and those parents are of the same side alone.

#include "factors/partial/partial_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "factors/factor_rounds.hpp"
#include "factors/found_features.hpp"
#include "factors/partial/partial_walk.hpp"

namespace filbert {

namespace {

template <class Real>
class PartialFactorizer {
 public:
  PartialFactorizer(const PartialTree& kernel, const FactorTask& task)
      : task_(task),
        meter_(task.limits.max_bytes),
        work_(task.limits.max_work),
        state_(kernel, task.dag, task.limits.sides,
               std::is_same_v<Real, double> ? task.limits.theta : 0.0, task.limits.weights),
        rounds_(task.n_threads, task.watch),
        walks_{state_, meter_, work_, rounds_.helpers(), {}},
        walkers_(static_cast<std::size_t>(task.n_threads)) {
    walks_.scratch.resize(walkers_.size());
  }

  Factors<Real> run() {
    compute_self();
    const double mu = as_double(state_.mu), step = as_double(state_.step);
    if (state_.pruning.on()) state_.pruning.hand_down_weights(state_.dag, mu, step);
    first_round();
    while (!rounds_.done()) next_round(++factors_.n_rounds);
    finish(rounds_, 100.0, [&](std::size_t u) { return shared_mass(u); }, state_, factors_);
    if (state_.pruning.on()) {
      factors_.lost = std::move(state_.pruning).with_losses_of_children(state_.dag, mu, step);
    }
    factors_.peak_bytes = meter_.most();
    return std::move(factors_);
  }

  // Whether all Delta(u, u) are within the range of Real, with a margin.
  bool fits() {
    compute_self();
    return std::all_of(state_.self.begin(), state_.self.end(),
                       [](const Real& self) { return self < 1e280; });
  }

 private:
  // Children before parents: nodes of one height at a time. Different children of one node are
  // compared, so this takes as long as the kernel of each tree with itself.
  void compute_self() {
    const Dag& dag = state_.dag;
    const std::vector<std::vector<NodeId>> levels = nodes_by_height();
    std::vector<std::unique_ptr<SelfDelta>> workers(static_cast<std::size_t>(task_.n_threads));
    for (const std::vector<NodeId>& nodes : levels) {
      double steps = 0.0;
      for (const NodeId u : nodes) {
        check_steps(u);
        const auto k = static_cast<double>(dag.arity(u));
        steps += 100.0 + 100.0 * k * k;
      }
      rounds_.run_parts(
          nodes.size(), 256, steps,
          [&](std::size_t first, std::size_t last, int worker, const StopToken& token) {
            auto& self = workers[static_cast<std::size_t>(worker)];
            if (!self) self = std::make_unique<SelfDelta>(state_, meter_);
            for (std::size_t i = first; i < last; ++i) {
              state_.self[nodes[i]] = self->of(nodes[i], token);
              if (state_.pruning.on()) self->find_reach(state_.pruning.reach(nodes[i]));
            }
            self->count(work_);
          });
    }
  }

  // The memory of one thread for it.
  class SelfDelta {
   public:
    SelfDelta(const PartialState<Real>& state, MemoryMeter& meter)
        : pairs_(state), memory_(meter) {}

    Real of(NodeId u, const StopToken& token) {
      if (pairs_.n_known() > kMostKnown) pairs_.clear();
      token.check();
      return pairs_.self(u, token);
    }
    void find_reach(std::span<Reach> reach) { pairs_.find_reach(reach); }
    void count(WorkMeter& work) {
      work.add(pairs_.steps() - std::exchange(counted_, pairs_.steps()));
      memory_.set(pairs_.bytes());
    }

   private:
    PartialPairDelta<Real> pairs_;
    MemoryShare memory_;
    std::uint64_t counted_ = 0;
  };

  std::vector<std::vector<NodeId>> nodes_by_height() const {
    std::vector<std::uint32_t> height(state_.dag.size(), 0);
    std::vector<std::vector<NodeId>> levels;
    for (NodeId u = 0; u < state_.dag.size(); ++u) {
      for (const NodeId c : state_.dag.children(u)) height[u] = std::max(height[u], height[c] + 1);
      if (height[u] >= levels.size()) levels.emplace_back();
      levels[height[u]].push_back(u);
    }
    return levels;
  }

  void check_steps(NodeId u) const {
    const StepLimit limit = state_.kernel.step_limit();
    const double steps = limit.steps(state_.dag.arity(u), state_.dag.arity(u));
    if (steps <= limit.most) return;
    throw TooExpensive("a node labelled '" +
                           std::string(state_.dag.labels().text(state_.dag.label(u))) + "' with " +
                           std::to_string(state_.dag.arity(u)) + " children",
                       steps);
  }

  // Finds the fragments of one node.
  void first_round() {
    factors_.n_rounds = 1;
    std::vector<std::vector<NodeId>> nodes = nodes_by_label();
    find_reused(nodes);
    std::vector<PartialFound<Real>> found(1);
    for (std::vector<NodeId>& members : nodes) {
      if (members.empty()) continue;
      find_smallest(members, state_.childless, state_, found[0]);
      const bool shared = members.size() > 1;
      found[0].n_sets.resize(found[0].active.size(), shared ? 1 : 0);
      while (found[0].values.size() < found[0].members.size()) found[0].values.push_back(Real(1.0));
      std::erase_if(members, [&](NodeId u) { return state_.dag.is_leaf(u); });
      if (!shared) continue;
      for (const NodeId u : members) state_.pruning.open(u);
      rounds_.open(std::move(members));
    }
    commit(found, 1);
  }

  std::vector<std::vector<NodeId>> nodes_by_label() const {
    std::vector<std::vector<NodeId>> nodes(state_.dag.labels().size());
    for (NodeId u = 0; u < state_.dag.size(); ++u) {
      if (task_.needed.empty() || task_.needed[u] != 0) nodes[state_.dag.label(u)].push_back(u);
    }
    return nodes;
  }

  // Marks children of two different nodes of one label: there the child's private mass is shared.
  void find_reused(const std::vector<std::vector<NodeId>>& nodes) {
    struct Seen {
      LabelId label = kNone;
      NodeId parent = kNone;
    };
    std::vector<Seen> seen(state_.dag.size());
    for (LabelId label = 0; label < nodes.size(); ++label) {
      for (const NodeId u : nodes[label]) {
        for (const NodeId c : state_.dag.children(u)) {
          if (seen[c].label == label && seen[c].parent != u) state_.nodes[c].reused = true;
          seen[c] = {label, u};
        }
      }
    }
  }

  void next_round(std::uint32_t round) {
    const auto walk = [&](std::span<Block> blocks, int worker, const StopToken& token,
                          PartialFound<Real>& found) {
      auto& walker = walkers_[static_cast<std::size_t>(worker)];
      if (!walker) walker = std::make_unique<PartialWalker<Real>>(walks_, worker);
      for (Block& block : blocks) walker->run(block, round, task_.limits.budget, token, found);
      walker->finish_task();
      meter_.add(found.bytes());
    };
    rounds_.sort_largest_first();
    const auto found = rounds_.walk<PartialFound<Real>>(
        [&](const Block& block) { return most_steps(block); }, walk);
    commit(found, round);
    for (const PartialFound<Real>& part : found) meter_.add(0, part.bytes());
  }

  double most_steps(const Block& block) const {
    double n_children = 0.0;
    for (const NodeId u : block.open) n_children += static_cast<double>(state_.dag.arity(u));
    return 10.0 * std::max(1.0, task_.limits.budget) * n_children * n_children;
  }

  // Gives ids to the sets of a round and new features to the nodes.
  void commit(const std::vector<PartialFound<Real>>& found, std::uint32_t round) {
    const std::vector<FoundPlace> places = find_places(found, state_, factors_);
    const FoundPlace& end = places.back();
    if (end.word >= kNone) {
      throw CapacityError("a round of the factors takes more than 32 GiB: split the corpus");
    }
    meter_.set_kept(bytes_with(end));
    factors_.set_values.resize(end.set_node);
    write_found(rounds_, found, places, state_, factors_,
                [&](const PartialFound<Real>& part, const FoundPlace& at) {
                  write_lists(part, at, round);
                  note_losses(part);
                });
  }

  // A node is in one block only.
  void note_losses(const PartialFound<Real>& found) {
    for (const auto& [u, lost] : found.lost) state_.pruning.lose(u, lost);
    for (const NodeId u : found.touched) state_.pruning.touch(u);
    for (const NodeId u : found.closed) state_.pruning.close(u);
  }

  void write_lists(const PartialFound<Real>& found, FoundPlace at, std::uint32_t round) {
    std::copy(found.values.begin(), found.values.end(), factors_.set_values.begin() + at.set_node);
    std::vector<typename ValueLists<Real>::Room> rooms(found.active.size());
    for (std::size_t i = 0; i < found.active.size(); ++i) {
      PartialNode<Real>& node = state_.nodes[found.active[i]];
      const std::uint32_t private_feature = write_private(found.private_mass[i], at, state_);
      rooms[i] = state_.lists.write(at.word, found.n_sets[i], node.newest, private_feature);
      node.newest = {round, static_cast<std::uint32_t>(at.word)};
      at.word += state_.lists.words(found.n_sets[i]);
      node.found = found.total[i];
    }
    const auto first = static_cast<std::uint32_t>(at.feature);
    for (std::uint32_t s = 0; s < found.masses.size(); ++s) {
      for (std::uint64_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        auto& room = rooms[found.members[i]];
        *room.features++ = first + s;
        *room.values++ = found.values[i];
      }
    }
    if (!state_.pruning.on()) return;
    for (std::size_t i = 0; i < rooms.size(); ++i) write_weights(rooms[i], found.n_sets[i]);
  }

  // `room` is at the end of its `size` features. Tails are rounded up.
  void write_weights(const typename ValueLists<Real>::Room& room, std::uint32_t size) const {
    double tail = 0.0;
    for (std::uint32_t k = 1; k <= size; ++k) {
      const double value = as_double(*(room.values - k));
      const double mass = std::fabs(as_double(state_.mass[*(room.features - k)]));
      tail += mass * value * value;
      room.weights[size - k] = {static_cast<float>(mass), static_cast<float>(tail * (1.0 + 1e-6)) +
                                                              std::numeric_limits<float>::min()};
    }
  }

  // The memory in use after the features of a round are written.
  std::uint64_t bytes_with(const FoundPlace& end) const {
    return state_.dag.size() * (2 * sizeof(Real) + sizeof(PartialNode<Real>) + 8) +
           (end.feature + end.private_feature) * (sizeof(Real) + 8) +
           end.set_node * (sizeof(NodeId) + sizeof(Real)) + state_.lists.bytes() + end.word * 8 +
           state_.pruning.bytes();
  }

  Real shared_mass(std::size_t u) const {
    Real shared(0.0);
    state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const auto& chunk) {
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        shared += state_.mass[chunk.features[i]] * chunk.values[i] * chunk.values[i];
      }
    });
    return shared;
  }

  static constexpr std::size_t kMostKnown = 1 << 18;  // pairs

  const FactorTask& task_;
  MemoryMeter meter_;
  WorkMeter work_;
  PartialState<Real> state_;
  Factors<Real> factors_;
  FactorRounds rounds_;
  PartialWalkers<Real> walks_;
  std::vector<std::unique_ptr<PartialWalker<Real>>> walkers_;  // by thread
};

// Delta(c, c') is at most the root of Delta(c, c) Delta(c', c'). So the sum over pairs of sequences
// is at most the square of a sum over sequences: a bound that takes one pass.
bool is_far_below_overflow(const PartialTree& kernel, const Dag& dag) {
  std::vector<double> root(dag.size());
  for (NodeId u = 0; u < dag.size(); ++u) {
    double total = 0.0;
    double before = 0.0;  // decayed sum over sequences that end before this child
    for (const NodeId c : dag.children(u)) {
      const double ending = root[c] * kernel.step() * (1.0 + before);
      total += ending;
      before = kernel.decay * before + ending;
    }
    root[u] = std::sqrt(kernel.least() + kernel.depth_decay * total * total);
    if (!(root[u] < 1e100)) return false;
  }
  return true;
}

}  // namespace

// Values far below mu lambda^2 may underflow, because no Delta other than 0 is smaller than that.
bool partial_fits_double(const PartialTree& kernel, const FactorTask& task) {
  if (!(kernel.least() > 1e-60)) return false;
  return is_far_below_overflow(kernel, task.dag) || PartialFactorizer<double>(kernel, task).fits();
}

template <class Real>
Factors<Real> partial_factors(const PartialTree& kernel, const FactorTask& task) {
  return PartialFactorizer<Real>(kernel, task).run();
}

template Factors<double> partial_factors(const PartialTree&, const FactorTask&);
template Factors<Wide> partial_factors(const PartialTree&, const FactorTask&);

}  // namespace filbert
