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
        meter_(limits.max_bytes),
        work_(limits.max_work),
        state_{dag,
               Real(spec.decay),
               std::vector<Real>(dag.size(), Real(0.0)),
               std::vector<NodeState<Real>>(dag.size()),
               std::vector<std::uint32_t>(dag.size(), 0),
               {},
               {},
               {}} {}

  Factors<Real> run() {
    compute_self();
    first_round();
    for (std::uint32_t round = 2; !blocks_.empty(); ++round) {
      factors_.n_rounds = round;
      next_round(round);
    }
    if (include_leaves_) add_leaves();
    collect();
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

  // Fragments of one production. A production of a single node has nothing to share at all.
  void first_round() {
    factors_.n_rounds = 1;
    std::vector<std::vector<NodeId>> nodes = nodes_by_production();
    find_reused(nodes);
    Found<Real> found;
    for (std::vector<NodeId>& members : nodes) {
      const auto first = static_cast<std::uint32_t>(found.active.size());
      found.active.insert(found.active.end(), members.begin(), members.end());
      if (members.size() == 1) {
        const Real& self = state_.self[members.front()];
        const bool needed = state_.nodes[members.front()].reused;
        found.total.push_back(self);
        found.private_mass.push_back(needed ? self : Real(0.0));
        found.n_private += needed;
        continue;
      }
      for (std::uint32_t i = 0; i < members.size(); ++i) found.members.push_back(first + i);
      found.set_begin.push_back(found.members.size());
      found.masses.push_back(state_.lambda);
      found.total.insert(found.total.end(), members.size(), state_.lambda);
      found.private_mass.insert(found.private_mass.end(), members.size(), Real(0.0));
      n_left_ = n_open_ += members.size();
      blocks_.push_back({std::move(members)});
    }
    commit({&found, 1}, 1);
    // The largest blocks first: then the last tasks of a round are small ones.
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const Block& a, const Block& b) { return a.open.size() > b.open.size(); });
  }

  std::vector<std::vector<NodeId>> nodes_by_production() const {
    const Productions& productions = state_.dag.productions();
    std::vector<std::vector<NodeId>> nodes(productions.size());
    for (NodeId u = 0; u < state_.dag.size(); ++u) {
      if (productions.of(u) != kNone) nodes[productions.of(u)].push_back(u);
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

  // Walks the blocks, many small ones to a task.
  void next_round(std::uint32_t round) {
    std::vector<std::size_t> task_begin{0};
    std::size_t weight = 0;
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      weight += blocks_[i].open.size();
      n_left += blocks_[i].open.size();
      if (weight >= kTaskNodes || i + 1 == blocks_.size()) {
        task_begin.push_back(i + 1);
        weight = 0;
      }
    }
    n_left_ = n_left;
    const int n_threads = threads_for_round();
    walkers_.resize(std::max<std::size_t>(walkers_.size(), std::max(1, n_threads)));
    std::vector<Found<Real>> found(task_begin.size() - 1);
    parallel_for(found.size(), n_threads, progress_,
                 [&](std::size_t task, int worker, const StopToken& token) {
                   auto& walker = walkers_[static_cast<std::size_t>(worker)];
                   if (!walker) walker = std::make_unique<Walker<Real>>(state_, meter_, work_);
                   for (std::size_t i = task_begin[task]; i < task_begin[task + 1]; ++i) {
                     walker->run(blocks_[i], round, limits_.budget, token, found[task]);
                   }
                 });
    std::erase_if(blocks_, [](const Block& block) { return block.open.empty(); });
    commit(found, round);
  }

  // Rounds of little work are done at once, on this thread; now and then it has to look up.
  int threads_for_round() {
    double steps = 0.0;
    for (const Block& block : blocks_) {
      const auto n = static_cast<double>(block.open.size());
      const auto arity = static_cast<double>(state_.dag.arity(block.open.front()));
      steps += 10.0 * std::max(1.0, limits_.budget) * n * n * arity;
    }
    const int n_threads = threads_for(steps, n_threads_);
    if (n_threads == kInline && (unwatched_ += steps) > 1e7) {
      progress_(0, 0);
      unwatched_ = 0.0;
    }
    return n_threads;
  }

  // Where the finds of a task go.
  struct Place {
    std::size_t feature, private_feature, set_node, word;
  };

  // Gives the sets of a round their ids and the nodes their new features: places by running sums
  // over the tasks, then all tasks at once.
  void commit(std::span<const Found<Real>> found, std::uint32_t round) {
    Place end{state_.mass.size(), state_.private_mass.size(), factors_.nodes.size(), 0};
    state_.first_new = static_cast<std::uint32_t>(end.feature);
    state_.first_new_private = static_cast<std::uint32_t>(end.private_feature);
    std::vector<Place> places;
    std::uint64_t transient = 0;
    for (const Found<Real>& part : found) {
      places.push_back(end);
      end.feature += part.masses.size();
      end.private_feature += part.n_private;
      end.set_node += part.members.size();
      end.word += part.active.size() * FeatureLists::kHeader + part.members.size();
      transient += part.bytes();
      factors_.n_blocks_by_pairs += part.n_by_pairs;
    }
    if (std::max(end.feature, end.private_feature) >= kPrivate - 1) {
      throw CapacityError("the factors have more than 2^31 - 2 features: split the corpus");
    }
    meter_.set_kept(bytes_with(end));
    meter_.check(transient);
    state_.mass.resize(end.feature);
    state_.private_mass.resize(end.private_feature);
    factors_.set_begin.resize(end.feature + 1);
    factors_.nodes.resize(end.set_node);
    state_.lists.add_round(end.word);
    const auto steps = static_cast<double>(10 * end.word);
    parallel_for(found.size(), threads_for(steps, n_threads_), progress_,
                 [&](std::size_t task, int, const StopToken& token) {
                   token.check();
                   commit_task(found[task], places[task], round);
                 });
  }

  void commit_task(const Found<Real>& found, Place at, std::uint32_t round) {
    const auto first_feature = static_cast<std::uint32_t>(at.feature);
    for (std::size_t s = 0; s < found.masses.size(); ++s) {
      state_.mass[at.feature + s] = found.masses[s];
      factors_.set_begin[at.feature + s + 1] = at.set_node + found.set_begin[s + 1];
    }
    std::vector<std::uint32_t> n_shared(found.active.size(), 0);
    for (std::size_t i = 0; i < found.members.size(); ++i) {
      factors_.nodes[at.set_node + i] = found.active[found.members[i]];
      ++n_shared[found.members[i]];
    }
    std::vector<std::uint32_t*> fill(found.active.size());
    for (std::size_t i = 0; i < found.active.size(); ++i) {
      NodeState<Real>& node = state_.nodes[found.active[i]];
      std::uint32_t private_feature = kNone;
      if (!is_zero(found.private_mass[i])) {
        private_feature = kPrivate | static_cast<std::uint32_t>(at.private_feature);
        state_.private_mass[at.private_feature++] = found.private_mass[i];
      }
      fill[i] = state_.lists.write(at.word, node.newest, private_feature, n_shared[i]).data();
      node.newest = state_.lists.newest(at.word);
      at.word += FeatureLists::kHeader + n_shared[i];
      node.gain = found.total[i] - node.found;
      node.found = found.total[i];
      state_.gained[found.active[i]] = round;
    }
    for (std::uint32_t s = 0; s < found.masses.size(); ++s) {
      for (std::uint64_t i = found.set_begin[s]; i < found.set_begin[s + 1]; ++i) {
        *fill[found.members[i]]++ = first_feature + s;
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
  std::uint64_t bytes_with(const Place& end) const {
    return state_.dag.size() * (2 * sizeof(Real) + sizeof(NodeState<Real>) + 12) +
           (end.feature + end.private_feature) * (sizeof(Real) + 8) +
           end.set_node * sizeof(NodeId) + state_.lists.bytes() + end.word * 4;
  }

  // What is left to the residual.
  void collect() {
    const std::size_t n = state_.dag.size();
    factors_.residual.resize(n);
    constexpr std::size_t kPart = 1 << 14;
    parallel_for((n + kPart - 1) / kPart, threads_for(10.0 * static_cast<double>(n), n_threads_),
                 progress_, [&](std::size_t part, int, const StopToken& token) {
                   token.check();
                   const std::size_t last = std::min((part + 1) * kPart, n);
                   for (std::size_t u = part * kPart; u < last; ++u) {
                     factors_.residual[u] = residual_of(u);
                   }
                 });
    factors_.mass = std::move(state_.mass);
    factors_.self = std::move(state_.self);
  }

  Real residual_of(std::size_t u) const {
    Real shared(0.0);
    state_.lists.for_each_chunk(state_.nodes[u].newest, [&](const FeatureLists::Chunk& chunk) {
      for (const std::uint32_t t : chunk.shared) shared += state_.mass[t];
    });
    const Real rest = state_.self[u] - shared;
    return negligible(rest, state_.self[u]) ? Real(0.0) : rest;
  }

  static constexpr std::size_t kTaskNodes = 1024;

  const FactorLimits& limits_;
  int n_threads_;
  const Watch& watch_;
  bool include_leaves_;
  MemoryMeter meter_;
  WorkMeter work_;
  State<Real> state_;
  Factors<Real> factors_;
  std::vector<Block> blocks_;
  std::size_t n_open_ = 0;  // nodes that were in a block at first
  std::size_t n_left_ = 0;  // that are in one still
  std::vector<std::unique_ptr<Walker<Real>>> walkers_;
  double unwatched_ = 0.0;  // steps
  const Watch progress_ = [this](std::size_t, std::size_t) {
    if (watch_) watch_(n_open_ - n_left_, n_open_);
  };
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