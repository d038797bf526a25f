// One tree's rows of Delta against the support vectors, and their products with the weights f.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/self_delta.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/column_tile.hpp"
#include "rows/tile_sums.hpp"
#include "scoring/mapped_tree.hpp"

namespace filbert {

// f by column of the support vectors' tile, and its sums by class; each for all columns of scores.
template <class Real>
struct RowWeights {
  std::size_t n_columns = 0;  // of scores
  std::vector<Real> of_node;
  std::vector<Real> of_class;
};

// A kernel's pass over the rows of one tree, for one thread.
template <class Real>
class RowPass {
 public:
  virtual ~RowPass() = default;

  // (D f)(u) by node and column.
  virtual const std::vector<Real>& run(const MappedTree& mapped, const StopToken& token) = 0;
};

// For kernels that multiply over the slots of children. Visits the nodes of one tree from the
// leaves up. Most entries of a row have the smallest value that matching nodes can have; a row
// holds 0 for these and a list of the others. Rows are reset to zero after use, so that the time
// for a tree depends only on the entries that it touches.
template <class Kernel, class Real>
class SlotPass final : public RowPass<Real> {
 public:
  SlotPass(const Kernel& kernel, const ColumnTile& tile, const RowWeights<Real>& weights)
      : kernel_(kernel), tile_(tile), weights_(weights), k_(weights.n_columns) {}

  const std::vector<Real>& run(const MappedTree& mapped, const StopToken& token) override {
    const LocalTree& tree = mapped.tree;
    products_.assign(tree.size() * k_, Real(0.0));
    rows_.resize(std::max<std::size_t>(rows_.size(), tree.size()));
    uses_.assign(mapped.uses.begin(), mapped.uses.end());
    if constexpr (Kernel::matching == Matching::subtree) {
      base_ = self_deltas<Real>(kernel_, tree);
    } else {
      base_.assign(tree.size(), kernel_.template bare<Real>());
    }
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      if (mapped.cls[u] == kNone) continue;
      make_row(mapped, u, token);
      sum_row(mapped, u, products_.data() + u * k_);
      if (uses_[u] == 0) give_back(u);
      for_each_link(mapped, u, [&](std::uint32_t child, auto) {
        if (--uses_[child] == 0) give_back(child);
      });
      token.check();
    }
    return products_;
  }

 private:
  struct Row {
    Real* values = nullptr;
    std::size_t width = 0;
    std::vector<std::uint32_t> touched;  // the first n_touched of them
    std::size_t n_touched = 0;

    std::span<const std::uint32_t> list() const { return {touched.data(), n_touched}; }
  };

  void make_row(const MappedTree& mapped, std::uint32_t u, const StopToken& token) {
    std::size_t most = 0;
    for_each_link(mapped, u, [&](std::uint32_t, auto links) { most += links.size(); });
    if (most == 0) return;
    Row& row = rows_[u];
    row.width = tile_.width(mapped.cls[u]);
    row.values = pool_.take(row.width);
    row.n_touched = 0;
    most = std::min(most, row.width) + 1;  // one more may be written
    if (row.touched.size() < most) row.touched.resize(most);
    for_each_link(mapped, u, [&](std::uint32_t child, auto links) {
      multiply(links, rows_[child].values, base_[u], row);
      token.check();
    });
  }

  // Multiplies by one child slot: all entries that have a matching child there.
  void multiply(std::span<const ColumnTile::Link> links, const Real* child, const Real& base,
                Row& row) const {
    Real* const out = row.values;
    std::uint32_t* const touched = row.touched.data();
    std::size_t n = row.n_touched;
    const Real least = kernel_.factor(kernel_.template bare<Real>());
    for (const auto [parent, column] : links) {
      const bool is_new = is_zero(out[parent]);
      touched[n] = parent;
      n += is_new;
      const bool more = child != nullptr && !is_zero(child[column]);
      const Real factor = more ? kernel_.factor(child[column]) : least;
      out[parent] = (is_new ? base : out[parent]) * factor;
    }
    row.n_touched = n;
  }

  // The row's product with f: the part that is common to all nodes of the class, and the rest.
  void sum_row(const MappedTree& mapped, std::uint32_t u, Real* out) const {
    const Real base = base_[u];
    const Real* const of_class = weights_.of_class.data() + std::size_t{mapped.cls[u]} * k_;
    for (std::size_t c = 0; c < k_; ++c) out[c] = base * of_class[c];
    const Row& row = rows_[u];
    if (row.values == nullptr) return;
    const Real* const of_node =
        weights_.of_node.data() + std::size_t{tile_.begin(mapped.cls[u])} * k_;
    if (k_ == 1) {
      Real sum(0.0);
      for (const std::uint32_t i : row.list()) sum += (row.values[i] - base) * of_node[i];
      out[0] += sum;
      return;
    }
    for (const std::uint32_t i : row.list()) {
      const Real more = row.values[i] - base;
      for (std::size_t c = 0; c < k_; ++c) out[c] += more * of_node[i * k_ + c];
    }
  }

  void give_back(std::uint32_t u) {
    Row& row = rows_[u];
    if (row.values == nullptr) return;
    for (const std::uint32_t i : row.list()) row.values[i] = Real(0.0);
    pool_.give_back(row.values, row.width);
    row.values = nullptr;
  }

  template <class Visit>
  static void for_each_link(const MappedTree& mapped, std::uint32_t u, const Visit& visit) {
    for (std::uint32_t e = mapped.tree.child_begin[u]; e < mapped.tree.child_begin[u + 1]; ++e) {
      if (!mapped.links[e].empty()) visit(mapped.tree.children[e], mapped.links[e]);
    }
  }

  const Kernel kernel_;
  const ColumnTile& tile_;  // all support vectors
  const RowWeights<Real>& weights_;
  const std::size_t k_;
  RowPool<Real> pool_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> uses_;
  std::vector<Real> products_;
  std::vector<Real> base_;  // by node: the smallest Delta with a node of its class
};

}  // namespace filbert
