// Trees as sequences of labels: those of the leaves, which of a parse are the words, or those of
// all nodes, parents first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

// Several sequences, one behind another.
struct LabelSequences {
  std::vector<LabelId> labels;
  std::vector<std::uint64_t> ends;
};

// Throws CapacityError where the trees have more than 2^32 nodes, counted with repetition.
LabelSequences label_sequences(const Dag& dag, std::span<const NodeId> roots, bool leaves_only);

}  // namespace filbert
