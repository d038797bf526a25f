// A forest of fragments that are added one by one.
#pragma once

#include <memory>
#include <vector>

#include "forest/builder.hpp"
#include "fragments/flat_fragment.hpp"

namespace filbert {

class FlatForest {
 public:
  // The labels of the fragments are those of `source`.
  explicit FlatForest(const Dag& source)
      : source_(source), label_here_(source.labels().size(), kNone) {}

  void add(const FlatFragment& fragment) {
    for (const LabelId label : fragment.labels) {
      if (label_here_[label] == kNone) {
        label_here_[label] = builder_.label(source_.labels().text(label));
      }
    }
    roots.push_back(insert(fragment));
    open.insert(open.end(), fragment.open.begin(), fragment.open.end());
  }

  std::shared_ptr<const Dag> finish() { return builder_.finish(); }

  std::vector<NodeId> roots;
  std::vector<std::uint8_t> open;  // of all nodes of all fragments, in preorder

 private:
  // Inserts nodes from the last to the first: the children of a node are then the most recent
  // complete nodes, with the first child on top.
  NodeId insert(const FlatFragment& fragment) {
    complete_.clear();
    for (std::size_t i = fragment.labels.size(); i-- > 0;) {
      children_.assign(complete_.rbegin(), complete_.rbegin() + fragment.arity[i]);
      complete_.resize(complete_.size() - fragment.arity[i]);
      complete_.push_back(builder_.node(label_here_[fragment.labels[i]], children_));
    }
    return complete_.back();
  }

  const Dag& source_;
  DagBuilder builder_;
  std::vector<LabelId> label_here_;  // by label of the source
  std::vector<NodeId> complete_, children_;
};

}  // namespace filbert
