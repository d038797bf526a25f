// A tree kernel that multiplies over the slots of children, made from its formula alone. `Formula`
// has the members of SubsetTree (kernels/subset_tree.hpp). A kernel derives from this class and
// adds its own factors, fragments and faster algorithms.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/self_delta.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/needed_pairs.hpp"
#include "rows/slot_rows.hpp"
#include "scoring/row_pass.hpp"
#include "scoring/slot_dag.hpp"
#include "search/equal_search.hpp"
#include "search/slot_search.hpp"

namespace filbert {

template <class Formula>
class SlotKernel : public TreeKernel {
 public:
  explicit SlotKernel(const Formula& formula) : formula_(formula) {}

  Matching matching() const override { return Formula::matching; }
  bool counts_leaves() const override { return formula_.include_leaves; }
  bool aligns_children() const override { return !kOnlyEqual; }
  double least_delta() const override { return formula_.template bare<double>(); }

  std::unique_ptr<RowRecursion<double>> row_recursion(const RowSide& side,
                                                      As<double>) const override {
    return std::make_unique<Rows<double>>(formula_, side);
  }
  std::unique_ptr<RowRecursion<Wide>> row_recursion(const RowSide& side, As<Wide>) const override {
    return std::make_unique<Rows<Wide>>(formula_, side);
  }
  std::optional<Wide> sum_of_needed_pairs(const CountedTree& a, const CountedTree& b,
                                          std::size_t max_pairs,
                                          const StopToken& token) const override {
    return filbert::sum_of_needed_pairs(formula_, a, b, max_pairs, token);
  }

  std::unique_ptr<DagRecursion> dag_recursion() const override {
    return std::make_unique<SlotDag<Formula>>(formula_);
  }
  bool scores_by_rows() const override { return true; }
  std::unique_ptr<RowPass<double>> row_pass(const ColumnTile& tile,
                                            const RowWeights<double>& weights) const override {
    return std::make_unique<SlotPass<Formula, double>>(formula_, tile, weights);
  }
  std::unique_ptr<RowPass<Wide>> row_pass(const ColumnTile& tile,
                                          const RowWeights<Wide>& weights) const override {
    return std::make_unique<SlotPass<Formula, Wide>>(formula_, tile, weights);
  }
  double self_kernel(const LocalTree& tree, const LocalProductions& productions,
                     As<double>) const override {
    return self<double>(tree, productions);
  }
  Wide self_kernel(const LocalTree& tree, const LocalProductions& productions,
                   As<Wide>) const override {
    return self<Wide>(tree, productions);
  }

  bool has_search() const override { return formula_.template bare<double>() > kSmallestSearched; }
  TreeMeasure measure(const QueryTree& query, const StopToken&) const override {
    TreeMeasure measure;
    measure.apart = !kOnlyEqual && n_own_pairs(query.productions) > kMostOwnPairs;
    if (measure.apart) return measure;
    measure.self = self<double>(query.tree, query.productions);
    // A node is the root of a fragment at most once, so Delta(u, v) is at most Delta(u, u).
    const std::vector<double> delta = self_deltas<double>(formula_, query.tree);
    measure.mass = 0.0;
    for (std::uint32_t u = 0; u < query.tree.size(); ++u) {
      const double own = query.tree.is_leaf(u) ? formula_.template bare<double>() : delta[u];
      measure.mass += query.tree.counts[u] * own;
    }
    return measure;
  }
  std::unique_ptr<SegmentSearch> segment_search(const Segment& segment) const override {
    return std::make_unique<Search>(formula_, segment);
  }

 protected:
  const Formula formula_;

 private:
  static_assert(Formula::matching != Matching::label);
  static constexpr bool kOnlyEqual = Formula::matching == Matching::subtree;

  static constexpr double kSmallestSearched = 1e-50;  // Delta / bare must not overflow
  static constexpr double kMostOwnPairs = 1 << 24;    // all are in memory at a time

  using Search = std::conditional_t<kOnlyEqual, EqualSearch<Formula>, SlotSearch<Formula>>;
  template <class Real>
  using Rows = std::conditional_t<kOnlyEqual, EqualRows<Formula, Real>, SlotRows<Formula, Real>>;

  template <class Real>
  Real self(const LocalTree& tree, const LocalProductions& productions) const {
    if constexpr (kOnlyEqual) {
      return self_kernel_of_equal<Real>(formula_, tree);
    } else {
      return self_kernel_of_productions<Real>(formula_, tree, productions);
    }
  }
};

}  // namespace filbert
