// The contributions of the nodes of some trees to their scores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

// The nodes of some trees, tree by tree and from the leaves up, and the contribution of one
// occurrence of each node to each column of scores.
struct NodeContributions {
  std::vector<std::uint32_t> trees;
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> counts;
  std::vector<double> values;  // by node and column
};

}  // namespace filbert
