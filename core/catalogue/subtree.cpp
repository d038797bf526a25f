#include "catalogue/slot_kernel.hpp"
#include "factors/diagonal_factors.hpp"
#include "fragments/node_matches.hpp"
#include "fragments/subtrees.hpp"

namespace filbert {

namespace {

class SubtreeKernel final : public SlotKernel<Subtree> {
 public:
  using SlotKernel::SlotKernel;

  bool has_cheap_factors() const override { return true; }
  bool fits_double(const FactorTask&) const override { return true; }
  void factorize(const FactorTask& task, Factors<double>& out) const override {
    out = diagonal_factors<double>(formula_, task.dag);
  }
  void factorize(const FactorTask& task, Factors<Wide>& out) const override {
    out = diagonal_factors<Wide>(formula_, task.dag);
  }

  double best_base_fragment(const Dag& dag, const WeightedNodes& nodes, Criterion criterion,
                            std::uint64_t min_frequency) const override {
    return best_subtree(formula_, dag, nodes, criterion, min_frequency);
  }
  void mine(const MiningTask& task, bool, MinedFragments& out) const override {
    out = mine_subtrees(formula_, task);
  }
  void match_fragments(const FragmentForest& fragments, const Dag& dag,
                       std::span<const NodeId> nodes, bool counted, const StopToken&,
                       NodeMatches& out) const override {
    out = match_subtrees(formula_, fragments, dag, nodes, counted);
  }
};

}  // namespace

std::shared_ptr<const TreeKernel> subtree_kernel(const Subtree& formula) {
  return std::make_shared<SubtreeKernel>(formula);
}

}  // namespace filbert
