#include "fragments/miner.hpp"

#include <algorithm>
#include <cmath>

#include "fragments/partial_miner.hpp"
#include "fragments/subtrees.hpp"

namespace filbert {

FragmentMiner::FragmentMiner(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                             std::span<const NodeId> roots, std::span<const double> coef,
                             bool normalize, Criterion criterion, int n_threads, const Watch& watch)
    : spec_(spec),
      dag_(std::move(dag)),
      criterion_(criterion),
      nodes_(weighted_nodes(spec, *dag_, roots, coef, normalize, criterion == Criterion::chi2,
                            n_threads, watch)) {}

double FragmentMiner::base(std::uint64_t min_frequency) const {
  switch (spec_.kernel) {
    case TreeKernel::subtree: return best_subtree(spec_, *dag_, nodes_, criterion_, min_frequency);
    case TreeKernel::partial_tree:
      return best_single_node(spec_, *dag_, nodes_, criterion_, min_frequency);
    case TreeKernel::subset_tree: break;
  }
  Judge judge(nodes_, criterion_);
  double best = 0.0;
  for (const SubsetFragment& fragment : subset_base(spec_, *dag_, nodes_)) {
    const Worth worth = judge.of_nodes(fragment.members, subset_value(spec_, fragment.key));
    if (worth.frequency >= min_frequency) best = std::max(best, std::fabs(worth.relevance));
  }
  return best;
}

MinedFragments FragmentMiner::mine(Search search, double threshold, std::uint64_t min_frequency,
                                   std::size_t max_fragments, int n_threads,
                                   const Watch& watch) const {
  const MiningTask task{spec_,         *dag_,         nodes_,    criterion_, threshold,
                        min_frequency, max_fragments, n_threads, watch};
  switch (spec_.kernel) {
    case TreeKernel::subtree: return mine_subtrees(task);
    case TreeKernel::partial_tree: return mine_partial_trees(task, search == Search::complete);
    case TreeKernel::subset_tree: break;
  }
  std::vector<SubsetFragment> base = subset_base(spec_, *dag_, nodes_);
  return search == Search::greedy ? mine_greedily(task, std::move(base))
                                  : mine_completely(task, std::move(base));
}

}  // namespace filbert
