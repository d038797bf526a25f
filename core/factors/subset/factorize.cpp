// Fragments are found bottom-up in rounds; round d adds the fragments of depth d. A fragment of
// depth d at a node is its production with, for each child, either nothing or a fragment of smaller
// depth, at least one of them of depth d - 1. Only nodes of one production can share a fragment, so
// the productions of a round are independent blocks: they are shared out to threads, and ids are
// given in the order of blocks afterwards, so results do not depend on the threads.
//
// A node's fragments that no other node has are not listed: their mass is what is missing to
// Delta(u, u). Where that mass is needed inside of parents that share the child, it is a *private*
// feature: part of the child's list, but not a column of Phi.

#include <algorithm>
#include <memory>
#include <numeric>

#include "factors/factor_rounds.hpp"
#include "factors/factors.hpp"
#include "factors/found_features.hpp"
#include "factors/subset/block_walk.hpp"
#include "forest/productions.hpp"
#include "kernels/chosen_symbols.hpp"

namespace filbert {

namespace {

template <class Real>
class Factorizer {
 public:
  Factorizer(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
             const Watch& watch)
      : limits_(limits),
        include_leaves_(spec.include_leaves),
        needed_(needed_nodes(spec, dag)),
        meter_(limits.max_bytes),
        work_(limits.max_work),
        state_{dag,
               Real(spec.decay),
               std::vector<Real>(dag.size(), Real(0.0)),
               std::vector<NodeState<Real>>(dag.size()),
               std::vector<std::uint32_t>(dag.size(), 0),
               {},
               {},
               {}},
        walkers_(static_cast<std::size_t>(n_threads)),
        rounds_(n_threads, watch) {}

  Factors<Real> run() {
    compute_self();
    first_round();
    while (!rounds_.done()) next_round(++factors_.n_rounds);
    if (include_leaves_) add_leaves();
    finish(rounds_, 10.0, [&](std::size_t u) { return shared_mass(u); }, state_, factors_);
    factors_.peak_bytes = meter_.most();
    return std::move(factors_);
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

  // Fragments of one production.
  void first_round() {
    factors_.n_rounds = 1;
    std::vector<std::vector<NodeId>> nodes = nodes_by_production();
    find_reused(nodes);
    std::vector<Found<Real>> found(1);
    for (std::vector<NodeId>& members : nodes) {
      if (members.empty()) continue;
      find_smallest(members, state_.lambda, state_, found[0]);
      if (members.size() > 1) rounds_.open(std::move(members));
    }
    commit(found, 1);
    rounds_.sort_largest_first();
  }

  std::vector<std::vector<NodeId>> nodes_by_production() const {
    const Productions& productions = state_.dag.productions();
    std::vector<std::vector<NodeId>> nodes(productions.size());
    for (NodeId u = 0; u < state_.dag.size(); ++u) {
      if (productions.of(u) == kNone || (!needed_.empty() && needed_[u] == 0)) continue;
      nodes[productions.of(u)].push_back(u);
    }
    return nodes;
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
          if (stamp[c] == mark) state_.nodes[c].reused = true;
          stamp[c] = mark;
        }
      }
    }
  }

  void next_round(std::uint32_t round) {
    const auto walk = [&](std::span<Block> blocks, int worker, const StopToken& token,
                          Found<Real>& found) {
      auto& walker = walkers_[static_cast<std::size_t>(worker)];
      if (!walker) walker = std::make_unique<Walker<Real>>(state_, meter_, work_);
      for (Block& block : blocks) walker->run(block, round, limits_.budget, token, found);
    };
    commit(rounds_.walk<Found<Real>>([&](const Block& b) { return most_steps(b); }, walk), round);
  }

  double most_steps(const Block& block) const {
    const auto n = static_cast<double>(block.open.size());
    const auto arity = static_cast<double>(state_.dag.arity(block.open.front()));
    return 10.0 * std::max(1.0, limits_.budget) * n * n * arity;
  }

  // Gives the sets of a round their ids and the nodes their new features.
  void commit(const std::vector<Found<Real>>& found, std::uint32_t round) {
    const std::vector<FoundPlace> places = find_places(found, state_, factors_);
    const FoundPlace& end = places.back();
    std::uint64_t transient = 0;
    for (const Found<Real>& part : found) transient += part.bytes();
    meter_.set_kept(bytes_with(end));
    meter_.check(transient);
    write_found(
        rounds_, found, places, state_, factors_,
        [&](const Found<Real>& part, const FoundPlace& at) { write_lists(part, at, round); });
  }

