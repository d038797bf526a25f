// The result of a search for fragments.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/errors.hpp"
#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "fragments/flat_fragment.hpp"
#include "fragments/judge.hpp"
#include "fragments/weighted_nodes.hpp"

namespace filbert {

// The input of a search: the trees, the criterion and the limits.
struct MiningTask {
  const Dag& dag;
  const WeightedNodes& nodes;
  Criterion criterion;
  double threshold;
  std::uint64_t min_frequency;
  std::size_t max_fragments;
  int n_threads;
  const Watch& watch;

  mutable std::atomic<std::size_t> n_looked_at{0};  // fragments, whether they pass or not

  // The limit on nodes allows fragments to have this many nodes on average.
  static constexpr std::size_t kMostNodes = 100;
  // At most this many fragments are checked per fragment that may be found. A few fragments that
  // pass may be reached in very many ways, so this limit bounds the time.
  static constexpr std::size_t kMostLookedAt = 100;

  // All threads may call it: whether it throws depends only on the sum.
  void look_at(std::size_t n) const {
    const std::size_t total = n_looked_at.fetch_add(n, std::memory_order_relaxed) + n;
    if (total / kMostLookedAt > max_fragments) throw TooManyFragments(max_fragments);
  }
  void check_size(std::size_t n_fragments, std::size_t n_nodes) const {
    if (n_fragments > max_fragments || n_nodes / kMostNodes > max_fragments) {
      throw TooManyFragments(max_fragments);
    }
  }
};

// Ordered by the absolute relevance, the largest first, then by text.
struct MinedFragments {
  std::shared_ptr<const Dag> dag;  // fragments as trees; nodes that are not grown are leaves
  std::vector<NodeId> roots;
  std::vector<std::uint8_t> open;  // of all nodes of all fragments, in preorder
  std::vector<double> weight, relevance;
  std::vector<std::uint64_t> frequency;
  double largest_rejected = 0.0;  // the best relevance, or bound, that was too small
};

// Sorts the fragments that a search has found and makes a forest of them. flat(i, out) writes the
// i-th fragment, with labels of the task's forest.
MinedFragments in_order(const MiningTask& task, const std::vector<Worth>& worths,
                        double largest_rejected,
                        const std::function<void(std::size_t, FlatFragment&)>& flat);

}  // namespace filbert
