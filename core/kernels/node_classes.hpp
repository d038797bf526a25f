// Which nodes can have a Delta other than zero: nodes of one class. By the kernel's Matching a
// class is a production, a label, or one distinct subtree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The classes of two forests in one numbering. kNone: the node has Delta zero with everything on
// the other side. Both sides may be the same forest.
struct NodeClasses {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> own_columns;  // empty when both sides are the same forest
  std::uint32_t size = 0;

  const std::vector<std::uint32_t>& columns() const {
    return own_columns.empty() ? rows : own_columns;
  }
};

// One side may be larger by far: the smaller is expressed in the larger one's numbers.
NodeClasses classify(const KernelSpec& spec, const Dag& rows, std::span<const NodeId> row_roots,
                     const Dag& columns, std::span<const NodeId> column_roots);

// Leaves that count are of the classes from here on, by label; not where all nodes are by label.
std::uint32_t first_leaf_class(const TreeKernel& kernel, const Dag& dag);

// The classes of a forest's nodes in another one's numbers.
std::vector<std::uint32_t> classes_among(const KernelSpec& spec, const Dag& from,
                                         std::span<const NodeId> roots, const Dag& to);

}  // namespace filbert
