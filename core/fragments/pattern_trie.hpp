// The index of expansions: one trie for all fragments, and for the parts of fragments below each
// node. They are stored as sequences of their patterns at the children.
//
// A pattern is a node of the fragments' forest with its whole subtree. The patterns of a node of a
// tree follow from the patterns of its children: a walk through the trie, from the root for the
// node's production or label, by one pattern of each child. Only entries of the index are ever
// visited, so the time depends on the matches and not on the number of fragments.
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

  // The place that a step by `symbol` leads to, kNone if no pattern continues like this.
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
