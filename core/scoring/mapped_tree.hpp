// A new tree in terms of the support vectors that it is compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "forest/dag.hpp"
#include "forest/local_tree.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/column_tile.hpp"

namespace filbert {

// If a tree has more pairs of its own nodes, another algorithm computes its norm.
inline constexpr double kManyOwnPairs = 1e6;

// A new tree with what it has in common with the support vectors.
struct MappedTree {
  LocalTree tree;
  LocalProductions productions;    // subset trees
  std::vector<std::uint32_t> cls;  // by node, in the support vectors' numbering
  // By child: the support vectors' nodes of the parent's production that have a child of the same
  // production in the same slot. Empty if there are none.
  std::vector<std::span<const ColumnTile::Link>> links;
  std::vector<std::uint32_t> uses;  // by node: number of child slots in which its row is needed
  double own_pairs = 0.0;           // of nodes of one production
  std::optional<Wide> norm;         // if it is known beforehand
  std::size_t place = 0;            // among the trees to be scored
  double steps = 0.0;
};

// `tile` holds all support vectors, which belong to the forest `support`; `place` is the tree's
// index among the trees to be scored.
MappedTree map_tree(const KernelSpec& spec, const Dag& support, const ColumnTile& tile,
                    const Dag& dag, NodeId root, std::size_t place, const StopToken& token);

}  // namespace filbert
