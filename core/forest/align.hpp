// Two forests that were built apart number the same labels, productions and subtrees differently.
// These maps go from the ids of one to the ids of the other (kNone where the other has none), in
// time linear in the first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

std::vector<LabelId> map_labels(const Dag& from, const Dag& to);
std::vector<std::uint32_t> map_productions(const Dag& from, const Dag& to);

// Only the listed nodes are mapped; they must be closed under children and ascending.
std::vector<NodeId> map_nodes(const Dag& from, const Dag& to, std::span<const NodeId> nodes);

// The nodes of another forest that are the same trees as these.
std::vector<NodeId> find_roots(const Dag& from, std::span<const NodeId> roots, const Dag& to);

// The trees of both: the larger forest's nodes keep their ids, the smaller one's are added to them.
// The roots of both are renumbered in place.
std::shared_ptr<const Dag> merge(const Dag& a, std::span<NodeId> roots_a, const Dag& b,
                                 std::span<NodeId> roots_b);

}  // namespace filbert
