// Common definitions of the factorisations of all kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/wide.hpp"
#include "forest/dag.hpp"

namespace filbert {

// Fragments that only one node has are also features, if its parents need them. They have a
// separate numbering, with this bit set.
inline constexpr std::uint32_t kPrivate = 0x80000000u;

// Whether a part of a total is so small that it may be a rounding error of subtraction.
inline bool negligible(double part, double total) {
  return std::fabs(part) <= 1e-13 * std::fabs(total);
}
inline bool negligible(const Wide& part, const Wide& total) {
  if (part.is_zero()) return true;
  if (total.is_zero()) return false;
  return std::fabs(ratio(part, total, Wide(1.0))) <= 1e-13;
}

// Nodes of one class that may still have fragments to find.
struct Block {
  std::vector<NodeId> open;
};

}  // namespace filbert
