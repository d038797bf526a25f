// Fragments that occur in several places of some trees, without a model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"

namespace filbert {

struct RecurringRules {
  bool whole_subtrees;  // only complete subtrees, otherwise subset trees
  bool leaves;          // also leaves, as fragments of one node
  std::uint64_t min_count, max_count;
  std::uint64_t min_size, max_size;  // nodes
  std::size_t max_fragments;
  std::optional<std::string> root;  // the label that the root of a fragment has
};

struct RecurringFragments {
  std::shared_ptr<const Dag> dag;  // fragments as trees; nodes that are not grown are leaves
  std::vector<NodeId> roots;
  std::vector<std::uint8_t> open;  // of all nodes of all fragments, in preorder
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t>
      n_distinct;  // members: distinct subtrees with the fragment at the root
};

// The closed fragments of some trees, production by production. A fragment is closed if no larger
// one is rooted at exactly the same nodes of the trees.
class RecurringMiner {
 public:
  // Throws CapacityError if a subtree occurs more than 2^53 times.
  RecurringMiner(std::shared_ptr<const Dag> dag, std::span<const NodeId> roots,
                 const RecurringRules& rules);

  // Blocks are numbered: the productions that occur often enough, in the order in which the forest
  // has them, then all leaves.
  std::size_t n_blocks() const { return block_begin_.size() - 1; }
  // By block: the number of distinct nodes.
  std::vector<std::uint64_t> block_sizes() const;

  // The fragments of some blocks, in the order of the blocks. Within a block they are ordered by
  // the search, so that a fragment comes before those that grow from it. Throws TooManyFragments.
  RecurringFragments mine(std::span<const std::uint32_t> blocks, int n_threads,
                          const Watch& watch) const;

 private:
  std::span<const NodeId> nodes_of(std::size_t block) const {
    return {nodes_.data() + block_begin_[block], block_begin_[block + 1] - block_begin_[block]};
  }

  std::shared_ptr<const Dag> dag_;
  RecurringRules rules_;
  std::vector<double> totals_;              // by node
  std::vector<std::uint64_t> block_begin_;  // one more entry than there are blocks
  std::vector<NodeId> nodes_;
};

}  // namespace filbert
