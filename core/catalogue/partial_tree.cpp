#include "factors/partial/partial_factors.hpp"
#include "factors/partial/small_squares.hpp"
#include "fragments/node_matches.hpp"
#include "fragments/partial_miner.hpp"
#include "rows/partial_rows.hpp"
#include "scoring/partial_dag.hpp"
#include "search/partial_search.hpp"

namespace filbert {

namespace {

class PartialTreeKernel final : public TreeKernel {
 public:
  explicit PartialTreeKernel(const PartialTree& formula) : formula_(formula) {}

  Matching matching() const override { return Matching::label; }
  bool counts_leaves() const override { return true; }
  bool takes_all_children() const override { return true; }
  double least_delta() const override { return formula_.least(); }
  StepLimit step_limit() const override { return formula_.step_limit(); }

  std::unique_ptr<RowRecursion<double>> row_recursion(const RowSide& side,
                                                      As<double>) const override {
    return std::make_unique<PartialRows<double>>(formula_, side);
  }
  std::unique_ptr<RowRecursion<Wide>> row_recursion(const RowSide& side, As<Wide>) const override {
    return std::make_unique<PartialRows<Wide>>(formula_, side);
  }
  std::shared_ptr<PartialSides> partial_sides(const Dag& rows, const Dag& columns,
                                              const NodeClasses& classes) const override {
    return std::make_shared<PartialSides>(formula_, rows, columns, classes);
  }

  bool has_light_fragments() const override { return true; }
  std::vector<double> small_squares(const Dag& dag, std::span<const NodeId> roots, int n_threads,
                                    const Watch& watch) const override {
    return filbert::small_squares(formula_, dag, roots, n_threads, watch);
  }
  bool fits_double(const FactorTask& task) const override {
    return partial_fits_double(formula_, task);
  }
  void factorize(const FactorTask& task, Factors<double>& out) const override {
    out = partial_factors<double>(formula_, task);
  }
  void factorize(const FactorTask& task, Factors<Wide>& out) const override {
    out = partial_factors<Wide>(formula_, task);
  }

  std::unique_ptr<DagRecursion> dag_recursion() const override {
    return std::make_unique<PartialDag>(formula_);
  }

  // Equal children are taken together only by rows.
  bool has_search() const override {
    return !formula_.children_are_sets() && formula_.least() > 1e-100;
  }
  TreeMeasure measure(const QueryTree& query, const StopToken& token) const override {
    return measure_partial(formula_, query, token);
  }
  std::unique_ptr<SegmentSearch> segment_search(const Segment& segment) const override {
    return std::make_unique<PartialSearch>(formula_, segment);
  }

  double best_base_fragment(const Dag& dag, const WeightedNodes& nodes, Criterion criterion,
                            std::uint64_t min_frequency) const override {
    return best_single_node(formula_, dag, nodes, criterion, min_frequency);
  }
  void mine(const MiningTask& task, bool complete, MinedFragments& out) const override {
    out = mine_partial_trees(formula_, task, complete);
  }
  void match_fragments(const FragmentForest& fragments, const Dag& dag,
                       std::span<const NodeId> nodes, bool counted, const StopToken& token,
                       NodeMatches& out) const override {
    out = match_partial_trees(formula_, fragments, dag, nodes, counted, token);
  }

 private:
  const PartialTree formula_;
};

}  // namespace

std::shared_ptr<const TreeKernel> partial_tree_kernel(const PartialTree& formula) {
  return std::make_shared<PartialTreeKernel>(formula);
}

}  // namespace filbert
