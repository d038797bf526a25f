#include <cmath>

#include "forest/align.hpp"
#include "forest/productions.hpp"
#include "fragments/node_matches.hpp"
#include "fragments/pattern_trie.hpp"
#include "fragments/subtrees.hpp"

namespace filbert {

namespace {

// A symbol of the trie is the pattern below a child, or kNone if the fragment ends there.
PatternTrie subset_trie(FragmentForest fragments) {
  const Dag& dag = fragments.dag;
  PatternTrie trie(dag.productions().size());
  for (const NodeId pattern : reachable(dag, fragments.roots)) {
    if (dag.is_leaf(pattern)) continue;
    std::uint32_t place = dag.productions().of(pattern);
    for (const NodeId child : dag.children(pattern)) {
      place = trie.add_step(place, dag.is_leaf(child) ? kNone : child);
    }
    trie.set_pattern(place, pattern);
  }
  return trie;
}

// Finds the patterns of each node from the patterns of its children.
class SubsetMatcher {
 public:
  SubsetMatcher(FragmentForest fragments, const Dag& dag)
      : dag_(dag),
        trie_(subset_trie(fragments)),
        production_of_(map_productions(dag, fragments.dag)),
        begin_(dag.size(), 0),
        end_(dag.size(), 0) {}

  // Nodes come in ascending order.
  std::span<const NodeId> match(NodeId u) {
    begin_[u] = patterns_.size();
    const std::uint32_t production = dag_.productions().of(u);
    if (production != kNone && production_of_[production] != kNone) {
      places_.assign(1, production_of_[production]);
      for (const NodeId child : dag_.children(u)) step(child);
      for (const std::uint32_t place : places_) patterns_.push_back(trie_.pattern(place));
    }
    end_[u] = patterns_.size();
    return {patterns_.data() + begin_[u], end_[u] - begin_[u]};
  }

 private:
  void step(NodeId child) {
    next_.clear();
    const auto go = [&](std::uint32_t place, std::uint32_t symbol) {
      const std::uint32_t to = trie_.step(place, symbol);
      if (to != kNone) next_.push_back(to);
    };
    for (const std::uint32_t place : places_) {
      go(place, kNone);
      for (std::uint64_t i = begin_[child]; i < end_[child]; ++i) go(place, patterns_[i]);
    }
    places_.swap(next_);
  }

  const Dag& dag_;
  const PatternTrie trie_;
  const std::vector<std::uint32_t> production_of_;  // of the fragments, by that of the trees
  std::vector<std::uint64_t> begin_, end_;          // by node
  std::vector<NodeId> patterns_;
  std::vector<std::uint32_t> places_, next_;
};

// By label of the trees: the fragment that is a leaf with this label.
std::vector<NodeId> leaf_patterns(FragmentForest fragments, const Dag& dag) {
  const std::vector<LabelId> label_of = map_labels(dag, fragments.dag);
  std::vector<NodeId> patterns(label_of.size(), kNone);
  for (LabelId label = 0; label < label_of.size(); ++label) {
    if (label_of[label] != kNone) patterns[label] = fragments.dag.find(label_of[label], {});
  }
  return patterns;
}

}  // namespace

NodeMatches match_subset_trees(const SubsetTree& kernel, FragmentForest fragments, const Dag& dag,
                               std::span<const NodeId> nodes, bool counted,
                               const StopToken& token) {
  NodeMatches out(dag.size());
  const FragmentColumns columns(fragments);
  const std::vector<double> values = subtree_values(kernel.decay, fragments.dag);
  const std::vector<NodeId> leaves =
      kernel.include_leaves ? leaf_patterns(fragments, dag) : std::vector<NodeId>();
  SubsetMatcher matcher(fragments, dag);
  for (const NodeId u : nodes) {
    token.check();
    out.begin[u] = out.fragments.size();
    for (const NodeId pattern : matcher.match(u)) {
      columns.put(pattern, counted ? 1.0 : values[pattern], out);
    }
    if (kernel.include_leaves && dag.is_leaf(u) && leaves[dag.label(u)] != kNone) {
      columns.put(leaves[dag.label(u)], counted ? 1.0 : std::sqrt(kernel.decay), out);
    }
    out.end[u] = out.fragments.size();
  }
  return out;
}

NodeMatches match_subtrees(const Subtree& kernel, FragmentForest fragments, const Dag& dag,
                           std::span<const NodeId> nodes, bool counted) {
  NodeMatches out(dag.size());
  const FragmentColumns columns(fragments);
  const std::vector<double> values = subtree_values(kernel.decay, fragments.dag);
  const std::vector<NodeId> pattern_of = map_nodes(dag, fragments.dag, nodes);
  for (const NodeId u : nodes) {
    out.begin[u] = out.fragments.size();
    const NodeId pattern = pattern_of[u];
    if (pattern != kNone && !dag.is_leaf(u)) {
      columns.put(pattern, counted ? 1.0 : values[pattern], out);
    }
    out.end[u] = out.fragments.size();
  }
  return out;
}

}  // namespace filbert
