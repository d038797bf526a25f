// The index of expansions: fragments, and the parts of fragments below each node, as sequences of
// what they have at the children, one trie for all.
//
// A pattern is a node of the fragments' forest with all that is below it. What patterns a node of a
// tree has follows from those that its children have: a walk through the trie, from the root for
// the node's production or label, by one pattern of each child. Only what is in the index is ever
// looked at, so the time goes with what is found, not with the number of fragments.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"

namespace filbert {

class PatternTrie {
 public:
  explicit PatternTrie(std::size_t n_roots) : nodes_(n_roots) {}

  std::size_t size() const { return nodes_.size(); }

  // The place that a step by `symbol` leads to, kNone where no pattern goes on so.
  std::uint32_t step(std::uint32_t place, std::uint32_t symbol) const {
    return steps_.find(hash_ids(place, {&symbol, 1}),
                       [&](std::uint32_t to) { return nodes_[to].is(place, symbol); });
  }

  std::uint32_t add_step(std::uint32_t place, std::uint32_t symbol) {
    const std::uint32_t to = steps_.find_or_insert(
        hash_ids(place, {&symbol, 1}),
        [&](std::uint32_t known) { return nodes_[known].is(place, symbol); },
        [&] {
          nodes_.push_back({place, symbol, kNone, false});
          return static_cast<std::uint32_t>(nodes_.size() - 1);
        });
    nodes_[place].goes_on = true;
    return to;
  }

  void set_pattern(std::uint32_t place, NodeId pattern) { nodes_[place].pattern = pattern; }
  // The pattern that is complete here, or kNone.
  NodeId pattern(std::uint32_t place) const { return nodes_[place].pattern; }
  bool goes_on(std::uint32_t place) const { return nodes_[place].goes_on; }

 private:
  struct Node {
    std::uint32_t from = kNone;
    std::uint32_t symbol = kNone;
    NodeId pattern = kNone;
    bool goes_on = false;

    bool is(std::uint32_t place, std::uint32_t by) const { return from == place && symbol == by; }
  };

  std::vector<Node> nodes_;
  IdTable steps_;
};

}  // namespace filbert
