// The columns of trees, with repetition: those of a node, then those below its children. The list
// of a subtree is the same wherever it occurs, so it is copied from where it was written before.
// Most trees of a corpus have most of their subtrees from earlier trees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "forest/dag.hpp"

namespace filbert {

// By node: the number of columns of the whole subtree, at most kNone; own(u) are a node's columns.
template <class Own>
std::vector<std::uint32_t> repeated_lengths(const Dag& dag, const Own& own) {
  std::vector<std::uint32_t> lengths(dag.size());
  for (NodeId u = 0; u < dag.size(); ++u) {
    std::uint64_t sum = own(u).size();
    for (const NodeId c : dag.children(u)) sum = std::min<std::uint64_t>(kNone, sum + lengths[c]);
    lengths[u] = static_cast<std::uint32_t>(std::min<std::uint64_t>(kNone, sum));
  }
  return lengths;
}

// For one thread. All lists are written into one array.
class RepeatedRows {
 public:
  RepeatedRows(const Dag& dag, std::span<const std::uint32_t> lengths, std::uint32_t* columns)
      : dag_(dag), lengths_(lengths), columns_(columns), written_(dag.size(), kNowhere) {}

  // Writes the list of a tree at a position of the array.
  template <class Own>
  void write(NodeId root, std::uint64_t at, const Own& own) {
    waiting_.assign(1, root);
    while (!waiting_.empty()) {
      const NodeId u = waiting_.back();
      waiting_.pop_back();
      if (lengths_[u] == 0) continue;
      if (written_[u] != kNowhere) {
        std::copy_n(columns_ + written_[u], lengths_[u], columns_ + at);
        written_[u] = at;  // more likely to be in the cache
        at += lengths_[u];
        continue;
      }
      written_[u] = at;
      const std::span<const std::uint32_t> columns = own(u);
      std::copy(columns.begin(), columns.end(), columns_ + at);
      at += columns.size();
      const std::span<const NodeId> children = dag_.children(u);
      waiting_.insert(waiting_.end(), children.rbegin(), children.rend());
    }
  }

 private:
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  const Dag& dag_;
  std::span<const std::uint32_t> lengths_;
  std::uint32_t* columns_;
  std::vector<std::uint64_t> written_;  // by node: a position of its list
  std::vector<NodeId> waiting_;
};

}  // namespace filbert
