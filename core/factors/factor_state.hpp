// What the factorisations of all kernels share.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/wide.hpp"
#include "forest/dag.hpp"

namespace filbert {

// Fragments that only one node has are features too, where its parents need them; they are numbered
// apart, with this bit set.
inline constexpr std::uint32_t kPrivate = 0x80000000u;

// What subtraction leaves of a total by rounding alone.
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
