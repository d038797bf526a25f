// Hash-consing: a node with a known label and known children gets the id that it already has. Keys
// are compared in full, so two different subtrees never share an id, even if their hashes are
// equal.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "forest/dag.hpp"

namespace filbert {

class DagBuilder {
 public:
  DagBuilder();

  // A builder that starts with all nodes of `dag`, under the same ids.
  explicit DagBuilder(const Dag& dag);

  std::size_t size() const { return dag_->size(); }
  // The nodes added so far.
  const Dag& dag() const { return *dag_; }
  LabelId label(std::string_view text) { return dag_->labels_.intern(text); }
  LabelId short_label(std::string_view text, std::uint64_t word) {
    return dag_->labels_.intern_short(text, word);
  }

  NodeId leaf(LabelId label) {
    if (label >= leaf_of_label_.size()) leaf_of_label_.resize(dag_->labels_.size(), kNone);
    NodeId& known = leaf_of_label_[label];
    if (known == kNone) known = node(label, {});
    return known;
  }

  NodeId node(LabelId label, std::span<const NodeId> children) {
    return dag_->index_.find_or_insert(
        hash_ids(label, children), [&](NodeId u) { return dag_->is(u, label, children); },
        [&] { return append(label, children); });
  }

  // Adds all nodes of another forest, in the order of their ids. Returns their ids in this builder.
  std::vector<NodeId> add(const Dag& other);

  // Reserves memory for the distinct nodes that a text of n_bytes bytes may have.
  void expect_text(std::size_t n_bytes);

  // Returns the finished forest. The builder is empty afterwards.
  std::shared_ptr<const Dag> finish();

 private:
  class NodesOfOther;

  NodeId append(LabelId label, std::span<const NodeId> children);

  std::shared_ptr<Dag> dag_;
  std::vector<NodeId> leaf_of_label_;  // most lookups are for words and need no hashing
};

// Returns a separate forest with only the nodes below `roots`. The roots are renumbered in place.
std::shared_ptr<const Dag> extract(const Dag& dag, std::span<NodeId> roots);
// The same, with nodes and labels in the order in which the trees have them. Equal trees then have
// equal numbers, however their forests were built.
std::shared_ptr<const Dag> extract_in_order(const Dag& dag, std::span<NodeId> roots);

// Makes a forest from plain arrays, as read from a file. Everything is checked and hash-consed
// again, so damaged arrays give InvalidForest and never a malformed Dag. The roots are renumbered
// in place.
struct ForestArrays {
  std::string_view label_bytes;
  std::span<const std::uint64_t> label_ends;
  std::span<const std::uint32_t> node_labels;
  std::span<const std::uint64_t> child_ends;
  std::span<const std::uint32_t> children;
};
std::shared_ptr<const Dag> from_arrays(const ForestArrays& arrays, std::span<NodeId> roots);

// The same arrays, of a forest.
struct DagArrays {
  std::vector<std::uint8_t> label_bytes;
  std::vector<std::uint64_t> label_ends;
  std::vector<std::uint32_t> node_labels;
  std::vector<std::uint64_t> child_ends;
  std::vector<std::uint32_t> children;
};
DagArrays to_arrays(const Dag& dag);

}  // namespace filbert
