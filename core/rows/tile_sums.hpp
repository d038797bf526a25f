// Kernel values of some rows' trees against one tile of columns' trees:
//
//   K[i, j] = sum over nodes u of tree i and v of tree j of count * count * Delta(u, v)
//
// Each Delta(u, v) is computed once for the whole tile, for any number of trees that contain u or
// v. Rows of Delta exist from their first use to their last, and never all at the same time.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "rows/column_tile.hpp"
#include "rows/lanes.hpp"
#include "rows/row_groups.hpp"
#include "rows/row_recursion.hpp"

namespace filbert {

// Memory for rows of Delta, allocated in powers of two and reused.
template <class Real>
class RowPool {
 public:
  Real* take(std::size_t width) {
    const std::size_t rank = rank_of(width);
    if (free_.size() <= rank) free_.resize(rank + 1);
    if (free_[rank].empty()) {
      slabs_.push_back(std::make_unique<Real[]>(std::size_t{1} << rank));
      return slabs_.back().get();
    }
    Real* row = free_[rank].back();
    free_[rank].pop_back();
    return row;
  }
  void give_back(Real* row, std::size_t width) { free_[rank_of(width)].push_back(row); }

 private:
  static std::size_t rank_of(std::size_t width) {
    return static_cast<std::size_t>(std::bit_width(width - 1));
  }
  std::vector<std::vector<Real*>> free_;
  std::vector<std::unique_ptr<Real[]>> slabs_;
};

template <class Real>
class TileSums {
 public:
  TileSums(const TreeKernel& kernel, const RowSide& side)
      : side_(side),
        rows_(side.dag),
        class_of_(side.class_of),
        delta_(kernel.row_recursion(side, As<Real>())),
        row_(rows_.size(), nullptr),
        uses_(rows_.size(), 0) {}

  // sink(first tree of a group, tree within the tile, values), for every group in [first, last) and
  // for the tile's trees from `first_tree(group)` on. `light` has the same groups, with features.
  template <class FirstTree, class Sink>
  void run(const RowGroups& groups, const RowGroups& light, std::size_t first, std::size_t last,
           const ColumnTile& tile, std::size_t n_tile_trees, const FirstTree& first_tree,
           const Sink& sink, const StopToken& token) {
    sums_.assign(kLanes * tile.n_columns(), Real(0.0));
    side_by_side_.assign(tile.n_columns() + tile.n_light(), Line{});
    while (first < last) {
      const std::size_t block_end = plan_block(groups, first, last, tile);
      for (; first < block_end; ++first) {
        add_rows(groups.group(first), tile, token);
        if (side_.partial != nullptr) add_light(light.group(first), tile);
        reduce(groups, first, tile, first_tree(first), n_tile_trees, sink);
        if (side_.partial != nullptr) clear_light(light.group(first), tile);
        token.check();
      }
    }
  }

 private:
  // The sums of a column for all lanes; one cache line.
  struct alignas(64) Line {
    Real lane[kLanes] = {};
  };

  // All rows of a block may exist at the same time. They take at most this many bytes, unless one
  // group of trees alone needs more.
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 20;

  // Counts for each node of the next block how often its row will be used: once by each group that
  // contains it and once by each parent. Returns the end of the block.
  std::size_t plan_block(const RowGroups& groups, std::size_t first, std::size_t last,
                         const ColumnTile& tile) {
    std::size_t bytes = 0;
    for (std::size_t g = first; g < last; ++g) {
      if (g > first && bytes > kBlockBytes) return g;
      NodeId previous = kNone;
      for (const RowGroups::Entry& entry : groups.group(g)) {
        const NodeId u = entry.node;
        if (u == previous) continue;
        previous = u;
        const std::uint32_t width = tile.width(class_of_[u]);
        if (width == 0) continue;
        if (uses_[u]++ == 0) {
          bytes += width * sizeof(Real);
          for (const NodeId child : rows_.children(u)) {
            if (tile.width(class_of_[child]) > 0) ++uses_[child];
          }
        }
      }
    }
    return last;
  }

