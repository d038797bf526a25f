// The interface between the tree kernels and the rest of the core. A tree kernel is a sum over
// pairs of nodes,
//
//   K(s, t) = sum over the nodes u of s and v of t of Delta(u, v)
//
// and one class per kernel defines all that is specific to its Delta: the nodes that can match, how
// Delta of the parents follows from the Deltas of the children, and the recursions that compute it
// pair by pair, row by row, by factors, for scores and for fragments. All other code is written
// against TreeKernel and never asks which kernel it has. The kernels are put together in
// core/catalogue.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "base/wide.hpp"

namespace filbert {

class ChosenSymbols;
class ColumnTile;
class Dag;
class DagRecursion;
enum class Criterion;
struct CountedTree;
struct FactorTask;
struct FragmentForest;
struct LocalProductions;
struct LocalTree;
struct MinedFragments;
struct MiningTask;
struct NodeClasses;
struct NodeMatches;
struct PartialSides;
struct QueryTree;
struct RowSide;
struct Segment;
class SegmentSearch;
struct TreeMeasure;
struct WeightedNodes;
template <class Real>
struct Factors;
template <class Real>
class RowPass;
template <class Real>
class RowRecursion;
template <class Real>
struct RowWeights;

// The pairs of nodes that can have a Delta other than zero.
enum class Matching {
  subtree,     // inner nodes with equal subtrees
  production,  // inner nodes with equal labels whose children have equal labels, one by one
  label,       // nodes with equal labels
};

// Delta of two nodes with n and m children takes n * m steps, times the length of subsequences if
// that is bounded. A kernel may refuse to take more than `most`.
struct StepLimit {
  double most = std::numeric_limits<double>::infinity();
  std::uint32_t max_subsequence = 0;  // 0: any length

  bool is_set() const { return most < std::numeric_limits<double>::infinity(); }
  double steps(std::size_t n, std::size_t m) const {
    const bool bounded = max_subsequence != 0 && max_subsequence < (n < m ? n : m);
    return static_cast<double>(n) * static_cast<double>(m) * (bounded ? max_subsequence : 1.0);
  }
};

// Selects the number type: double, or Wide if doubles do not suffice.
template <class Real>
struct As {};

class TreeKernel {
 public:
  virtual ~TreeKernel() = default;

  // --- which nodes match

  virtual Matching matching() const = 0;
  // Whether a leaf is itself a fragment. Two leaves match if their labels are equal.
  virtual bool counts_leaves() const = 0;
  // Whether all children take part in the recursion, including leaves and, as gaps, children that
  // match nothing. Otherwise only matching inner nodes take part.
  virtual bool takes_all_children() const { return false; }
  // Whether Delta needs the Deltas of children, and only of those in the same slot.
  virtual bool aligns_children() const { return false; }
  // Every Delta that is not zero is at least this large. (Subtrees: smaller Deltas do not matter in
  // a sum, because a subtree never matches without the subtrees below it.)
  virtual double least_delta() const = 0;

  // --- what it costs

  virtual StepLimit step_limit() const { return {}; }
  // Whether factors are worth computing for a single large kernel matrix.
  virtual bool has_cheap_factors() const { return false; }

  // --- its recursion, row by row (rows/)

  virtual std::unique_ptr<RowRecursion<double>> row_recursion(const RowSide& side,
                                                              As<double>) const = 0;
  virtual std::unique_ptr<RowRecursion<Wide>> row_recursion(const RowSide& side,
                                                            As<Wide>) const = 0;
  // Data about the nodes that need no recursion; null: all nodes need it.
  virtual std::shared_ptr<PartialSides> partial_sides(const Dag& /*rows*/, const Dag& /*columns*/,
                                                      const NodeClasses&) const {
    return nullptr;
  }
  // K(a, b) from the chosen roots downwards, for kernels that align children. Returns nothing if
  // that takes more than max_pairs pairs of nodes.
  virtual std::optional<Wide> sum_of_needed_pairs(const CountedTree& /*a*/,
                                                  const CountedTree& /*b*/,
                                                  std::size_t /*max_pairs*/,
                                                  const StopToken&) const {
    refuse("has no sums over pairs from the roots downwards");
  }
  // Whether there is a faster algorithm for long chains, and that algorithm.
  virtual bool has_chain_sums() const { return false; }
  virtual Wide sum_of_chains(const CountedTree& /*a*/, const CountedTree& /*b*/,
                             const StopToken&) const {
    refuse("has no sums over chains");
  }

