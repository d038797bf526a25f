#include "fragments/miner.hpp"

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
  return spec_->best_base_fragment(*dag_, nodes_, criterion_, min_frequency);
}

MinedFragments FragmentMiner::mine(Search search, double threshold, std::uint64_t min_frequency,
                                   std::size_t max_fragments, int n_threads,
                                   const Watch& watch) const {
  const MiningTask task{*dag_,         nodes_,        criterion_, threshold,
                        min_frequency, max_fragments, n_threads,  watch};
  MinedFragments found;
  spec_->mine(task, search == Search::complete, found);
  return found;
}

}  // namespace filbert