  void add_rows(std::span<const RowGroups::Entry> entries, const ColumnTile& tile,
                const StopToken& token) {
    const std::size_t n_columns = tile.n_columns();
    for (std::size_t e = 0; e < entries.size();) {
      const NodeId u = entries[e].node;
      const std::uint32_t cls = class_of_[u];
      const std::uint32_t width = tile.width(cls);
      if (width == 0) {
        ++e;
        continue;
      }
      if (row_[u] == nullptr) make_row(u, width, tile, token);
      for (; e < entries.size() && entries[e].node == u; ++e) {
        Real* const sum = sums_.data() + entries[e].lane * n_columns + tile.begin(cls);
        add(row_[u], width, entries[e].count, sum);
      }
      release(u, width);
      token.check();
    }
  }

  void make_row(NodeId u, std::uint32_t width, const ColumnTile& tile, const StopToken& token) {
    row_[u] = pool_.take(width);
    delta_->compute(u, tile, row_.data(), token, row_[u]);
    for (const NodeId child : rows_.children(u)) {
      const std::uint32_t child_width = tile.width(class_of_[child]);
      if (child_width > 0) release(child, child_width);
    }
  }

  void release(NodeId u, std::uint32_t width) {
    if (--uses_[u] > 0) return;
    pool_.give_back(row_[u], width);
    row_[u] = nullptr;
  }

  static void add(const Real* row, std::uint32_t width, std::uint32_t count, Real* sum) {
    if constexpr (std::is_same_v<Real, double>) {
      lane_kernels().add(row, width, count, sum);
    } else {
      const Real times(count);
      for (std::uint32_t i = 0; i < width; ++i) sum[i] += times * row[i];
    }
  }

  // Adds the nodes without rows: one column for each of their features.
  void add_light(std::span<const RowGroups::Entry> entries, const ColumnTile& tile) {
    for (const RowGroups::Entry& entry : entries) {
      const std::uint32_t column = tile.light_column(entry.node);
      if (column == kNone) continue;
      const bool subtree = side_.partial->features.is_subtree(entry.node);
      const Real& weight = subtree ? delta_->light_pair : delta_->light_single;
      side_by_side_[column].lane[entry.lane] = Real(entry.count) * weight;
    }
  }
  void clear_light(std::span<const RowGroups::Entry> entries, const ColumnTile& tile) {
    for (const RowGroups::Entry& entry : entries) {
      const std::uint32_t column = tile.light_column(entry.node);
      if (column != kNone) side_by_side_[column].lane[entry.lane] = Real(0.0);
    }
  }

  // Adds sums over the tile's nodes up to sums over the tile's trees, for all lanes together.
  // Resets the sums to zero for the next group.
  template <class Sink>
  void reduce(const RowGroups& groups, std::size_t group, const ColumnTile& tile,
              std::size_t first_tree, std::size_t n_tile_trees, const Sink& sink) {
    const std::size_t first_row = group * groups.trees_per_group;
    const std::size_t n_lanes = std::min(groups.trees_per_group, groups.n_trees - first_row);
    put_side_by_side(tile.n_columns(), n_lanes);
    for (std::size_t tree = first_tree; tree < n_tile_trees; ++tree) {
      Real total[kLanes] = {};
      dot(tile.terms(tree), total);
      sink(first_row, tree, std::span<const Real>(total, n_lanes));
    }
  }

  void put_side_by_side(std::size_t n_columns, std::size_t n_lanes) {
    for (std::size_t c = 0; c < n_columns; ++c) {
      for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        side_by_side_[c].lane[lane] = sums_[lane * n_columns + c];
      }
    }
    std::fill_n(sums_.begin(), n_lanes * n_columns, Real(0.0));
  }

  void dot(std::span<const LaneTerm> terms, Real* total) const {
    if (terms.empty()) return;
    if constexpr (std::is_same_v<Real, double>) {
      lane_kernels().dot(terms.data(), terms.size(), side_by_side_.data()->lane, total);
    } else {
      for (const LaneTerm term : terms) {
        const Real* const lanes = side_by_side_[term.column].lane;
        const Real times(term.count);
        for (std::size_t lane = 0; lane < kLanes; ++lane) total[lane] += times * lanes[lane];
      }
    }
  }

  const RowSide side_;
  const Dag& rows_;
  std::span<const std::uint32_t> class_of_;
  std::unique_ptr<RowRecursion<Real>> delta_;
  RowPool<Real> pool_;
  std::vector<Real*> row_;           // by node; null if it has no row at present
  std::vector<std::uint32_t> uses_;  // by node: number of remaining uses
  std::vector<Real> sums_;           // by lane and column
  std::vector<Line> side_by_side_;   // by column, including light features
};

}  // namespace filbert