  void write_lists(const Found<Real>& found, FoundPlace at, std::uint32_t round) {
    std::vector<std::uint32_t> n_shared(found.active.size(), 0);
    for (const std::uint32_t i : found.members) ++n_shared[i];
    std::vector<std::uint32_t*> fill(found.active.size());
    for (std::size_t i = 0; i < found.active.size(); ++i) {
      NodeState<Real>& node = state_.nodes[found.active[i]];
      const std::uint32_t private_feature = write_private(found.private_mass[i], at, state_);
      fill[i] = state_.lists.write(at.word, node.newest, private_feature, n_shared[i]).data();
      node.newest = state_.lists.newest(at.word);
      at.word += FeatureLists::kHeader + n_shared[i];
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
    const Dag& dag = state_.dag;
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (dag.is_leaf(u)) state_.self[u] = state_.lambda;
    }
  }

  // All that is kept once the features of a round are in their places.
  std::uint64_t bytes_with(const FoundPlace& end) const {
    return state_.dag.size() * (2 * sizeof(Real) + sizeof(NodeState<Real>) + 12) +
           (end.feature + end.private_feature) * (sizeof(Real) + 8) +
           end.set_node * sizeof(NodeId) + state_.lists.bytes() + end.word * 4;
  }

  Real shared_mass(std::size_t u) const {
    Real shared(0.0);
    state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const FeatureLists::Chunk& chunk) {
      for (const std::uint32_t t : chunk.shared) shared += state_.mass[t];
    });
    return shared;
  }

  const FactorLimits& limits_;
  bool include_leaves_;
  std::vector<std::uint8_t> needed_;  // by node: whether anybody asks for its Delta; empty: all
  MemoryMeter meter_;
  WorkMeter work_;
  State<Real> state_;
  Factors<Real> factors_;
  std::vector<std::unique_ptr<Walker<Real>>> walkers_;  // by thread
  FactorRounds rounds_;
};

// Delta is diagonal: every distinct subtree has its own fragment and no other.
template <class Real>
Factors<Real> factorize_subtrees(const KernelSpec& spec, const Dag& dag) {
  Factors<Real> factors;
  factors.set_begin.assign(1, 0);
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

bool fits_double(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
                 const Watch& watch) {
  if (spec.kernel == TreeKernel::subtree) return true;
  if (spec.kernel == TreeKernel::partial_tree) {
    return partial_fits_double(spec, dag, limits, std::max(1, n_threads), watch);
  }
  if (spec.decay < 1e-200) return false;
  std::vector<double> self(dag.size(), 0.0);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) continue;
    double product = spec.decay;
    for (const NodeId c : dag.children(u)) product *= 1.0 + self[c];
    if (!(product < 1e280)) return false;  // room for sums over the pairs of nodes of two trees
    self[u] = product;
  }
  return true;
}

template <class Real>
void list_rows(Factors<Real>& factors) {
  factors.begin.assign(factors.residual.size() + 1, 0);
  for (const NodeId u : factors.nodes) ++factors.begin[u + 1];
  std::partial_sum(factors.begin.begin(), factors.begin.end(), factors.begin.begin());
  factors.features.resize(factors.nodes.size());
  factors.values.resize(factors.set_values.size());
  std::vector<std::uint64_t> next(factors.begin.begin(), factors.begin.end() - 1);
  for (std::uint32_t t = 0; t < factors.mass.size(); ++t) {
    for (std::uint64_t k = factors.set_begin[t]; k < factors.set_begin[t + 1]; ++k) {
      const std::uint64_t at = next[factors.nodes[k]]++;
      factors.features[at] = t;
      if (!factors.values.empty()) factors.values[at] = factors.set_values[k];
    }
  }
}

template void list_rows(Factors<double>&);
template void list_rows(Factors<Wide>&);

template <class Real>
Factors<Real> factorize(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits,
                        int n_threads, const Watch& watch) {
  if (spec.kernel == TreeKernel::subtree) return factorize_subtrees<Real>(spec, dag);
  if (spec.kernel == TreeKernel::partial_tree) {
    return factorize_partial<Real>(spec, dag, limits, std::max(1, n_threads), watch);
  }
  return Factorizer<Real>(spec, dag, limits, std::max(1, n_threads), watch).run();
}

template Factors<double> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                   const Watch&);
template Factors<Wide> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                 const Watch&);

}  // namespace filbert