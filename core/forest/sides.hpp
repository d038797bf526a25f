// The nodes of two groups of trees in one forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

// By node: 1 if one of the first trees has it, plus 2 if one of the others has it.
inline std::vector<std::uint8_t> sides_of(const Dag& dag, std::span<const NodeId> roots,
                                          std::size_t n_first) {
  std::vector<std::uint8_t> sides(dag.size(), 0);
  for (std::size_t i = 0; i < roots.size(); ++i) sides[roots[i]] |= i < n_first ? 1 : 2;
  for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
    for (const NodeId child : dag.children(static_cast<NodeId>(u))) sides[child] |= sides[u];
  }
  return sides;
}

}  // namespace filbert
