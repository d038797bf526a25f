// The nodes of a label that a round looks at, with what it needs of their children: side by side,
// because the search reads them again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "factors/partial/partial_state.hpp"
#include "factors/partial/pruning.hpp"

namespace filbert {

template <class Real>
struct PartialBlock {
  using Place = typename ValueLists<Real>::Place;

  std::uint32_t round = 0;
  std::vector<NodeId> nodes;
  std::vector<std::size_t> child_begin;  // one more entry than there are nodes
  std::vector<Place> children;           // positions of the features of the nodes' children
  std::vector<Reach> reach;              // beside the children, with pruning
  std::vector<double> weights;           // beside the nodes, with pruning

  void start(std::uint32_t the_round) {
    round = the_round;
    nodes.clear();
    child_begin.assign(1, 0);
    children.clear();
    reach.clear();
    weights.clear();
  }
  void end_node(NodeId u) {
    nodes.push_back(u);
    child_begin.push_back(children.size());
  }

  std::size_t n_children(std::uint32_t node) const {
    return child_begin[node + 1] - child_begin[node];
  }
  bool is_new(const Place& place) const { return place.round == round - 1; }

  std::uint64_t bytes() const {
    return nodes.capacity() * (sizeof(NodeId) + 8) + children.capacity() * sizeof(Place) +
           reach.capacity() * sizeof(Reach) + weights.capacity() * sizeof(double);
  }
};

}  // namespace filbert
