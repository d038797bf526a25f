// Rows of Delta for subset trees (STK, SST) and for complete subtrees (ST).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "rows/column_tile.hpp"
#include "rows/row_side.hpp"

namespace filbert {

// Subset trees, Collins & Duffy 2002 (Severyn & Moschitti 2012, section 3.2), for two nodes of the
// same production:
//
//   Delta(u, v) = lambda * prod_j (1 + Delta(u_j, v_j))      j: slots where both children are inner
//                                                            nodes of the same production
//
// A whole row Delta(u, .) at once: all columns start at lambda, and each slot multiplies those
// whose child there can match. Children's rows are ready, since children come before their parents.
template <class Real>
class SubsetRows {
 public:
  explicit SubsetRows(const RowSide& side)
      : lambda_(side.spec.decay), rows_(side.dag), class_of_(side.class_of) {}

  template <class RowOf>
  void compute(NodeId u, const ColumnTile& tile, const RowOf& row_of, const StopToken& token,
               Real* out) const {
    const std::uint32_t cls = class_of_[u];
    std::fill_n(out, tile.width(cls), lambda_);
    const Real one(1.0);
    const std::span<const NodeId> children = rows_.children(u);
    for (std::size_t slot = 0; slot < children.size(); ++slot) {
      const NodeId child = children[slot];
      const std::uint32_t child_cls = class_of_[child];
      if (rows_.is_leaf(child) || tile.width(child_cls) == 0) continue;
      const Real* child_row = row_of(child);
      for (const auto [parent, column] : tile.links(cls, slot, child_cls)) {
        out[parent] *= one + child_row[column];
      }
      if (slot % 1024 == 1023) token.check();
    }
  }

 private:
  Real lambda_;
  const Dag& rows_;
  std::span<const std::uint32_t> class_of_;
};

// Subtrees, Vishwanathan & Smola 2003: a class is one distinct subtree, and Delta is lambda to the
// number of its nodes that have children.
template <class Real>
class SubtreeRows {
 public:
  explicit SubtreeRows(const RowSide& side) : weight_(side.dag.size()) {
    const Dag& rows = side.dag;
    for (NodeId u = 0; u < rows.size(); ++u) {
      if (rows.is_leaf(u)) {
        weight_[u] = Real(1.0);
        continue;
      }
      weight_[u] = Real(side.spec.decay);
      for (const NodeId child : rows.children(u)) weight_[u] *= weight_[child];
    }
  }

  template <class RowOf>
  void compute(NodeId u, const ColumnTile&, const RowOf&, const StopToken&, Real* out) const {
    *out = weight_[u];
  }

 private:
  std::vector<Real> weight_;
};

}  // namespace filbert
