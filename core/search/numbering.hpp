// The order of labels and nodes in a segment (segment.hpp), which depends on their content alone.
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/distinct_trees.hpp"
#include "search/segment.hpp"

namespace filbert {

// Writes the labels and the nodes below `roots` to a segment. Returns the number of each node of
// the forest in the segment, or kNone.
std::vector<NodeId> number_nodes(const Dag& dag, std::span<const NodeId> roots, int n_threads,
                                 const Watch& watch, SegmentArrays& out);

// Writes the roots and positions of distinct trees, whose nodes have these numbers.
void list_trees(const DistinctTrees& trees, std::span<const NodeId> numbers, SegmentArrays& out);

}  // namespace filbert
