#include "forest/dag.hpp"

#include <algorithm>
#include <limits>

#include "base/hash.hpp"
#include "forest/productions.hpp"

namespace filbert {

Dag::Dag() : nodes_{{kNone, 0}} {}
Dag::~Dag() = default;

NodeId Dag::find(LabelId label, std::span<const NodeId> wanted) const {
  return index_.find(hash_ids(label, wanted), [&](NodeId u) { return is(u, label, wanted); });
}

const Productions& Dag::productions() const {
  std::call_once(productions_once_, [&] {
    productions_ = std::make_unique<Productions>(*this);
    derived_bytes_ += productions_->memory();
  });
  return *productions_;
}

const std::vector<std::uint64_t>& Dag::sizes() const {
  std::call_once(sizes_once_, [&] {
    // A DAG of a few hundred nodes can represent a tree of more than 2^64 nodes. The count then
    // stays at the maximum instead of wrapping around.
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    sizes_.resize(size());
    for (NodeId u = 0; u < size(); ++u) {
      std::uint64_t total = 1;
      for (const NodeId c : children(u)) {
        total = sizes_[c] > most - total ? most : total + sizes_[c];
      }
      sizes_[u] = total;
    }
    derived_bytes_ += sizes_.capacity() * sizeof(std::uint64_t);
  });
  return sizes_;
}

const std::vector<std::uint32_t>& Dag::depths() const {
  std::call_once(depths_once_, [&] {
    depths_.resize(size());
    for (NodeId u = 0; u < size(); ++u) {
      std::uint32_t deepest = 0;
      for (const NodeId c : children(u)) deepest = std::max(deepest, depths_[c]);
      depths_[u] = deepest + 1;
    }
    derived_bytes_ += depths_.capacity() * sizeof(std::uint32_t);
  });
  return depths_;
}

std::size_t Dag::memory() const {
  return labels_.memory() + nodes_.capacity() * sizeof(Node) +
         children_.capacity() * sizeof(NodeId) + index_.bytes() + derived_bytes_;
}

std::vector<NodeId> reachable(const Dag& dag, std::span<const NodeId> roots) {
  // Parents have larger ids than their children, so one pass over descending ids marks every
  // reachable node.
  std::vector<bool> seen(dag.size(), false);
  NodeId top = 0;
  for (const NodeId root : roots) {
    seen[root] = true;
    top = std::max(top, root);
  }
  std::size_t count = 0;
  if (!roots.empty()) {
    for (NodeId u = top + 1; u-- > 0;) {
      if (!seen[u]) continue;
      ++count;
      for (const NodeId c : dag.children(u)) seen[c] = true;
    }
  }
  std::vector<NodeId> nodes;
  nodes.reserve(count);
  for (NodeId u = 0; nodes.size() < count; ++u) {
    if (seen[u]) nodes.push_back(u);
  }
  return nodes;
}

}  // namespace filbert
