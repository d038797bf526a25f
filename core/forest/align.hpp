// Maps between forests that were built separately. Such forests number the same labels, productions
// and subtrees differently. A map goes from the ids of one forest to the ids of the other, with
// kNone for ids that the other forest does not have. The time is linear in the first forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/dag.hpp"

namespace filbert {

std::vector<LabelId> map_labels(const Dag& from, const Dag& to);
std::vector<std::uint32_t> map_productions(const Dag& from, const Dag& to);

// Maps only the listed nodes, which must be closed under children and ascending.
std::vector<NodeId> map_nodes(const Dag& from, const Dag& to, std::span<const NodeId> nodes);

// The nodes of another forest that are the same trees as these.
std::vector<NodeId> find_roots(const Dag& from, std::span<const NodeId> roots, const Dag& to);

// Returns a forest with the trees of both. The nodes of the larger forest keep their ids, and the
// nodes of the smaller forest are added to them. The roots of both are renumbered in place.
std::shared_ptr<const Dag> merge(const Dag& a, std::span<NodeId> roots_a, const Dag& b,
                                 std::span<NodeId> roots_b);

}  // namespace filbert
