// The fragments that are rooted at each distinct node of some trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "kernels/subtree.hpp"

namespace filbert {

// Fragments as a forest: `dag` has their nodes, and the i-th fragment is the subtree of roots[i].
struct FragmentForest {
  const Dag& dag;
  std::span<const NodeId> roots;
};

// Lists by node; a list is empty if nothing matches.
struct NodeMatches {
  explicit NodeMatches(std::size_t n_nodes) : begin(n_nodes, 0), end(n_nodes, 0) {}

  std::vector<std::uint64_t> begin, end;
  std::vector<std::uint32_t> fragments;
  std::vector<double> values;  // the weight of the fragment's occurrences at the node
};

// The numbers of the fragments of each node of the fragments' forest: the same fragment may be
// listed twice.
class FragmentColumns {
 public:
  explicit FragmentColumns(FragmentForest fragments)
      : first_(fragments.dag.size(), kNone), next_(fragments.roots.size(), kNone) {
    for (std::size_t i = fragments.roots.size(); i-- > 0;) {
      next_[i] = first_[fragments.roots[i]];
      first_[fragments.roots[i]] = static_cast<std::uint32_t>(i);
    }
  }
  void put(NodeId pattern, double value, NodeMatches& out) const {
    for (std::uint32_t i = first_[pattern]; i != kNone; i = next_[i]) {
      out.fragments.push_back(i);
      out.values.push_back(value);
    }
  }

 private:
  std::vector<std::uint32_t> first_, next_;
};

// See TreeKernel::match_fragments.
NodeMatches match_subset_trees(const SubsetTree& kernel, FragmentForest fragments, const Dag& dag,
                               std::span<const NodeId> nodes, bool counted, const StopToken& token);
NodeMatches match_subtrees(const Subtree& kernel, FragmentForest fragments, const Dag& dag,
                           std::span<const NodeId> nodes, bool counted);
NodeMatches match_partial_trees(const PartialTree& kernel, FragmentForest fragments, const Dag& dag,
                                std::span<const NodeId> nodes, bool counted,
                                const StopToken& token);

}  // namespace filbert
