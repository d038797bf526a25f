#include "fragments/partial_miner.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "fragments/partial_occurrences.hpp"

namespace filbert {

namespace {

// Labels and depths in preorder.
struct Shape {
  std::vector<LabelId> labels;
  std::vector<std::uint32_t> depths;
};

struct State {
  Shape shape;
  std::vector<std::uint32_t> n_children;  // of the nodes of the rightmost path
  PartialOccurrences found;
  Worth worth;
};

// The fragments that grew from one label.
struct Found {
  std::vector<Shape> shapes;
  std::vector<Worth> worths;
  double largest_rejected = 0.0;
};

// The memory of one thread.
struct Scratch {
  explicit Scratch(const MiningTask& task) : judge(task.nodes, task.criterion), growth(task.dag) {}
  Judge judge;
  PartialGrowth growth;
};

// The totals of all threads, for the limit.
struct Total {
  std::atomic<std::size_t> n_fragments{0};
  std::atomic<std::size_t> n_nodes{0};
};

// By label: the nodes that have it.
std::vector<State> single_nodes(const PartialTree& kernel, const Dag& dag,
                                const WeightedNodes& nodes) {
  const PartialCosts costs(kernel);
  std::vector<State> states(dag.labels().size());
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (nodes.frequency[u] == 0) continue;
    PartialOccurrences& found = states[dag.label(u)].found;
    found.roots.push_back(u);
    found.weights.push_back(costs.node * costs.decay);
  }
  for (LabelId label = 0; label < states.size(); ++label) {
    states[label].shape = {{label}, {0}};
    states[label].n_children = {0};
  }
  std::erase_if(states, [](const State& state) { return state.found.size() == 0; });
  return states;
}

class PartialSearch {
 public:
  PartialSearch(const PartialTree& kernel, const MiningTask& task, const PartialBounds& bounds,
                bool complete, Scratch& scratch, Total& total, const StopToken& token)
      : kernel_(kernel),
        task_(task),
        bounds_(bounds),
        complete_(complete),
        scratch_(scratch),
        total_(total),
        token_(token),
        filter_(task.threshold, task.min_frequency) {}

  Found run(State base) {
    consider(std::move(base));
    while (!stack_.empty()) {
      const State state = std::move(stack_.back());
      stack_.pop_back();
      for (std::size_t depth = 0; depth <= state.found.depth; ++depth) {
        grow(state, depth);
      }
    }
    found_.largest_rejected = filter_.largest_rejected();
    return std::move(found_);
  }

 private:
  void grow(const State& state, std::size_t depth) {
    const std::uint32_t most = kernel_.max_subsequence;
    if (most > 0 && state.n_children[depth] >= most) return;
    for (PartialGrowth::Grown& grown :
         scratch_.growth.grow(state.found, depth, bounds_.costs(), token_)) {
      State larger{state.shape, {}, std::move(grown.found), {}};
      larger.shape.labels.push_back(grown.label);
      larger.shape.depths.push_back(static_cast<std::uint32_t>(depth + 1));
      const auto path = state.n_children.begin();
      larger.n_children.assign(path, path + static_cast<std::ptrdiff_t>(depth) + 1);
      ++larger.n_children.back();
      larger.n_children.push_back(0);
      consider(std::move(larger));
    }
  }

  void consider(State state) {
    task_.look_at(1);
    state.worth = worth_of(state.found, task_.dag, bounds_, scratch_.judge);
    if (complete_ ? filter_.hopeless(state.worth) : filter_.rare(state.worth)) return;
    if (filter_.keeps(state.worth)) {
      found_.shapes.push_back(state.shape);
      found_.worths.push_back(state.worth);
      const std::size_t n = total_.n_fragments.fetch_add(1) + 1;
      task_.check_size(n, total_.n_nodes.fetch_add(state.shape.labels.size()));
    } else if (!complete_) {
      return;
    }
    stack_.push_back(std::move(state));
  }

  const PartialTree kernel_;
  const MiningTask& task_;
  const PartialBounds& bounds_;
  const bool complete_;
  Scratch& scratch_;
  Total& total_;
  const StopToken& token_;
  Filter filter_;
  std::vector<State> stack_;
  Found found_;
};

void to_flat(const Shape& shape, FlatFragment& out) {
  std::vector<std::size_t> path;  // the nodes above, from the root
  for (std::size_t i = 0; i < shape.labels.size(); ++i) {
    path.resize(shape.depths[i]);
    if (i > 0) ++out.arity[path.back()];
    out.add(shape.labels[i], 0, false);
    path.push_back(i);
  }
}

}  // namespace

double best_single_node(const PartialTree& kernel, const Dag& dag, const WeightedNodes& nodes,
                        Criterion criterion, std::uint64_t min_frequency) {
  Judge judge(nodes, criterion);
  double best = 0.0;
  for (const State& state : single_nodes(kernel, dag, nodes)) {
    const Worth worth = judge.of_nodes(state.found.roots, state.found.weights[0]);
    if (worth.frequency >= min_frequency) best = std::max(best, std::fabs(worth.relevance));
  }
  return best;
}

MinedFragments mine_partial_trees(const PartialTree& kernel, const MiningTask& task,
                                  bool complete) {
  const PartialBounds bounds(kernel, task.dag);
  std::vector<State> base = single_nodes(kernel, task.dag, task.nodes);
  std::vector<Found> parts(base.size());
  const int n_threads = std::max(1, task.n_threads);
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<std::size_t>(n_threads));
  Total total;
  parallel_for(base.size(), n_threads, task.watch,
               [&](std::size_t i, int worker, const StopToken& token) {
                 auto& own = scratch[static_cast<std::size_t>(worker)];
                 if (!own) own = std::make_unique<Scratch>(task);
                 parts[i] = PartialSearch(kernel, task, bounds, complete, *own, total, token)
                                .run(std::move(base[i]));
               });
  Found all;
  for (Found& part : parts) {
    std::move(part.shapes.begin(), part.shapes.end(), std::back_inserter(all.shapes));
    all.worths.insert(all.worths.end(), part.worths.begin(), part.worths.end());
    all.largest_rejected = std::max(all.largest_rejected, part.largest_rejected);
  }
  return in_order(task, all.worths, all.largest_rejected,
                  [&](std::size_t i, FlatFragment& out) { to_flat(all.shapes[i], out); });
}

}  // namespace filbert
