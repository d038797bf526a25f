// What the nodes of some trees contribute to their scores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

// The nodes of some trees, tree by tree and from the leaves up, and what one occurrence of each
// contributes to each column of scores.
struct NodeContributions {
  std::vector<std::uint32_t> trees;
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> counts;
  std::vector<double> values;  // by node and column
};

}  // namespace filbert
