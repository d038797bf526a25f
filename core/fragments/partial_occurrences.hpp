// All occurrences of a partial tree, as far as its growth depends on them.
//
// A fragment grows at the nodes of its rightmost path. Occurrences with the same path in the tree
// are one entry, with the sum of their weights: the root, and for each step down the position among
// the children. Entries are sorted by these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "fragments/judge.hpp"
#include "fragments/partial_bounds.hpp"

namespace filbert {

struct PartialOccurrences {
  std::size_t depth = 0;                 // steps of the rightmost path
  std::vector<NodeId> roots;             // by entry
  std::vector<std::uint32_t> positions;  // by entry and step
  std::vector<double> weights;           // by entry

  std::size_t size() const { return roots.size(); }
  std::span<const std::uint32_t> path(std::size_t entry) const {
    return {positions.data() + entry * depth, depth};
  }
  bool same_path(std::size_t a, std::size_t b, std::size_t n_steps) const {
    return roots[a] == roots[b] &&
           std::equal(path(a).begin(), path(a).begin() + n_steps, path(b).begin());
  }
};

inline NodeId node_at(const Dag& dag, NodeId root, std::span<const std::uint32_t> path) {
  for (const std::uint32_t position : path) root = dag.children(root)[position];
  return root;
}

// The relevance of the fragment, and its bound.
inline Worth worth_of(const PartialOccurrences& found, const Dag& dag, const PartialBounds& bounds,
                      Judge& judge) {
  judge.begin();
  for (std::size_t first = 0, last = 0; first < found.size(); first = last) {
    double value = 0.0, most = 0.0;
    for (; last < found.size() && found.roots[last] == found.roots[first]; ++last) {
      double bound = found.weights[last];
      NodeId v = found.roots[last];
      for (const std::uint32_t position : found.path(last)) {
        bound = PartialBounds::limited(bound * bounds.after(v, position));
        v = dag.children(v)[position];
      }
      value += found.weights[last];
      most = PartialBounds::limited(most + bound * bounds.alone(v));
    }
    judge.add(found.roots[first], value, most);
  }
  return judge.finish();
}

// The occurrences of a fragment with one more node, below the node at one depth of the rightmost
// path, by the label of the new node.
class PartialGrowth {
 public:
  explicit PartialGrowth(const Dag& dag) : dag_(dag), slot_(dag.labels().size(), kNone) {}

  struct Grown {
    LabelId label;
    PartialOccurrences found;
  };

  std::vector<Grown> grow(const PartialOccurrences& from, std::size_t depth,
                          const PartialCosts& costs, const StopToken& token) {
    std::vector<Grown> out;
    for (std::size_t first = 0, last = 0; first < from.size(); first = last) {
      token.check();
      while (last < from.size() && from.same_path(first, last, depth)) ++last;
      const NodeId v = node_at(dag_, from.roots[first], from.path(first).first(depth));
      if (dag_.is_leaf(v)) continue;
      if (depth == from.depth) {
        first_children(from, first, v, costs, out);
      } else {
        next_children(from, first, last, depth, v, costs, out);
      }
    }
    for (const Grown& grown : out) slot_[grown.label] = kNone;
    return out;
  }

 private:
  // The node has no children in the fragment yet, and there is one entry.
  void first_children(const PartialOccurrences& from, std::size_t entry, NodeId v,
                      const PartialCosts& costs, std::vector<Grown>& out) {
    const double weight =
        from.weights[entry] / costs.decay * costs.first * costs.node * costs.decay;
    for (std::uint32_t q = 0; q < dag_.arity(v); ++q)
      put(from, entry, from.depth, v, q, weight, out);
  }

  // The entries differ in the last child of the node.
  void next_children(const PartialOccurrences& from, std::size_t first, std::size_t last,
                     std::size_t depth, NodeId v, const PartialCosts& costs,
                     std::vector<Grown>& out) {
    double before = 0.0;  // decayed sum over the entries whose last child is before q
    std::size_t entry = first;
    for (std::uint32_t q = from.path(first)[depth]; q < dag_.arity(v); ++q) {
      if (before > 0.0) put(from, first, depth, v, q, before * costs.node * costs.decay, out);
      before *= costs.decay;
      for (; entry < last && from.path(entry)[depth] == q; ++entry) {
        before += from.weights[entry] * costs.next;
      }
    }
  }

  void put(const PartialOccurrences& from, std::size_t entry, std::size_t depth, NodeId v,
           std::uint32_t q, double weight, std::vector<Grown>& out) {
    const LabelId label = dag_.label(dag_.children(v)[q]);
    if (slot_[label] == kNone) {
      slot_[label] = static_cast<std::uint32_t>(out.size());
      out.push_back({label, {}});
      out.back().found.depth = depth + 1;
    }
    PartialOccurrences& to = out[slot_[label]].found;
    const std::span<const std::uint32_t> path = from.path(entry).first(depth);
    to.roots.push_back(from.roots[entry]);
    to.positions.insert(to.positions.end(), path.begin(), path.end());
    to.positions.push_back(q);
    to.weights.push_back(weight);
  }

  const Dag& dag_;
  std::vector<std::uint32_t> slot_;  // by label
};

}  // namespace filbert
