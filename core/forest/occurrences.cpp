#include "forest/occurrences.hpp"

#include <algorithm>
#include <memory>

#include "base/errors.hpp"

namespace filbert {

namespace {

// The distinct nodes below one root, ascending. `stamp[u] == mark` means that u is in the list.
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

// Buffers for one thread.
struct Scratch {
  explicit Scratch(std::size_t n_nodes) : stamp(n_nodes, kNone), count(n_nodes, 0) {}
  std::vector<std::uint32_t> stamp;
  std::vector<std::uint64_t> count;
  std::vector<NodeId> nodes;
};

// Appends a row: the distinct nodes below a root, with their counts.
void add_tree(const Dag& dag, std::uint32_t tree, NodeId root,
              std::span<const std::uint32_t> class_of, Scratch& scratch, Occurrences& x) {
  std::vector<std::uint64_t>& count = scratch.count;
  collect(dag, root, tree, scratch.stamp, scratch.nodes);
  const std::vector<NodeId>& nodes = scratch.nodes;
  for (const NodeId u : nodes) count[u] = 0;
  count[root] = 1;
  for (std::size_t i = nodes.size(); i-- > 0;) {  // parents before children
    for (const NodeId c : dag.children(nodes[i])) count[c] += count[nodes[i]];
    if (count[nodes[i]] >= kNone) throw TooManyOccurrences(tree);
  }
  for (const NodeId u : nodes) {
    if (class_of[u] == kNone) continue;
    x.nodes.push_back(u);
    x.counts.push_back(static_cast<std::uint32_t>(count[u]));
  }
  x.row_begin.push_back(x.nodes.size());
}

}  // namespace

Occurrences count_occurrences(const Dag& dag, std::span<const NodeId> roots,
                              std::span<const std::uint32_t> class_of, int n_threads,
                              const Watch& watch) {
  constexpr std::size_t kChunk = 512;
  const std::size_t n_chunks = (roots.size() + kChunk - 1) / kChunk;
  std::vector<Occurrences> parts(n_chunks);
  double steps = 0.0;
  for (const NodeId root : roots) steps += 10.0 * static_cast<double>(dag.sizes()[root]);
  n_threads = threads_for(steps, n_threads);
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<std::size_t>(std::max(1, n_threads)));
  parallel_for(n_chunks, n_threads, watch,
               [&](std::size_t chunk, int worker, const StopToken& token) {
                 auto& own = scratch[static_cast<std::size_t>(worker)];
                 if (!own) own = std::make_unique<Scratch>(dag.size());
                 const std::size_t last = std::min((chunk + 1) * kChunk, roots.size());
                 for (std::size_t tree = chunk * kChunk; tree < last; ++tree) {
                   add_tree(dag, static_cast<std::uint32_t>(tree), roots[tree], class_of, *own,
                            parts[chunk]);
                   token.check();
                 }
               });
  Occurrences x;
  x.row_begin.reserve(roots.size() + 1);
  x.row_begin.push_back(0);
  for (Occurrences& part : parts) {
    const std::uint64_t before = x.nodes.size();
    for (const std::uint64_t end : part.row_begin) x.row_begin.push_back(before + end);
    x.nodes.insert(x.nodes.end(), part.nodes.begin(), part.nodes.end());
    x.counts.insert(x.counts.end(), part.counts.begin(), part.counts.end());
    part = {};
  }
  return x;
}

}  // namespace filbert
