#include "forest/builder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "forest/tree_order.hpp"

namespace filbert {

DagBuilder::DagBuilder() : dag_(std::make_shared<Dag>()) {}

DagBuilder::DagBuilder(const Dag& dag) : DagBuilder() {
  dag_->labels_ = dag.labels_;
  dag_->nodes_ = dag.nodes_;
  dag_->children_ = dag.children_;
  dag_->index_ = dag.index_;
  leaf_of_label_.assign(dag.labels().size(), kNone);
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) leaf_of_label_[dag.label(u)] = u;
  }
}

NodeId DagBuilder::append(LabelId label, std::span<const NodeId> children) {
  Dag& dag = *dag_;
  if (dag.size() >= kNone - 1 || dag.children_.size() + children.size() >= kNone) {
    throw CapacityError(
        "a forest can hold at most 2^32 - 2 distinct subtrees and as many edges between them: "
        "split the corpus");
  }
  const auto id = static_cast<NodeId>(dag.size());
  dag.children_.insert(dag.children_.end(), children.begin(), children.end());
  dag.nodes_.back().label = label;
  dag.nodes_.push_back({kNone, static_cast<std::uint32_t>(dag.children_.size())});
  return id;
}

// The index is large and in no order, so a search in it waits for the memory. Two things save most
// of the waiting: a node with a new child is new and needs no search, and the other searches begin
// some nodes ahead. Two nodes of a forest are never equal, so new nodes may be indexed at the end.
class DagBuilder::NodesOfOther {
 public:
  NodesOfOther(DagBuilder& builder, const Dag& other, std::vector<LabelId> new_label)
      : builder_(builder),
        other_(other),
        new_label_(std::move(new_label)),
        n_known_(static_cast<NodeId>(builder.size())) {}

  std::vector<NodeId> add() {
    renumbered_.resize(other_.size());
    for (NodeId u = 0; u < other_.size(); ++u) {
      if (u + kAhead < other_.size()) look_ahead(u + kAhead, u);
      renumbered_[u] = add_node(u);
    }
    index_new_nodes();
    return std::move(renumbered_);
  }

 private:
  static constexpr NodeId kAhead = 12;

  void renumber_children(NodeId u) {
    children_.clear();
    for (const NodeId c : other_.children(u)) children_.push_back(renumbered_[c]);
  }

  // Fetches the memory for the search of a node whose children are all below `end`.
  void look_ahead(NodeId u, NodeId end) {
    const std::span<const NodeId> children = other_.children(u);
    if (children.empty() || *std::max_element(children.begin(), children.end()) >= end) return;
    renumber_children(u);
    builder_.dag_->index_.prefetch(hash_ids(new_label_[other_.label(u)], children_));
  }

  NodeId add_node(NodeId u) {
    const LabelId label = new_label_[other_.label(u)];
    renumber_children(u);
    if (children_.empty()) return builder_.leaf(label);
    const std::uint64_t hash = hash_ids(label, children_);
    const Dag& dag = *builder_.dag_;
    const bool is_new =
        std::any_of(children_.begin(), children_.end(), [&](NodeId c) { return c >= n_known_; });
    if (!is_new) {
      const NodeId known =
          dag.index_.find(hash, [&](NodeId v) { return dag.is(v, label, children_); });
      if (known != kNone) return known;
    }
    const NodeId id = builder_.append(label, children_);
    new_nodes_.push_back({hash, id});
    return id;
  }

  void index_new_nodes() {
    IdTable& index = builder_.dag_->index_;
    for (std::size_t i = 0; i < new_nodes_.size(); ++i) {
      if (i + kAhead < new_nodes_.size()) index.prefetch(new_nodes_[i + kAhead].hash);
      index.insert(new_nodes_[i].hash, new_nodes_[i].id);
    }
  }

  struct NewNode {
    std::uint64_t hash;
    NodeId id;
  };

  DagBuilder& builder_;
  const Dag& other_;
  std::vector<LabelId> new_label_;
  NodeId n_known_;  // nodes from here on are new
  std::vector<NodeId> renumbered_;
  std::vector<NodeId> children_;
  std::vector<NewNode> new_nodes_;
};

std::vector<NodeId> DagBuilder::add(const Dag& other) {
  std::vector<LabelId> new_label(other.labels().size());
  for (LabelId label = 0; label < new_label.size(); ++label) {
    new_label[label] = this->label(other.labels().text(label));
  }
  return NodesOfOther(*this, other, std::move(new_label)).add();
}

