#pragma once

#include <cstdint>
#include <span>

#include "forest/dag.hpp"
#include "kernels/spec.hpp"
#include "rows/partial_sides.hpp"

namespace filbert {

// The forest whose nodes get rows of Delta.
struct RowSide {
  const KernelSpec& spec;
  const Dag& dag;
  std::span<const std::uint32_t> class_of;
  const PartialSides* partial = nullptr;  // null for other kernels
};

}  // namespace filbert
