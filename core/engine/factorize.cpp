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
#include <string>

#include "base/errors.hpp"
#include "engine/block_walk.hpp"
#include "engine/factors.hpp"
#include "forest/productions.hpp"

namespace filbert {

namespace {

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