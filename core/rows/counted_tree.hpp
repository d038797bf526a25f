#pragma once

#include <cstdint>
#include <span>

#include "forest/dag.hpp"

namespace filbert {

// One tree: its distinct nodes (ascending) with their counts and classes.
struct CountedTree {
  const Dag& dag;
  std::span<const NodeId> nodes;
  std::span<const std::uint32_t> counts;
  std::span<const std::uint32_t> class_of;
};

}  // namespace filbert
