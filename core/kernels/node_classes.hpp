// The classes of nodes: only nodes of one class can have a Delta other than zero. Depending on the
// kernel's Matching, a class is a production, a label, or one distinct subtree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The classes of two forests in one numbering. kNone: the node has Delta zero with every node of
// the other side. Both sides may be the same forest.
struct NodeClasses {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> own_columns;  // empty when both sides are the same forest
  std::uint32_t size = 0;

  const std::vector<std::uint32_t>& columns() const {
    return own_columns.empty() ? rows : own_columns;
  }
};

// One side may be much larger: the classes of the smaller are expressed in the larger one's
// numbers.
NodeClasses classify(const KernelSpec& spec, const Dag& rows, std::span<const NodeId> row_roots,
                     const Dag& columns, std::span<const NodeId> column_roots);

// The class of the first leaf label. Leaves that count have classes by label from here on, unless
// the classes of all nodes are labels.
std::uint32_t first_leaf_class(const TreeKernel& kernel, const Dag& dag);

// The classes of a forest's nodes in the numbers of another forest.
std::vector<std::uint32_t> classes_among(const KernelSpec& spec, const Dag& from,
                                         std::span<const NodeId> roots, const Dag& to);

}  // namespace filbert
