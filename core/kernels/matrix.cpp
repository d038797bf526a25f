#include "kernels/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "kernels/column_tile.hpp"
#include "kernels/delta_partial.hpp"
#include "kernels/delta_subset.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/row_groups.hpp"
#include "kernels/step_limit.hpp"
#include "kernels/tile_sums.hpp"

namespace filbert {

namespace {

// A tile closes at so many trees or nodes. Wider tiles share more, narrower ones stay in the cache
// and give more tasks to the threads.
constexpr std::size_t kTileTrees = 512;
constexpr std::size_t kTileNodes = 16384;

// Outside of these, doubles may have lost digits on the way: the tile is done again with Wide.
constexpr double kLargest = 1e300;
constexpr double kSmallestBase = 1e-200;

// Every Delta that is not zero is at least this large (subtrees: the smaller ones do not matter in
// the sum, since a subtree never matches without those below it).
double base_value(const KernelSpec& spec) {
  if (spec.kernel == TreeKernel::partial_tree) return spec.depth_decay * spec.decay * spec.decay;
  return spec.decay;
}

struct TileRange {
  std::size_t first, last;
};

std::vector<TileRange> cut_tiles(const Occurrences& x) {
  std::vector<TileRange> tiles;
  std::size_t first = 0;
  std::size_t nodes = 0;
  for (std::size_t tree = 0; tree < x.n_trees(); ++tree) {
    const std::size_t more = x.nodes_of(tree).size();
    if (tree > first && (tree - first >= kTileTrees || nodes + more > kTileNodes)) {
      tiles.push_back({first, tree});
      first = tree;
      nodes = 0;
    }
    nodes += more;
  }
  if (first < x.n_trees()) tiles.push_back({first, x.n_trees()});
  return tiles;
}

// The two sides, prepared: classes in one numbering, and which tree contains which nodes.
struct Sides {
  const KernelSpec& spec;
  const Dag& row_dag;
  const Dag& column_dag;
  NodeClasses classes;
  Occurrences column_trees;
  RowGroups row_groups;
  std::size_t n_rows;
};

Sides prepare(const KernelSpec& spec, Trees rows, Trees columns, std::size_t trees_per_group) {
  Sides sides{spec, rows.dag, columns.dag, {}, {}, {}, rows.size()};
  sides.classes = classify(spec, rows.dag, rows.roots, columns.dag, columns.roots);
  const Occurrences row_trees = count_occurrences(rows.dag, rows.roots, sides.classes.rows);
  sides.column_trees = count_occurrences(columns.dag, columns.roots, sides.classes.columns());
  sides.row_groups = group_rows(row_trees, trees_per_group);
  if (spec.kernel == TreeKernel::partial_tree) {
    check_steps(spec, rows.dag, row_trees, columns.dag, sides.column_trees, sides.classes);
  }
  return sides;
}

// What one thread keeps from tile to tile.
template <template <class> class DeltaRows>
class Worker {
 public:
  explicit Worker(const Sides& sides)
      : sides_(sides),
        tile_(sides.spec, sides.column_dag, sides.classes.columns(), sides.classes.size) {}

  // sink(row tree, column tree, value as Wide or double). In doubles where they suffice; where one
  // value does not, all of the tile again with Wide.
  template <class FirstTree, class Sink>
  void run(TileRange range, std::size_t first_group, std::size_t last_group,
           const FirstTree& first_tree, const Sink& sink, const StopToken& token) {
    tile_.load(sides_.column_trees, range.first, range.last);
    const std::size_t n_trees = range.last - range.first;
    if (base_value(sides_.spec) >= kSmallestBase) {
      bool in_range = true;
      narrow().run(
          sides_.row_groups, first_group, last_group, tile_, n_trees, first_tree,
          [&](std::size_t i, std::size_t j, double value) {
            if (i >= sides_.n_rows) return;
            if (!(value < kLargest)) in_range = false;
            sink(i, range.first + j, value);
          },
          token);
      if (in_range) return;
    }
    wide().run(
        sides_.row_groups, first_group, last_group, tile_, n_trees, first_tree,
        [&](std::size_t i, std::size_t j, const Wide& value) {
          if (i < sides_.n_rows) sink(i, range.first + j, value);
        },
        token);
  }