void DagBuilder::expect_text(std::size_t n_bytes) {
  const std::size_t n_nodes = n_bytes / 32;  // the usual ratio in treebanks
  dag_->nodes_.reserve(n_nodes);
  dag_->children_.reserve(2 * n_nodes);
  dag_->index_.reserve(n_nodes);
}

std::shared_ptr<const Dag> DagBuilder::finish() {
  dag_->labels_.shrink_to_fit();
  dag_->nodes_.shrink_to_fit();
  dag_->children_.shrink_to_fit();
  std::shared_ptr<const Dag> done = std::move(dag_);
  dag_ = std::make_shared<Dag>();
  leaf_of_label_.clear();
  return done;
}

namespace {

std::shared_ptr<const Dag> extract(const Dag& dag, std::span<NodeId> roots,
                                   const TreeOrder& order) {
  DagBuilder builder;
  std::vector<NodeId> renumbered(dag.size(), kNone);
  std::vector<LabelId> new_label(dag.labels().size(), kNone);
  std::vector<NodeId> children;
  for (const LabelId label : order.labels) {
    new_label[label] = builder.label(dag.labels().text(label));
  }
  for (const NodeId u : order.nodes) {
    LabelId& label = new_label[dag.label(u)];
    if (label == kNone) label = builder.label(dag.labels().text(dag.label(u)));
    children.clear();
    for (const NodeId c : dag.children(u)) children.push_back(renumbered[c]);
    renumbered[u] = builder.node(label, children);
  }
  for (NodeId& root : roots) root = renumbered[root];
  return builder.finish();
}

}  // namespace

std::shared_ptr<const Dag> extract(const Dag& dag, std::span<NodeId> roots) {
  return extract(dag, roots, {reachable(dag, roots), {}});
}

std::shared_ptr<const Dag> extract_in_order(const Dag& dag, std::span<NodeId> roots) {
  return extract(dag, roots, tree_order(dag, roots));
}

std::shared_ptr<const Dag> from_arrays(const ForestArrays& arrays, std::span<NodeId> roots) {
  DagBuilder builder;
  std::vector<LabelId> labels;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : arrays.label_ends) {
    if (end < begin || end > arrays.label_bytes.size()) {
      throw InvalidForest("label ends are not ascending within the label bytes");
    }
    try {
      labels.push_back(builder.label(arrays.label_bytes.substr(begin, end - begin)));
    } catch (const InvalidLabel& invalid) {
      throw InvalidForest(invalid.reason);
    }
    begin = end;
  }
  if (begin != arrays.label_bytes.size())
    throw InvalidForest("there are label bytes after the last label");
  if (arrays.node_labels.size() != arrays.child_ends.size()) {
    throw InvalidForest("node labels and child ends differ in length");
  }
  std::vector<NodeId> renumbered;
  std::vector<NodeId> children;
  begin = 0;
  for (std::size_t u = 0; u < arrays.node_labels.size(); ++u) {
    const std::uint64_t end = arrays.child_ends[u];
    if (end < begin || end > arrays.children.size()) {
      throw InvalidForest("child ends are not ascending within the children");
    }
    if (arrays.node_labels[u] >= labels.size())
      throw InvalidForest("a node's label does not exist");
    children.clear();
    for (std::uint64_t i = begin; i < end; ++i) {
      if (arrays.children[i] >= u) throw InvalidForest("a child does not come before its parent");
      children.push_back(renumbered[arrays.children[i]]);
    }
    renumbered.push_back(builder.node(labels[arrays.node_labels[u]], children));
    begin = end;
  }
  if (begin != arrays.children.size())
    throw InvalidForest("there are children after those of the last node");
  for (NodeId& root : roots) {
    if (root >= renumbered.size()) throw InvalidForest("a tree's root does not exist");
    root = renumbered[root];
  }
  return builder.finish();
}

DagArrays to_arrays(const Dag& dag) {
  DagArrays arrays;
  for (NodeId u = 0; u < dag.size(); ++u) {
    arrays.node_labels.push_back(dag.label(u));
    const auto own = dag.children(u);
    arrays.children.insert(arrays.children.end(), own.begin(), own.end());
    arrays.child_ends.push_back(arrays.children.size());
  }
  for (LabelId label = 0; label < dag.labels().size(); ++label) {
    const std::string_view text = dag.labels().text(label);
    arrays.label_bytes.insert(arrays.label_bytes.end(), text.begin(), text.end());
    arrays.label_ends.push_back(arrays.label_bytes.size());
  }
  return arrays;
}

}  // namespace filbert
