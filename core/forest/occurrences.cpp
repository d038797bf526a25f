#include "forest/occurrences.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace filbert {

namespace {

// The distinct nodes below one root, ascending. `stamp[u] == mark` says that u is in the list.
void collect(const Dag& dag, NodeId root, std::uint32_t mark, std::vector<std::uint32_t>& stamp,
             std::vector<NodeId>& nodes) {
  nodes.clear();
  nodes.push_back(root);
  stamp[root] = mark;
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    for (const NodeId c : dag.children(nodes[next])) {
      if (stamp[c] == mark) continue;
      stamp[c] = mark;
      nodes.push_back(c);
    }
  }
  std::sort(nodes.begin(), nodes.end());
}

}  // namespace

Occurrences count_occurrences(const Dag& dag, std::span<const NodeId> roots,
                              std::span<const std::uint32_t> class_of, const Watch& watch) {
  constexpr std::size_t kNodesToWatch = 200000;
  std::size_t since_watched = 0;
  Occurrences x;
  x.row_begin.reserve(roots.size() + 1);
  x.row_begin.push_back(0);
  std::vector<std::uint32_t> stamp(dag.size(), kNone);
  std::vector<std::uint64_t> count(dag.size(), 0);
  std::vector<NodeId> nodes;
  for (std::uint32_t tree = 0; tree < roots.size(); ++tree) {
    collect(dag, roots[tree], tree, stamp, nodes);
    for (const NodeId u : nodes) count[u] = 0;
    count[roots[tree]] = 1;
    for (std::size_t i = nodes.size(); i-- > 0;) {  // parents before children
      for (const NodeId c : dag.children(nodes[i])) count[c] += count[nodes[i]];
      if (count[nodes[i]] >= kNone) {
        throw TooManyOccurrences(tree);
      }
    }
    for (const NodeId u : nodes) {
      if (class_of[u] == kNone) continue;
      x.nodes.push_back(u);
      x.counts.push_back(static_cast<std::uint32_t>(count[u]));
    }
    x.row_begin.push_back(x.nodes.size());
    since_watched += nodes.size();
    if (watch && since_watched > kNodesToWatch) {
      watch(0, 1);
      since_watched = 0;
    }
  }
  return x;
}

}  // namespace filbert
