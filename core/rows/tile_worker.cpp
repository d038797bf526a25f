#include "rows/tile_worker.hpp"

#include "rows/narrow.hpp"

namespace filbert {

namespace {

// The maximum numbers of trees, nodes and children of nodes in a tile. Wider tiles share more work;
// narrower tiles stay in the cache and give the threads more tasks.
constexpr std::size_t kTileTrees = 512;
constexpr std::size_t kTileNodes = 16384;
constexpr std::size_t kTileChildren = 3 * kTileNodes;

}  // namespace

std::vector<Range> cut_tiles(const Dag& dag, const Occurrences& trees) {
  std::vector<Range> tiles;
  std::size_t first = 0;
  std::size_t n_nodes = 0;
  std::size_t n_children = 0;
  for (std::size_t tree = 0; tree < trees.n_trees(); ++tree) {
    const std::size_t nodes = trees.nodes_of(tree).size();
    std::size_t children = 0;
    for (const NodeId u : trees.nodes_of(tree)) children += dag.arity(u);
    if (tree > first && (tree - first >= kTileTrees || n_nodes + nodes > kTileNodes ||
                         n_children + children > kTileChildren)) {
      tiles.push_back({first, tree});
      first = tree;
      n_nodes = n_children = 0;
    }
    n_nodes += nodes;
    n_children += children;
  }
  if (first < trees.n_trees()) tiles.push_back({first, trees.n_trees()});
  return tiles;
}

WeighedTrees weigh(const PartialSides* partial, const Dag& dag,
                   std::span<const std::uint32_t> class_of, Occurrences trees) {
  if (partial == nullptr) return {std::move(trees), {}};
  return partial->features.weigh(dag, class_of, partial->kinds, trees);
}

RowBatch batch_of(const TreeKernel& kernel, const RowSide& side, const WeighedTrees& trees,
                  std::size_t trees_per_group) {
  RowBatch batch{kernel, side, group_rows(trees.heavy, trees_per_group), {}};
  if (side.partial != nullptr) batch.lights = group_rows(trees.light, trees_per_group);
  return batch;
}

bool starts_narrow(const TreeKernel& kernel) { return kernel.least_delta() >= kSmallestDelta; }

bool is_narrow(std::span<const double> values) {
  bool narrow = true;
  for (const double value : values) narrow = narrow && value < kLargestNarrow;
  return narrow;
}

}  // namespace filbert
