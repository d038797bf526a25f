// Trees as sequences of labels: either the labels of the leaves, which are the words of a parse
// tree, or the labels of all nodes, parents first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

// Several sequences, one after another.
struct LabelSequences {
  std::vector<LabelId> labels;
  std::vector<std::uint64_t> ends;
};

// Throws CapacityError if the trees have more than 2^32 nodes, counted with repetition.
LabelSequences label_sequences(const Dag& dag, std::span<const NodeId> roots, bool leaves_only);

}  // namespace filbert