 private:
  TileSums<double, DeltaRows>& narrow() { return get(narrow_); }
  TileSums<Wide, DeltaRows>& wide() { return get(wide_); }

  template <class Sums>
  Sums& get(std::optional<Sums>& sums) {
    if (!sums) sums.emplace(sides_.spec, sides_.row_dag, sides_.classes.rows);
    return *sums;
  }

  const Sides& sides_;
  ColumnTile tile_;
  std::optional<TileSums<double, DeltaRows>> narrow_;
  std::optional<TileSums<Wide, DeltaRows>> wide_;
};

// Workers are made by the threads that use them.
template <template <class> class DeltaRows>
class Workers {
 public:
  Workers(const Sides& sides, int n_threads)
      : sides_(sides), workers_(static_cast<std::size_t>(std::max(1, n_threads))) {}
  Worker<DeltaRows>& get(int index) {
    auto& worker = workers_[static_cast<std::size_t>(index)];
    if (!worker) worker = std::make_unique<Worker<DeltaRows>>(sides_);
    return *worker;
  }

 private:
  const Sides& sides_;
  std::vector<std::unique_ptr<Worker<DeltaRows>>> workers_;
};

// The square roots of the self-kernels, and whether doubles hold them all.
struct Norms {
  std::vector<Wide> wide;
  std::vector<double> narrow;
  bool all_narrow = true;
};

Norms norms_of(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch) {
  Norms norms;
  for (const Wide& self : self_kernels(spec, trees, n_threads, watch)) {
    norms.wide.push_back(sqrt(self));
    const double narrow = norms.wide.back().to_double();
    norms.narrow.push_back(narrow);
    const bool representable = self.is_zero() || (narrow < 1e150 && narrow > 1e-150);
    norms.all_narrow = norms.all_narrow && representable;
  }
  return norms;
}

double normalized(double value, const Norms& a, std::size_t i, const Norms& b, std::size_t j) {
  if (a.all_narrow && b.all_narrow) {
    if (value == 0.0) return 0.0;
    return value / a.narrow[i] / b.narrow[j];
  }
  if (!std::isfinite(value)) return 0.0;  // this tile will be done again with Wide
  return ratio(Wide(value), a.wide[i], b.wide[j]);
}

double normalized(const Wide& value, const Norms& a, std::size_t i, const Norms& b, std::size_t j) {
  return ratio(value, a.wide[i], b.wide[j]);
}

double plain(double value, std::size_t, std::size_t) { return value; }

double plain(const Wide& value, std::size_t i, std::size_t j) {
  const double narrow = value.to_double();
  if (!std::isfinite(narrow)) {
    throw KernelOverflow("the kernel value of trees " + std::to_string(i) + " and " +
                         std::to_string(j) + " is beyond the range of float64");
  }
  return narrow;
}

template <template <class> class DeltaRows>
std::vector<Wide> self_kernels_of(const KernelSpec& spec, Trees trees, int n_threads,
                                  const Watch& watch) {
  constexpr std::size_t kChunk = 64;
  const Sides sides = prepare(spec, trees, trees, 1);
  std::vector<Wide> values(trees.size());
  Workers<DeltaRows> workers(sides, n_threads);
  const auto all = [](std::size_t) { return std::size_t{0}; };
  parallel_for(
      (trees.size() + kChunk - 1) / kChunk, n_threads, watch,
      [&](std::size_t chunk, int index, const StopToken& token) {
        Worker<DeltaRows>& worker = workers.get(index);
        const std::size_t last = std::min((chunk + 1) * kChunk, trees.size());
        for (std::size_t tree = chunk * kChunk; tree < last; ++tree) {
          worker.run(
              {tree, tree + 1}, tree, tree + 1, all,
              [&](std::size_t i, std::size_t, const auto& value) { values[i] = Wide(value); },
              token);
        }
      });
  return values;
}

template <template <class> class DeltaRows>
void between(const KernelSpec& spec, Trees rows, Trees columns, const Norms* row_norms,
             const Norms* column_norms, int n_threads, const Watch& watch, const auto& put) {
  const Sides sides = prepare(spec, rows, columns, kLanes);
  const std::vector<TileRange> tiles = cut_tiles(sides.column_trees);
  Workers<DeltaRows> workers(sides, n_threads);
  parallel_for(
      tiles.size(), n_threads, watch, [&](std::size_t task, int index, const StopToken& token) {
        workers.get(index).run(
            tiles[task], 0, sides.row_groups.size(), [](std::size_t) { return std::size_t{0}; },
            [&](std::size_t i, std::size_t j, const auto& value) {
              put(i, j,
                  row_norms ? normalized(value, *row_norms, i, *column_norms, j)
                            : plain(value, i, j));
            },
            token);
      });
}

template <template <class> class DeltaRows>
void within(const KernelSpec& spec, Trees trees, const Norms* norms, int n_threads,
            const Watch& watch, double* out) {
  const std::size_t n = trees.size();
  const Sides sides = prepare(spec, trees, trees, kLanes);
  std::vector<TileRange> tiles = cut_tiles(sides.column_trees);
  // A tile goes with all rows up to its last tree, so the last tile has the most work: it is first.
  std::reverse(tiles.begin(), tiles.end());
  Workers<DeltaRows> workers(sides, n_threads);
  parallel_for(tiles.size(), n_threads, watch,
               [&](std::size_t task, int index, const StopToken& token) {
                 const TileRange tile = tiles[task];
                 workers.get(index).run(
                     tile, 0, (tile.last + kLanes - 1) / kLanes,
                     [&](std::size_t group) {
                       const std::size_t row = group * kLanes;
                       return row > tile.first ? row - tile.first : 0;
                     },
                     [&](std::size_t i, std::size_t j, const auto& value) {
                       if (i > j) return;
                       const double entry =
                           norms ? normalized(value, *norms, i, *norms, j) : plain(value, i, j);
                       out[i * n + j] = entry;
                       out[j * n + i] = entry;
                     },
                     token);
               });
  if (norms == nullptr) return;
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = norms->wide[i].is_zero() ? 0.0 : 1.0;
}

// Calls the instance for the kernel's way of computing Delta.
template <class Call>
auto dispatch(const KernelSpec& spec, const Call& call) {
  switch (spec.kernel) {
    case TreeKernel::subtree: return call.template operator()<SubtreeRows>();
    case TreeKernel::subset_tree: return call.template operator()<SubsetRows>();
    case TreeKernel::partial_tree: break;
  }
  return call.template operator()<PartialRows>();
}

}  // namespace

std::vector<Wide> self_kernels(const KernelSpec& spec, Trees trees, int n_threads,
                               const Watch& watch) {
  return dispatch(spec, [&]<template <class> class DeltaRows>() {
    return self_kernels_of<DeltaRows>(spec, trees, n_threads, watch);
  });
}

void kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                   const Watch& watch, double* out) {
  Norms norms_a, norms_b;
  if (normalize) {
    norms_a = norms_of(spec, a, n_threads, watch);
    norms_b = norms_of(spec, b, n_threads, watch);
  }
  const Norms* const na = normalize ? &norms_a : nullptr;
  const Norms* const nb = normalize ? &norms_b : nullptr;
  const std::size_t width = b.size();
  // Tiles are cut from the side with more trees: they are what the threads share.
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    if (a.size() <= b.size()) {
      between<DeltaRows>(spec, a, b, na, nb, n_threads, watch,
                         [&](std::size_t i, std::size_t j, double v) { out[i * width + j] = v; });
    } else {
      between<DeltaRows>(spec, b, a, nb, na, n_threads, watch,
                         [&](std::size_t j, std::size_t i, double v) { out[i * width + j] = v; });
    }
  });
}

void kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                   const Watch& watch, double* out) {
  Norms norms;
  if (normalize) norms = norms_of(spec, a, n_threads, watch);
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    within<DeltaRows>(spec, a, normalize ? &norms : nullptr, n_threads, watch, out);
  });
}

}  // namespace filbert