  // --- its factors (factors/)

  // Whether light fragments can be dropped (FactorLimits::theta), with a bound on the error.
  virtual bool has_light_fragments() const { return false; }
  // Then: the kernels with themselves of trees of few nodes. All nodes count, and doubles suffice.
  virtual std::vector<double> small_squares(const Dag&, std::span<const NodeId> /*roots*/,
                                            int /*n_threads*/, const Watch&) const {
    refuse("cannot be factorised without light fragments");
  }
  virtual bool fits_double(const FactorTask&) const { refuse("cannot be factorised"); }
  virtual void factorize(const FactorTask&, Factors<double>&) const {
    refuse("cannot be factorised");
  }
  virtual void factorize(const FactorTask&, Factors<Wide>&) const {
    refuse("cannot be factorised");
  }

  // --- its scores (scoring/)

  // The Deltas of a tree's nodes with those of a weighted DAG.
  virtual std::unique_ptr<DagRecursion> dag_recursion() const = 0;
  // The rows of one new tree against a model's support vectors, and the kernel of that tree with
  // itself.
  virtual bool scores_by_rows() const { return false; }
  virtual std::unique_ptr<RowPass<double>> row_pass(const ColumnTile&,
                                                    const RowWeights<double>&) const {
    refuse("has no scores by rows");
  }
  virtual std::unique_ptr<RowPass<Wide>> row_pass(const ColumnTile&,
                                                  const RowWeights<Wide>&) const {
    refuse("has no scores by rows");
  }
  virtual double self_kernel(const LocalTree&, const LocalProductions&, As<double>) const {
    refuse("has no scores by rows");
  }
  virtual Wide self_kernel(const LocalTree&, const LocalProductions&, As<Wide>) const {
    refuse("has no scores by rows");
  }

  // --- its fragments (fragments/)

  // The relevance of the best base fragment that is frequent enough, 0 if there is none.
  virtual double best_base_fragment(const Dag&, const WeightedNodes&, Criterion,
                                    std::uint64_t /*min_frequency*/) const {
    refuse("cannot be mined");
  }
  virtual void mine(const MiningTask&, bool /*complete*/, MinedFragments&) const {
    refuse("cannot be mined");
  }
  // `nodes` ascend and are closed under children. With `counted`, each occurrence of a fragment
  // counts 1; otherwise it has its weight in the kernel's space.
  virtual void match_fragments(const FragmentForest&, const Dag&, std::span<const NodeId> /*nodes*/,
                               bool /*counted*/, const StopToken&, NodeMatches&) const {
    refuse("cannot match fragments");
  }

  // --- its search (search/)

  // Whether trees of an index are compared by lists; otherwise by rows.
  virtual bool has_search() const { return false; }
  virtual TreeMeasure measure(const QueryTree&, const StopToken&) const;
  virtual std::unique_ptr<SegmentSearch> segment_search(const Segment&) const;

 protected:
  [[noreturn]] static void refuse(const char* what) {
    throw std::invalid_argument(std::string("this tree kernel ") + what);
  }
};

// A kernel, and the symbols of the roots of fragments if only some are chosen.
struct KernelSpec {
  std::shared_ptr<const TreeKernel> kernel;
  std::shared_ptr<const ChosenSymbols> chosen;  // null: all nodes count

  const TreeKernel* operator->() const { return kernel.get(); }
};

}  // namespace filbert
