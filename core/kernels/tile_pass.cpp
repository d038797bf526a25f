#include "kernels/tile_pass.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

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

// Beyond these, doubles may have lost digits on the way: the tile is done again with Wide.
constexpr double kLargest = 1e300;
constexpr double kSmallestBase = 1e-200;

// Every Delta that is not zero is at least this large (subtrees: the smaller ones do not matter in
// the sum, since a subtree never matches without those below it).
double base_value(const KernelSpec& spec) {
  if (spec.kernel == TreeKernel::partial_tree) return spec.depth_decay * spec.decay * spec.decay;
  return spec.decay;
}

struct Range {
  std::size_t first, last;
};

std::vector<Range> cut_tiles(const Occurrences& x) {
  std::vector<Range> tiles;
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
  std::optional<PartialSides> partial;
  WeighedTrees columns;
  RowGroups row_groups;
  RowGroups row_lights;

  RowSide row_side() const { return {spec, row_dag, classes.rows, partial ? &*partial : nullptr}; }
};

// All nodes are heavy where there is no other kind.
WeighedTrees weighed(const Sides& sides, const Dag& dag, std::span<const std::uint32_t> class_of,
                     Occurrences trees) {
  if (!sides.partial) return {std::move(trees), {}};
  return sides.partial->features.weigh(dag, class_of, sides.partial->kinds, trees);
}

void group(Sides& sides, const WeighedTrees& rows, std::size_t trees_per_group) {
  sides.row_groups = group_rows(rows.heavy, trees_per_group);
  if (sides.partial) sides.row_lights = group_rows(rows.light, trees_per_group);
}

Sides prepare(const KernelSpec& spec, Trees rows, Trees columns, std::size_t trees_per_group,
              int n_threads, const Watch& watch) {
  Sides sides{spec, rows.dag, columns.dag, {}, {}, {}, {}, {}};
  sides.classes = classify(spec, rows.dag, rows.roots, columns.dag, columns.roots);
  const auto& column_classes = sides.classes.columns();
  if (spec.kernel == TreeKernel::partial_tree) {
    sides.partial.emplace(rows.dag, columns.dag, sides.classes);
    if (trees_per_group > 1) sides.partial->rank_columns(columns.dag, column_classes);
  }
  sides.columns =
      weighed(sides, columns.dag, column_classes,
              count_occurrences(columns.dag, columns.roots, column_classes, n_threads, watch));
  const bool same = &rows.dag == &columns.dag && rows.roots.data() == columns.roots.data() &&
                    rows.size() == columns.size();
  WeighedTrees own_rows;
  if (!same) {
    own_rows =
        weighed(sides, rows.dag, sides.classes.rows,
                count_occurrences(rows.dag, rows.roots, sides.classes.rows, n_threads, watch));
  }
  const WeighedTrees& row_trees = same ? sides.columns : own_rows;
  group(sides, row_trees, trees_per_group);
  if (spec.kernel == TreeKernel::partial_tree) {
    check_steps(spec, rows.dag, row_trees.heavy, columns.dag, sides.columns.heavy, sides.classes);
  }
  return sides;
}

// What one thread keeps from tile to tile.
template <template <class> class DeltaRows>
class Worker {
 public:
  explicit Worker(const Sides& sides)
      : sides_(sides),
        tile_(sides.spec, sides.column_dag, sides.classes.columns(), sides.classes.size,
              sides.row_side().partial) {}

  // The groups' trees against a tile's, each group from `first_tree(group)` on.
  template <class FirstTree>
  void run(Range tile, Range groups, const FirstTree& first_tree, Sink& sink,
           const StopToken& token) {
    tile_.load(sides_.columns.heavy, sides_.columns.light, tile.first, tile.last);
    bool done = false;
    if (base_value(sides_.spec) >= kSmallestBase) {
      done = true;
      run_with(narrow_, tile, groups, first_tree, token,
               [&](std::size_t row, std::size_t column, std::span<const double> values) {
                 for (const double value : values) done = done && value < kLargest;
                 sink.put(row, column, values);
               });
    }
    if (done) return;
    run_with(wide_, tile, groups, first_tree, token,
             [&](std::size_t row, std::size_t column, std::span<const Wide> values) {
               sink.put(row, column, values);
             });
  }

 private:
  template <class Sums, class FirstTree, class Put>
  void run_with(std::optional<Sums>& sums, Range tile, Range groups, const FirstTree& first_tree,
                const StopToken& token, const Put& put) {
    if (!sums) sums.emplace(sides_.row_side());
    sums->run(
        sides_.row_groups, sides_.row_lights, groups.first, groups.last, tile_,
        tile.last - tile.first, first_tree,
        [&](std::size_t row, std::size_t tree, auto values) {
          put(row, tile.first + tree, values);
        },
        token);
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

// An upper bound: pairs of nodes, and for partial trees pairs of their children.
double n_pairs(Trees rows, Trees columns) {
  const auto n_nodes = [](Trees trees) {
    double sum = 0.0;
    for (const NodeId root : trees.roots) sum += static_cast<double>(trees.dag.sizes()[root]);
    return sum;
  };
  return n_nodes(rows) * n_nodes(columns);
}

// Calls the instance for the kernel's way of computing Delta.
template <class Call>
void dispatch(const KernelSpec& spec, const Call& call) {
  switch (spec.kernel) {
    case TreeKernel::subtree: call.template operator()<SubtreeRows>(); break;
    case TreeKernel::subset_tree: call.template operator()<SubsetRows>(); break;
    case TreeKernel::partial_tree: call.template operator()<PartialRows>(); break;
  }
}

}  // namespace

void sum_between(const KernelSpec& spec, Trees rows, Trees columns, int n_threads,
                 const Watch& watch, Sink& sink) {
  const Sides sides = prepare(spec, rows, columns, kLanes, n_threads, watch);
  n_threads = threads_for(n_pairs(rows, columns), n_threads);
  const std::vector<Range> tiles = cut_tiles(sides.columns.heavy);
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    Workers<DeltaRows> workers(sides, n_threads);
    parallel_for(
        tiles.size(), n_threads, watch, [&](std::size_t task, int index, const StopToken& token) {
          const auto all = [](std::size_t) { return std::size_t{0}; };
          workers.get(index).run(tiles[task], {0, sides.row_groups.size()}, all, sink, token);
        });
  });
}

