// Fragments are found bottom-up in rounds; round d adds the fragments of depth d. A fragment of
// depth d at a node is its production with, for each child, either nothing or a fragment of smaller
// depth, at least one of them of depth d - 1. Only nodes of one production can share a fragment, so
// the productions of a round are independent blocks. They are distributed to threads, and ids are
// assigned in the order of blocks afterwards, so results do not depend on the threads.
//
// A node's fragments that no other node has are not listed: their mass is the missing part of
// Delta(u, u). If that mass is needed inside parents that share the child, it is a *private*
// feature: part of the child's list, but not a column of Phi.
//
// If nodes have sides (FactorLimits), sets of nodes of one side are dropped as soon as they appear.
// Nodes of both sides lose nothing, because every set that they are in has both sides. The masses
// of the other nodes come out wrong, but only their parents could share these, and those parents
// are of the same side alone.

#include "factors/subset/subset_factors.hpp"

#include <algorithm>
#include <memory>

#include "factors/factor_rounds.hpp"
#include "factors/found_features.hpp"
#include "factors/subset/subset_walk.hpp"
#include "forest/productions.hpp"
#include "kernels/self_delta.hpp"

namespace filbert {

namespace {

// Reports that nothing is done yet, and passes on what the watch throws.
Watch at_the_start(const Watch& watch) {
  return [&watch](std::size_t, std::size_t) {
    if (watch) watch(0, 1);
  };
}

template <class Real>
class SubsetFactorizer {
 public:
  SubsetFactorizer(const SubsetTree& kernel, const FactorTask& task)
      : task_(task),
        meter_(task.limits.max_bytes),
        work_(task.limits.max_work),
        state_{kernel,
               BlockOrder(task.dag, task.n_threads, at_the_start(task.watch)),
               {},
               {},
               std::vector<std::uint32_t>(task.dag.size(), 0),
               {},
               {},
               {},
               {}},
        walkers_(static_cast<std::size_t>(task.n_threads)),
        rounds_(task.n_threads, task.watch) {
    state_.nodes.resize(task.dag.size());
    std::fill(state_.nodes.begin(), state_.nodes.end(), SubsetNode<Real>{});
    const std::vector<Real> self = self_deltas<Real>(kernel, task.dag);
    state_.self.reserve(self.size());
    for (NodeId u = 0; u < self.size(); ++u) state_.self.push_back(self[state_.dag.original(u)]);
    if (task.limits.sides.empty()) return;
    for (NodeId u = 0; u < self.size(); ++u) {
      state_.sides.push_back(task.limits.sides[state_.dag.original(u)]);
    }
  }

  Factors<Real> run() {
    first_round();
    while (!rounds_.done()) next_round(++factors_.n_rounds);
    if (state_.kernel.include_leaves) add_leaves();
    finish(rounds_, 10.0, [&](std::size_t u) { return shared_mass(u); }, state_, factors_);
    if (task_.limits.any_order) {
      factors_.original = state_.dag.take_original();
    } else {
      number_as_in_forest();
    }
    factors_.peak_bytes = meter_.most();
    return std::move(factors_);
  }

 private:
  // Finds the fragments of one production.
  void first_round() {
    factors_.n_rounds = 1;
    std::vector<std::vector<NodeId>> nodes = nodes_by_production();
    find_reused(nodes);
    std::vector<SubsetFound<Real>> found(1);
    for (std::vector<NodeId>& members : nodes) {
      if (members.empty()) continue;
      find_smallest(members, state_.kernel.template bare<Real>(), state_, found[0]);
      found[0].n_shared.resize(found[0].active.size(), members.size() > 1);
      if (members.size() > 1) rounds_.open(std::move(members));
    }
    commit(found, 1);
    rounds_.sort_largest_first();
  }

  std::vector<std::vector<NodeId>> nodes_by_production() const {
    std::vector<std::vector<NodeId>> nodes(state_.dag.n_productions());
    for (std::uint32_t p = 0; p < nodes.size(); ++p) {
      for (NodeId u = state_.dag.first_of(p); u < state_.dag.end_of(p); ++u) {
        if (task_.needed.empty() || task_.needed[state_.dag.original(u)] != 0)
          nodes[p].push_back(u);
      }
      if (!state_.have_both_sides(nodes[p])) nodes[p].clear();
    }
    return nodes;
  }

  // Marks children that occur twice in one slot of a production: there the private mass is shared.
  void find_reused(const std::vector<std::vector<NodeId>>& nodes) {
    std::vector<std::uint32_t> stamp(state_.dag.size(), 0);
    std::uint32_t mark = 0;
    for (const std::vector<NodeId>& members : nodes) {
      if (members.size() < 2) continue;
      for (std::size_t slot = 0; slot < state_.dag.arity(members.front()); ++slot) {
        ++mark;
        for (const NodeId u : members) {
          const NodeId c = state_.dag.children(u)[slot];
          if (stamp[c] == mark) state_.nodes[c].reused = true;
          stamp[c] = mark;
        }
      }
    }
  }

