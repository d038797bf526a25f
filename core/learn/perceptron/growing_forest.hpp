// The trees of a model as a growing forest. Labels, classes and nodes are identified by their
// content, so trees of any other forest can be looked up in it and added to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/id_table.hpp"
#include "base/place_map.hpp"
#include "forest/builder.hpp"
#include "forest/local_tree.hpp"
#include "kernels/tree_kernel.hpp"
#include "scoring/tree_nodes.hpp"

namespace filbert {

// The labels of another forest in the numbers of the growing forest. Each label is looked up at its
// first occurrence, so the time depends on the trees that are read, and not on the number of labels
// of that forest.
class KnownLabels {
 public:
  // Call it before another forest, and after another caller has added to the growing forest.
  void forget() {
    places_.clear();
    labels_.clear();
  }

  // kNone if the growing forest has no such label.
  LabelId find(const Dag& dag, LabelId label, const LabelTable& in) {
    const std::uint32_t place = places_.insert(label);
    if (place == labels_.size()) labels_.push_back(in.find(dag.labels().text(label)));
    return labels_[place];
  }
  void set(LabelId label, LabelId known) { labels_[places_.find(label)] = known; }

 private:
  PlaceMap places_;
  std::vector<LabelId> labels_;
};

class GrowingForest {
 public:
  explicit GrowingForest(const KernelSpec& spec) : spec_(spec) {}

  const Dag& dag() const { return builder_.dag(); }

  // The classes of a tree's nodes, kNone if no node here has that class.
  void look_up(const Dag& dag, const LocalTree& tree, KnownLabels& labels,
               std::vector<std::uint32_t>& classes) const;

  // Fig. 3 of Aiolli et al. 2007: adds the tree's nodes. Returns their numbers and classes.
  void insert(const Dag& dag, const LocalTree& tree, KnownLabels& labels,
              std::vector<NodeId>& nodes, std::vector<std::uint32_t>& classes);

 private:
  std::uint32_t find_class(LabelId label, std::span<const LabelId> child_labels) const;
  std::uint32_t class_of(NodeId u);
  bool has_class(NodeId u, LabelId label, std::span<const LabelId> child_labels) const;

  const KernelSpec spec_;
  DagBuilder builder_;
  // By production: productions, and leaves if they count.
  IdTable classes_;
  std::vector<NodeId> example_;  // by class: a node that has it
};

}  // namespace filbert
