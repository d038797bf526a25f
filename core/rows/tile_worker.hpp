// Common code of the tile passes: the columns side cut into tiles, a batch of rows, and the work on
// one tile.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/node_classes.hpp"
#include "rows/column_tile.hpp"
#include "rows/row_groups.hpp"
#include "rows/tile_pass.hpp"
#include "rows/tile_sums.hpp"

namespace filbert {

struct Range {
  std::size_t first, last;
};

// Trees that are cut into tiles.
struct ColumnSide {
  const TreeKernel& kernel;
  const Dag& dag;
  std::span<const std::uint32_t> class_of;
  std::uint32_t n_classes;
  const PartialSides* partial;
  WeighedTrees trees;

  ColumnTile empty_tile() const { return {kernel, dag, class_of, n_classes, partial}; }
  void load(ColumnTile& tile, Range range) const {
    tile.load(trees.heavy, trees.light, range.first, range.last);
  }
};

std::vector<Range> cut_tiles(const Dag& dag, const Occurrences& trees);

// All nodes are heavy for kernels without light nodes.
WeighedTrees weigh(const PartialSides* partial, const Dag& dag,
                   std::span<const std::uint32_t> class_of, Occurrences trees);

// Trees that are compared with tiles.
struct RowBatch {
  const TreeKernel& kernel;
  RowSide side;
  RowGroups groups;
  RowGroups lights;
};

RowBatch batch_of(const TreeKernel& kernel, const RowSide& side, const WeighedTrees& trees,
                  std::size_t trees_per_group);

// Whether doubles hold Delta at all. Sums may still overflow, which their values show.
bool starts_narrow(const TreeKernel& kernel);
bool is_narrow(std::span<const double> values);

// The work of one thread on successive tiles.
class TileWorker {
 public:
  explicit TileWorker(const RowBatch& rows) : rows_(rows) {}

  // Compares the groups' trees with a tile's trees, each group from `first_tree(group)` on.
  template <class FirstTree>
  void run(const ColumnTile& tile, Range range, Range groups, const FirstTree& first_tree,
           Sink& sink, const StopToken& token) {
    bool done = starts_narrow(rows_.kernel);
    if (done) {
      run_with(narrow_, tile, range, groups, first_tree, token,
               [&](std::size_t row, std::size_t column, std::span<const double> values) {
                 done = done && is_narrow(values);
                 sink.put(row, column, values);
               });
    }
    if (done) return;
    run_with(wide_, tile, range, groups, first_tree, token,
             [&](std::size_t row, std::size_t column, std::span<const Wide> values) {
               sink.put(row, column, values);
             });
  }

 private:
  template <class Sums, class FirstTree, class Put>
  void run_with(std::optional<Sums>& sums, const ColumnTile& tile, Range range, Range groups,
                const FirstTree& first_tree, const StopToken& token, const Put& put) {
    if (!sums) sums.emplace(rows_.kernel, rows_.side);
    sums->run(
        rows_.groups, rows_.lights, groups.first, groups.last, tile, range.last - range.first,
        first_tree,
        [&](std::size_t row, std::size_t tree, auto values) {
          put(row, range.first + tree, values);
        },
        token);
  }

  const RowBatch& rows_;
  std::optional<TileSums<double>> narrow_;
  std::optional<TileSums<Wide>> wide_;
};

// One worker per thread, created when first needed.
template <class Worker>
class Workers {
 public:
  explicit Workers(int n_threads)
      : workers_(static_cast<std::size_t>(n_threads < 1 ? 1 : n_threads)) {}

  template <class Make>
  Worker& get(int index, const Make& make) {
    auto& worker = workers_[static_cast<std::size_t>(index)];
    if (!worker) worker = std::make_unique<Worker>(make());
    return *worker;
  }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace filbert
