// The trees of a forest without repetitions. Equal trees have the same root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

struct DistinctTrees {
  std::vector<NodeId> roots;           // in the order of first occurrence
  std::vector<std::uint32_t> first;    // by distinct tree: its first index in the forest
  std::vector<std::uint32_t> tree_of;  // by index in the forest: its distinct tree
};

inline DistinctTrees distinct_trees(const Dag& dag, std::span<const NodeId> roots) {
  DistinctTrees distinct;
  std::vector<std::uint32_t> tree_at(dag.size(), kNone);
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    std::uint32_t& tree = tree_at[roots[i]];
    if (tree == kNone) {
      tree = static_cast<std::uint32_t>(distinct.roots.size());
      distinct.roots.push_back(roots[i]);
      distinct.first.push_back(i);
    }
    distinct.tree_of.push_back(tree);
  }
  return distinct;
}

}  // namespace filbert
