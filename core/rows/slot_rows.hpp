// Rows of Delta for kernels that multiply over the slots of children (kernels/subset_tree.hpp).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/self_delta.hpp"
#include "rows/row_recursion.hpp"

namespace filbert {

// By production: all columns start with the Delta of the bare production, and each slot multiplies
// the columns whose child there can match.
template <class Kernel, class Real>
class SlotRows final : public RowRecursion<Real> {
 public:
  SlotRows(const Kernel& kernel, const RowSide& side)
      : kernel_(kernel), rows_(side.dag), class_of_(side.class_of) {}

  void compute(NodeId u, const ColumnTile& tile, const Real* const* row_of, const StopToken& token,
               Real* out) override {
    const std::uint32_t cls = class_of_[u];
    std::fill_n(out, tile.width(cls), kernel_.template bare<Real>());
    const std::span<const NodeId> children = rows_.children(u);
    for (std::size_t slot = 0; slot < children.size(); ++slot) {
      const NodeId child = children[slot];
      const std::uint32_t child_cls = class_of_[child];
      if (rows_.is_leaf(child) || tile.width(child_cls) == 0) continue;
      const Real* child_row = row_of[child];
      for (const auto [parent, column] : tile.links(cls, slot, child_cls)) {
        out[parent] *= kernel_.factor(child_row[column]);
      }
      if (slot % 1024 == 1023) token.check();
    }
  }

 private:
  const Kernel kernel_;
  const Dag& rows_;
  std::span<const std::uint32_t> class_of_;
};

// By subtree: only equal nodes match, so a row is one precomputed number.
template <class Kernel, class Real>
class EqualRows final : public RowRecursion<Real> {
 public:
  EqualRows(const Kernel& kernel, const RowSide& side)
      : self_(self_deltas<Real>(kernel, side.dag)) {}

  void compute(NodeId u, const ColumnTile&, const Real* const*, const StopToken&,
               Real* out) override {
    *out = self_[u];
  }

 private:
  const std::vector<Real> self_;
};

}  // namespace filbert
