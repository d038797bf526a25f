// Rows of Delta: one node against all columns of its class in a tile.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "rows/column_tile.hpp"
#include "rows/partial_sides.hpp"

namespace filbert {

// The forest whose nodes get rows of Delta.
struct RowSide {
  const Dag& dag;
  std::span<const std::uint32_t> class_of;
  const PartialSides* partial = nullptr;  // null for kernels that need rows of all nodes
};

// A kernel's recursion, for one thread.
template <class Real>
class RowRecursion {
 public:
  virtual ~RowRecursion() = default;

  // out[i] = Delta(u, i-th column of u's class). row_of has the rows of u's children, by node. Rows
  // of children are computed before rows of their parents.
  virtual void compute(NodeId u, const ColumnTile& tile, const Real* const* row_of,
                       const StopToken& token, Real* out) = 0;

  // Delta of light nodes, which have no rows (see label_kinds.hpp).
  Real light_single{0.0}, light_pair{0.0};
};

}  // namespace filbert
