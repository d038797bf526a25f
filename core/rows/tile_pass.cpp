#include "rows/tile_pass.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/chosen_symbols.hpp"
#include "kernels/step_limit.hpp"
#include "rows/tile_worker.hpp"

namespace filbert {

namespace {

// The two sides, prepared: classes in one numbering, and the nodes of each tree. Must not be moved,
// because its members refer to each other.
struct Sides {
  Sides(const KernelSpec& spec, Trees rows, Trees columns, std::size_t trees_per_group,
        int n_threads, const Watch& watch);
  Sides(const Sides&) = delete;

  NodeClasses classes;
  std::shared_ptr<PartialSides> partial;
  std::optional<ColumnSide> columns;
  std::optional<RowBatch> rows;
};

Sides::Sides(const KernelSpec& spec, Trees row_trees, Trees column_trees,
             std::size_t trees_per_group, int n_threads, const Watch& watch)
    : classes(classify(spec, row_trees.dag, row_trees.roots, column_trees.dag, column_trees.roots)),
      partial(spec->partial_sides(row_trees.dag, column_trees.dag, classes)) {
  if (partial && trees_per_group > 1) {
    partial->rank_columns(column_trees.dag, classes.columns());
  }
  const PartialSides* const p = partial.get();
  const auto weighed = [&](Trees trees, std::span<const std::uint32_t> class_of) {
    return weigh(p, trees.dag, class_of,
                 count_roots(spec, trees.dag, trees.roots, class_of, n_threads, watch));
  };
  columns.emplace(ColumnSide{*spec.kernel, column_trees.dag, classes.columns(), classes.size, p,
                             weighed(column_trees, classes.columns())});
  const bool same = &row_trees.dag == &column_trees.dag &&
                    row_trees.roots.data() == column_trees.roots.data() &&
                    row_trees.size() == column_trees.size();
  const RowSide side{row_trees.dag, classes.rows, p};
  const WeighedTrees own_rows = same ? WeighedTrees{} : weighed(row_trees, classes.rows);
  const WeighedTrees& counted = same ? columns->trees : own_rows;
  rows.emplace(batch_of(*spec.kernel, side, counted, trees_per_group));
  const StepLimit limit = spec->step_limit();
  if (!limit.is_set()) return;
  const bool rows_number = row_trees.dag.size() > column_trees.dag.size();
  check_steps(
      limit, most_children(limit, row_trees.dag, counted.heavy, classes.rows, classes.size),
      most_children(limit, column_trees.dag, columns->trees.heavy, classes.columns(), classes.size),
      rows_number ? row_trees.dag : column_trees.dag);
}

// The memory that one thread keeps from tile to tile.
struct Worker {
  explicit Worker(const Sides& s) : sides(s), tile(s.columns->empty_tile()), sums(*s.rows) {}

  template <class FirstTree>
  void run(Range range, Range groups, const FirstTree& first_tree, Sink& sink,
           const StopToken& token) {
    sides.columns->load(tile, range);
    sums.run(tile, range, groups, first_tree, sink, token);
  }

  const Sides& sides;
  ColumnTile tile;
  TileWorker sums;
};

// An upper bound: pairs of nodes, and for partial trees pairs of their children.
double n_pairs(Trees rows, Trees columns) {
  const auto n_nodes = [](Trees trees) {
    double sum = 0.0;
    for (const NodeId root : trees.roots) sum += static_cast<double>(trees.dag.sizes()[root]);
    return sum;
  };
  return n_nodes(rows) * n_nodes(columns);
}

}  // namespace

void sum_between(const KernelSpec& spec, Trees rows, Trees columns, int n_threads,
                 const Watch& watch, Sink& sink) {
  const Sides sides(spec, rows, columns, kLanes, n_threads, watch);
  n_threads = threads_for(n_pairs(rows, columns), n_threads);
  const std::vector<Range> tiles = cut_tiles(sides.columns->dag, sides.columns->trees.heavy);
  Workers<Worker> workers(n_threads);
  const auto make = [&] { return Worker(sides); };
  parallel_for(
      tiles.size(), n_threads, watch, [&](std::size_t task, int index, const StopToken& token) {
        const auto all = [](std::size_t) { return std::size_t{0}; };
        workers.get(index, make).run(tiles[task], {0, sides.rows->groups.size()}, all, sink, token);
      });
}

void sum_within(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch,
                Sink& sink) {
  const Sides sides(spec, trees, trees, kLanes, n_threads, watch);
  n_threads = threads_for(n_pairs(trees, trees), n_threads);
  std::vector<Range> tiles = cut_tiles(sides.columns->dag, sides.columns->trees.heavy);
  // A tile is compared with all rows up to its last tree, so the last tile has the most work and
  // comes first.
  std::reverse(tiles.begin(), tiles.end());
  Workers<Worker> workers(n_threads);
  const auto make = [&] { return Worker(sides); };
  parallel_for(tiles.size(), n_threads, watch,
               [&](std::size_t task, int index, const StopToken& token) {
                 const Range tile = tiles[task];
                 const auto from_diagonal = [&](std::size_t group) {
                   const std::size_t row = group * kLanes;
                   return row > tile.first ? row - tile.first : 0;
                 };
                 workers.get(index, make)
                     .run(tile, {0, (tile.last + kLanes - 1) / kLanes}, from_diagonal, sink, token);
               });
}

void sum_self(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch, Sink& sink) {
  constexpr std::size_t kChunk = 64;
  const Sides sides(spec, trees, trees, 1, n_threads, watch);
  n_threads = threads_for(n_pairs(trees, trees), n_threads);
  Workers<Worker> workers(n_threads);
  const auto make = [&] { return Worker(sides); };
  parallel_for(
      (trees.size() + kChunk - 1) / kChunk, n_threads, watch,
      [&](std::size_t chunk, int index, const StopToken& token) {
        const auto all = [](std::size_t) { return std::size_t{0}; };
        const std::size_t last = std::min((chunk + 1) * kChunk, trees.size());
        for (std::size_t tree = chunk * kChunk; tree < last; ++tree) {
          workers.get(index, make).run({tree, tree + 1}, {tree, tree + 1}, all, sink, token);
        }
      });
}

}  // namespace filbert