  void next_round(std::uint32_t round) {
    const auto walk = [&](std::span<Block> blocks, int worker, const StopToken& token,
                          SubsetFound<Real>& found) {
      auto& walker = walkers_[static_cast<std::size_t>(worker)];
      if (!walker) walker = std::make_unique<SubsetWalker<Real>>(state_, meter_, work_);
      for (Block& block : blocks) walker->run(block, round, task_.limits.budget, token, found);
    };
    commit(rounds_.walk<SubsetFound<Real>>([&](const Block& b) { return most_steps(b); }, walk),
           round);
  }

  double most_steps(const Block& block) const {
    const auto n = static_cast<double>(block.open.size());
    const auto arity = static_cast<double>(state_.dag.arity(block.open.front()));
    return 10.0 * std::max(1.0, task_.limits.budget) * n * n * arity;
  }

  // Gives ids to the sets of a round and new features to the nodes.
  void commit(const std::vector<SubsetFound<Real>>& found, std::uint32_t round) {
    const std::vector<FoundPlace> places = find_places(found, state_, factors_);
    const FoundPlace& end = places.back();
    std::uint64_t transient = 0;
    for (const SubsetFound<Real>& part : found) transient += part.bytes();
    meter_.set_kept(bytes_with(end));
    meter_.check(transient);
    write_found(
        rounds_, found, places, state_, factors_,
        [&](const SubsetFound<Real>& part, const FoundPlace& at) { write_lists(part, at, round); });
  }

  void write_lists(const SubsetFound<Real>& found, FoundPlace at, std::uint32_t round) {
    std::vector<std::uint32_t*> fill(found.active.size());
    for (std::size_t i = 0; i < found.active.size(); ++i) {
      SubsetNode<Real>& node = state_.nodes[found.active[i]];
      const std::uint32_t private_feature = write_private(found.private_mass[i], at, state_);
      fill[i] = state_.lists.write(at.word, node.newest, private_feature, found.n_shared[i]).data();
      node.newest = state_.lists.newest(at.word);
      at.word += FeatureLists::kHeader + found.n_shared[i];
      node.gain = found.total[i] - node.found;
      node.found = found.total[i];
      state_.gained[found.active[i]] = round;
    }
    const auto first = static_cast<std::uint32_t>(at.feature);
    for (std::uint32_t s = 0; s < found.masses.size(); ++s) {
      for (std::uint64_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        *fill[found.members[i]]++ = first + s;
      }
    }
  }

  void add_leaves() {
    for (NodeId u = 0; u < state_.dag.size(); ++u) {
      if (state_.dag.is_leaf(u)) state_.self[u] = state_.kernel.template bare<Real>();
    }
  }

  void number_as_in_forest() {
    const auto renumbered = [&](const std::vector<Real>& from) {
      std::vector<Real> to(from.size());
      for (NodeId u = 0; u < from.size(); ++u) to[state_.dag.original(u)] = from[u];
      return to;
    };
    factors_.self = renumbered(factors_.self);
    factors_.residual = renumbered(factors_.residual);
    const std::size_t n = factors_.nodes.size();
    rounds_.run_parts(n, 1 << 18, static_cast<double>(n),
                      [&](std::size_t first, std::size_t last, int, const StopToken& token) {
                        token.check();
                        for (std::size_t i = first; i < last; ++i) {
                          factors_.nodes[i] = state_.dag.original(factors_.nodes[i]);
                        }
                      });
  }

  // The memory in use after the features of a round are written.
  std::uint64_t bytes_with(const FoundPlace& end) const {
    return state_.dag.size() * (2 * sizeof(Real) + sizeof(SubsetNode<Real>) + 12) +
           state_.dag.bytes() + (end.feature + end.private_feature) * (sizeof(Real) + 8) +
           end.set_node * sizeof(NodeId) + state_.lists.bytes() + end.word * 4;
  }

  Real shared_mass(std::size_t u) const {
    Real shared(0.0);
    state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const FeatureLists::Chunk& chunk) {
      for (const std::uint32_t t : chunk.shared) shared += state_.mass[t];
    });
    return shared;
  }

  const FactorTask& task_;
  MemoryMeter meter_;
  WorkMeter work_;
  SubsetState<Real> state_;
  Factors<Real> factors_;
  std::vector<std::unique_ptr<SubsetWalker<Real>>> walkers_;  // by thread
  FactorRounds rounds_;
};

}  // namespace

bool subset_fits_double(const SubsetTree& kernel, const Dag& dag) {
  if (kernel.decay < 1e-200) return false;
  // Leaves a margin for sums over the pairs of nodes of two trees.
  const std::vector<double> self = self_deltas<double>(kernel, dag);
  return std::all_of(self.begin(), self.end(), [](double delta) { return delta < 1e280; });
}

template <class Real>
Factors<Real> subset_factors(const SubsetTree& kernel, const FactorTask& task) {
  return SubsetFactorizer<Real>(kernel, task).run();
}

template Factors<double> subset_factors(const SubsetTree&, const FactorTask&);
template Factors<Wide> subset_factors(const SubsetTree&, const FactorTask&);

}  // namespace filbert
