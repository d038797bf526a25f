#include "catalogue/slot_kernel.hpp"
#include "factors/subset/subset_factors.hpp"
#include "fragments/node_matches.hpp"
#include "fragments/subset_miner.hpp"
#include "rows/long_chains.hpp"

namespace filbert {

namespace {

class SubsetTreeKernel final : public SlotKernel<SubsetTree> {
 public:
  using SlotKernel::SlotKernel;

  bool has_chain_sums() const override { return true; }
  Wide sum_of_chains(const CountedTree& a, const CountedTree& b,
                     const StopToken& token) const override {
    return subset_tree_of_chains(formula_, a, b, token);
  }

  bool has_cheap_factors() const override { return true; }
  bool fits_double(const FactorTask& task) const override {
    return subset_fits_double(formula_, task.dag);
  }
  void factorize(const FactorTask& task, Factors<double>& out) const override {
    out = subset_factors<double>(formula_, task);
  }
  void factorize(const FactorTask& task, Factors<Wide>& out) const override {
    out = subset_factors<Wide>(formula_, task);
  }

  double best_base_fragment(const Dag& dag, const WeightedNodes& nodes, Criterion criterion,
                            std::uint64_t min_frequency) const override {
    return best_subset_base(formula_, dag, nodes, criterion, min_frequency);
  }
  void mine(const MiningTask& task, bool complete, MinedFragments& out) const override {
    out = complete ? mine_completely(formula_, task) : mine_greedily(formula_, task);
  }
  void match_fragments(const FragmentForest& fragments, const Dag& dag,
                       std::span<const NodeId> nodes, bool counted, const StopToken& token,
                       NodeMatches& out) const override {
    out = match_subset_trees(formula_, fragments, dag, nodes, counted, token);
  }
};

}  // namespace

std::shared_ptr<const TreeKernel> subset_tree_kernel(const SubsetTree& formula) {
  return std::make_shared<SubsetTreeKernel>(formula);
}

}  // namespace filbert
