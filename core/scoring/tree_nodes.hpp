// The trees of a training set as lists of nodes, for kernels between a tree and a DAG.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// Delta of two nodes is at most the product of their trees' norms, so nothing overflows if norms
// are below this.
inline constexpr double kLargestNorm = 1e150;

// One tree, or several trees combined: each distinct node once, children before parents.
struct TreeNodes {
  std::vector<NodeId> nodes;               // ascending
  std::vector<std::uint32_t> cls;          // by node
  std::vector<double> weights;             // by node
  std::vector<std::uint32_t> calls;        // by node: number of calls of Delta for it
  std::vector<std::uint32_t> uses;         // by node: number of times it is a child
  std::vector<std::uint32_t> child_begin;  // one more entry than there are nodes
  std::vector<std::uint32_t> children;     // their indices here; kNone: not part of the recursion

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
  std::span<const std::uint32_t> children_of(std::uint32_t v) const {
    return {children.data() + child_begin[v], child_begin[v + 1] - child_begin[v]};
  }
};

// The examples: the nodes of each tree, their classes, and the tree's norm.
class TrainingTrees {
 public:
  // Throws KernelOverflow, naming the tree, if products of doubles cannot hold a tree's norm, and
  // TooExpensive (see StepLimit).
  TrainingTrees(const KernelSpec& spec, std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
                bool normalize, int n_threads, const Watch& watch);

  const KernelSpec& spec() const { return spec_; }
  const Dag& dag() const { return *dag_; }
  std::size_t size() const { return roots_.size(); }

  // One over the tree's norm, or 1.
  double scale(std::size_t tree) const { return scale_[tree]; }
  // The largest kernel of a tree with itself.
  double largest_self() const { return largest_self_; }

  // Weights and calls are the numbers of occurrences.
  void take(std::size_t tree, TreeNodes& out) const;
  // Weights are sums of occurrences times the trees' weights, with one call per node.
  TreeNodes together(std::span<const std::uint32_t> trees, std::span<const double> weights) const;

 private:
  void describe(TreeNodes& nodes) const;

  const KernelSpec spec_;
  const std::shared_ptr<const Dag> dag_;
  const std::vector<NodeId> roots_;
  std::vector<std::uint32_t> class_of_;
  Occurrences occurrences_;
  std::vector<double> scale_;
  double largest_self_ = 0.0;
};

}  // namespace filbert
