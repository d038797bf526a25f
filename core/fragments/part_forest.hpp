// A forest of fragments that are made of parts. Whole subtrees are added once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "forest/builder.hpp"
#include "fragments/closed_sets.hpp"

namespace filbert {

class PartForest {
 public:
  // The nodes of the parts are those of `source`.
  explicit PartForest(const Dag& source)
      : source_(source),
        sizes_(source.sizes()),
        label_here_(source.labels().size(), kNone),
        whole_here_(source.size(), kNone) {}

  void add(std::span<const FragmentPart> parts) {
    for (const FragmentPart& part : parts) {
      const bool is_whole = part.kind == FragmentPart::Kind::kWhole;
      open.resize(open.size() + (is_whole ? sizes_[part.node] : 1),
                  part.kind == FragmentPart::Kind::kOpen ? 1 : 0);
    }
    // From the last to the first: the children of a node are then the most recent complete nodes,
    // with the first child on top.
    complete_.clear();
    for (std::size_t i = parts.size(); i-- > 0;) {
      const NodeId u = parts[i].node;
      if (parts[i].kind == FragmentPart::Kind::kWhole) {
        complete_.push_back(whole(u));
      } else if (parts[i].kind == FragmentPart::Kind::kOpen) {
        complete_.push_back(builder_.leaf(label(u)));
      } else {
        const auto n = static_cast<std::ptrdiff_t>(source_.arity(u));
        children_.assign(complete_.rbegin(), complete_.rbegin() + n);
        complete_.resize(complete_.size() - children_.size());
        complete_.push_back(builder_.node(label(u), children_));
      }
    }
    roots.push_back(complete_.back());
  }

  std::shared_ptr<const Dag> finish() { return builder_.finish(); }

  std::vector<NodeId> roots;
  std::vector<std::uint8_t> open;  // of all nodes of all fragments, in preorder

 private:
  LabelId label(NodeId u) {
    LabelId& known = label_here_[source_.label(u)];
    if (known == kNone) known = builder_.label(source_.labels().text(source_.label(u)));
    return known;
  }

  NodeId whole(NodeId root) {
    if (whole_here_[root] != kNone) return whole_here_[root];
    waiting_.assign(1, root);
    while (!waiting_.empty()) {
      const NodeId u = waiting_.back();
      const std::size_t before = waiting_.size();
      for (const NodeId c : source_.children(u)) {
        if (whole_here_[c] == kNone) waiting_.push_back(c);
      }
      if (waiting_.size() > before) continue;
      waiting_.pop_back();
      if (whole_here_[u] != kNone) continue;
      below_.clear();
      for (const NodeId c : source_.children(u)) below_.push_back(whole_here_[c]);
      whole_here_[u] = builder_.node(label(u), below_);
    }
    return whole_here_[root];
  }

  const Dag& source_;
  const std::vector<std::uint64_t>& sizes_;
  DagBuilder builder_;
  std::vector<LabelId> label_here_;  // by label of the source
  std::vector<NodeId> whole_here_;   // by node of the source
  std::vector<NodeId> complete_, children_, waiting_, below_;
};

}  // namespace filbert
