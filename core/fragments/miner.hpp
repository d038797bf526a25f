// Finds the fragments with the largest weights in a model (Pighin & Moschitti 2010).
#pragma once

#include <memory>
#include <vector>

#include "fragments/mined.hpp"

namespace filbert {

enum class Search { greedy, complete };

class FragmentMiner {
 public:
  // One decision function: one coefficient per tree.
  FragmentMiner(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                std::span<const NodeId> roots, std::span<const double> coef, bool normalize,
                Criterion criterion, int n_threads, const Watch& watch);

  // B: the relevance of the best base fragment that is frequent enough, 0 if there is none.
  double base(std::uint64_t min_frequency) const;

  // The fragments of at least this relevance that the search reaches. Throws TooManyFragments.
  MinedFragments mine(Search search, double threshold, std::uint64_t min_frequency,
                      std::size_t max_fragments, int n_threads, const Watch& watch) const;

 private:
  const KernelSpec spec_;
  const std::shared_ptr<const Dag> dag_;
  const Criterion criterion_;
  const WeightedNodes nodes_;
};

}  // namespace filbert
