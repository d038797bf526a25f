#include "search/numbering.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/parallel_sort.hpp"

namespace filbert {

namespace {

class Numbering {
 public:
  Numbering(const Dag& dag, std::span<const NodeId> roots, int n_threads, const Watch& watch,
            SegmentArrays& out)
      : dag_(dag), nodes_(reachable(dag, roots)), n_threads_(n_threads), watch_(watch), out_(out) {}

  std::vector<NodeId> run() {
    number_labels();
    const std::vector<NodeId> by_height = sort_nodes();
    write(by_height);
    return std::move(id_);
  }

 private:
  // The first bytes of labels decide most comparisons, without reading the labels.
  struct LabelKey {
    std::uint64_t start;
    LabelId label;
  };
  static std::uint64_t start_of(std::string_view text) {
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      start = start << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
    }
    return start;
  }

  void number_labels() {
    const LabelTable& labels = dag_.labels();
    rank_.assign(labels.size(), kNone);
    std::vector<LabelKey> used;
    for (const NodeId u : nodes_) {
      const LabelId label = dag_.label(u);
      if (std::exchange(rank_[label], 0) != kNone) continue;
      used.push_back({start_of(labels.text(label)), label});
    }
    const auto less = [&](const LabelKey& a, const LabelKey& b) {
      return a.start != b.start ? a.start < b.start : labels.text(a.label) < labels.text(b.label);
    };
    parallel_sort(used, less, n_threads_, watch_);
    for (const LabelKey& key : used) {
      rank_[key.label] = static_cast<LabelId>(out_.label_ends.size());
      const std::string_view text = labels.text(key.label);
      out_.label_bytes.insert(out_.label_bytes.end(), text.begin(), text.end());
      out_.label_ends.push_back(out_.label_bytes.size());
    }
  }

  // Returns the nodes in their new order, height by height.
  std::vector<NodeId> sort_nodes() {
    const std::vector<std::uint32_t>& depths = dag_.depths();
    id_.assign(dag_.size(), kNone);
    std::vector<std::uint64_t> ends;
    for (const NodeId u : nodes_) {
      if (ends.size() < depths[u]) ends.resize(depths[u], 0);
      ++ends[depths[u] - 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<NodeId> by_height(nodes_.size());
    std::vector<std::uint64_t> next(ends);
    for (auto u = nodes_.rbegin(); u != nodes_.rend(); ++u) by_height[--next[depths[*u] - 1]] = *u;
    std::uint64_t first = 0;
    for (const std::uint64_t last : ends) {
      sort_level({by_height.data() + first, last - first}, static_cast<NodeId>(first));
      first = last;
    }
    out_.height_ends = std::move(ends);
    return by_height;
  }

  struct NodeKey {
    std::uint64_t label_and_arity;
    std::uint64_t children;  // the first two
    NodeId node;
  };

  // Children are on lower levels and have their numbers already.
  void sort_level(std::span<NodeId> level, NodeId first_id) {
    std::vector<NodeKey> keys(level.size());
    parallel_ranges(level.size(), n_threads_, watch_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) keys[i] = key_of(level[i]);
    });
    const auto less = [&](const NodeKey& a, const NodeKey& b) {
      if (a.label_and_arity != b.label_and_arity) return a.label_and_arity < b.label_and_arity;
      if (a.children != b.children) return a.children < b.children;
      const auto x = dag_.children(a.node);
      const auto y = dag_.children(b.node);
      for (std::size_t i = 2; i < x.size(); ++i) {
        if (id_[x[i]] != id_[y[i]]) return id_[x[i]] < id_[y[i]];
      }
      return false;
    };
    parallel_sort(keys, less, n_threads_, watch_);
    parallel_ranges(level.size(), n_threads_, watch_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        level[i] = keys[i].node;
        id_[keys[i].node] = first_id + static_cast<NodeId>(i);
      }
    });
  }

  NodeKey key_of(NodeId u) const {
    const auto children = dag_.children(u);
    const std::uint64_t first = children.empty() ? 0 : id_[children[0]];
    const std::uint64_t second = children.size() < 2 ? 0 : id_[children[1]];
    return {std::uint64_t{rank_[dag_.label(u)]} << 32 | children.size(), first << 32 | second, u};
  }

  void write(const std::vector<NodeId>& order) {
    const std::size_t n = order.size();
    out_.node_labels.resize(n);
    out_.child_ends.resize(n);
    std::uint64_t n_children = 0;
    for (std::size_t i = 0; i < n; ++i) {
      n_children += dag_.children(order[i]).size();
      out_.child_ends[i] = n_children;
    }
    out_.children.resize(n_children);
    parallel_ranges(n, n_threads_, watch_, [&](std::size_t first, std::size_t last) {
      std::uint64_t place = first == 0 ? 0 : out_.child_ends[first - 1];
      for (std::size_t i = first; i < last; ++i) {
        out_.node_labels[i] = rank_[dag_.label(order[i])];
        for (const NodeId child : dag_.children(order[i])) out_.children[place++] = id_[child];
      }
    });
  }

  const Dag& dag_;
  const std::vector<NodeId> nodes_;
  const int n_threads_;
  const Watch& watch_;
  SegmentArrays& out_;
  std::vector<LabelId> rank_;  // by label of the forest
  std::vector<NodeId> id_;     // by node of the forest
};

}  // namespace

std::vector<NodeId> number_nodes(const Dag& dag, std::span<const NodeId> roots, int n_threads,
                                 const Watch& watch, SegmentArrays& out) {
  return Numbering(dag, roots, n_threads, watch, out).run();
}

void list_trees(const DistinctTrees& trees, std::span<const NodeId> numbers, SegmentArrays& out) {
  for (const NodeId root : trees.roots) out.roots.push_back(numbers[root]);
  std::vector<std::uint64_t> ends(trees.roots.size(), 0);
  for (const std::uint32_t tree : trees.tree_of) ++ends[tree];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  out.positions.resize(trees.tree_of.size());
  std::vector<std::uint64_t> next(ends);
  for (std::size_t i = trees.tree_of.size(); i-- > 0;) {
    out.positions[--next[trees.tree_of[i]]] = static_cast<std::uint32_t>(i);
  }
  out.position_ends = std::move(ends);
}

}  // namespace filbert