void sum_within(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch,
                Sink& sink) {
  const Sides sides = prepare(spec, trees, trees, kLanes, n_threads, watch);
  n_threads = threads_for(n_pairs(trees, trees), n_threads);
  std::vector<Range> tiles = cut_tiles(sides.columns.heavy);
  // A tile goes with all rows up to its last tree, so the last tile has the most work: it is first.
  std::reverse(tiles.begin(), tiles.end());
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    Workers<DeltaRows> workers(sides, n_threads);
    parallel_for(tiles.size(), n_threads, watch,
                 [&](std::size_t task, int index, const StopToken& token) {
                   const Range tile = tiles[task];
                   const auto from_diagonal = [&](std::size_t group) {
                     const std::size_t row = group * kLanes;
                     return row > tile.first ? row - tile.first : 0;
                   };
                   workers.get(index).run(tile, {0, (tile.last + kLanes - 1) / kLanes},
                                          from_diagonal, sink, token);
                 });
  });
}

void sum_self(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch, Sink& sink) {
  constexpr std::size_t kChunk = 64;
  const Sides sides = prepare(spec, trees, trees, 1, n_threads, watch);
  n_threads = threads_for(n_pairs(trees, trees), n_threads);
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    Workers<DeltaRows> workers(sides, n_threads);
    parallel_for((trees.size() + kChunk - 1) / kChunk, n_threads, watch,
                 [&](std::size_t chunk, int index, const StopToken& token) {
                   const auto all = [](std::size_t) { return std::size_t{0}; };
                   const std::size_t last = std::min((chunk + 1) * kChunk, trees.size());
                   for (std::size_t tree = chunk * kChunk; tree < last; ++tree) {
                     workers.get(index).run({tree, tree + 1}, {tree, tree + 1}, all, sink, token);
                   }
                 });
  });
}

// ------------------------------------------------------------------------------ rows

class RowSums::State {
 public:
  virtual ~State() = default;
  virtual void run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch,
                   Sink& sink) = 0;
};

template <template <class> class DeltaRows>
class RowSums::StateOf final : public RowSums::State {
 public:
  StateOf(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch)
      : spec_(spec),
        sides_(prepare(spec_, trees, trees, kLanes, n_threads, watch)),
        tiles_(cut_tiles(sides_.columns.heavy)),
        n_nodes_(static_cast<double>(sides_.columns.heavy.nodes.size())) {}

  void run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch,
           Sink& sink) override {
    WeighedTrees rows{selected(sides_.columns.heavy, wanted), {}};
    if (sides_.partial) rows.light = selected(sides_.columns.light, wanted);
    group(sides_, rows, kLanes);
    n_threads = threads_for(static_cast<double>(rows.heavy.nodes.size()) * n_nodes_, n_threads);
    // Workers that an interrupt left in the middle of a tile do not come back.
    std::unique_ptr<Workers<DeltaRows>> workers = std::move(workers_);
    if (!workers || n_threads > n_workers_) {
      n_workers_ = n_threads;
      workers = std::make_unique<Workers<DeltaRows>>(sides_, n_threads);
    }
    parallel_for(
        tiles_.size(), n_threads, watch, [&](std::size_t task, int index, const StopToken& token) {
          const auto all = [](std::size_t) { return std::size_t{0}; };
          workers->get(index).run(tiles_[task], {0, sides_.row_groups.size()}, all, sink, token);
        });
    workers_ = std::move(workers);
  }

 private:
  static Occurrences selected(const Occurrences& x, std::span<const std::uint32_t> wanted) {
    Occurrences some;
    some.row_begin.push_back(0);
    for (const std::uint32_t tree : wanted) {
      const auto nodes = x.nodes_of(tree);
      const auto counts = x.counts_of(tree);
      some.nodes.insert(some.nodes.end(), nodes.begin(), nodes.end());
      some.counts.insert(some.counts.end(), counts.begin(), counts.end());
      some.row_begin.push_back(some.nodes.size());
    }
    return some;
  }

  const KernelSpec spec_;
  Sides sides_;  // its rows are those that are wanted at present
  std::vector<Range> tiles_;
  double n_nodes_;
  int n_workers_ = kInline;
  std::unique_ptr<Workers<DeltaRows>> workers_;
};

RowSums::RowSums(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch) {
  dispatch(spec, [&]<template <class> class DeltaRows>() {
    state_ = std::make_unique<StateOf<DeltaRows>>(spec, trees, n_threads, watch);
  });
}

RowSums::~RowSums() = default;

void RowSums::run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch,
                  Sink& sink) {
  state_->run(wanted, n_threads, watch, sink);
}

}  // namespace filbert
