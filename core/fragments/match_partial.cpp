#include "forest/align.hpp"
#include "fragments/node_matches.hpp"
#include "fragments/partial_bounds.hpp"
#include "fragments/pattern_trie.hpp"

namespace filbert {

namespace {

// A root per label; a symbol is the pattern of a child in the fragment.
PatternTrie partial_trie(FragmentForest fragments) {
  const Dag& dag = fragments.dag;
  PatternTrie trie(dag.labels().size());
  for (const NodeId pattern : reachable(dag, fragments.roots)) {
    std::uint32_t place = dag.label(pattern);
    for (const NodeId child : dag.children(pattern)) place = trie.add_step(place, child);
    trie.set_pattern(place, pattern);
  }
  return trie;
}

PartialCosts costs_of(const PartialTree& kernel, bool counted) {
  PartialCosts costs(kernel);
  if (counted) costs.decay = costs.node = costs.first = costs.next = 1.0;
  return costs;
}

struct Match {
  NodeId pattern;
  double value;
};

// The patterns of each node with the total weight of all their occurrences there.
class PartialMatcher {
 public:
  PartialMatcher(const PartialTree& kernel, FragmentForest fragments, const Dag& dag, bool counted)
      : dag_(dag),
        trie_(partial_trie(fragments)),
        label_of_(map_labels(dag, fragments.dag)),
        costs_(costs_of(kernel, counted)),
        begin_(dag.size(), 0),
        end_(dag.size(), 0),
        slot_of_(trie_.size(), 0) {}

  // Nodes come in ascending order.
  std::span<const Match> match(NodeId u, const StopToken& token) {
    begin_[u] = matches_.size();
    const std::uint32_t root = label_of_[dag_.label(u)];
    if (root != kNone) {
      finish(root, costs_.decay);
      level_.clear();
      start(u, root);
      while (!level_.empty()) {
        next_.clear();
        for (const Sequence& sequence : level_) {
          token.check();
          extend(u, sequence);
        }
        level_.swap(next_);
      }
    }
    end_[u] = matches_.size();
    return {matches_.data() + begin_[u], end_[u] - begin_[u]};
  }

 private:
  // Some children of a node, by their patterns: the last child, with the weight of all ways to it.
  struct End {
    std::uint32_t position;
    double weight;
  };
  struct Sequence {
    std::uint32_t place;
    std::vector<End> ends;  // ascending
  };

  void finish(std::uint32_t place, double weight) {
    if (trie_.pattern(place) != kNone) {
      matches_.push_back({trie_.pattern(place), costs_.node * weight});
    }
  }

  // Takes the child at q as the first of a sequence, or as the next one.
  void step(std::uint32_t place, NodeId child, std::uint32_t q, double before) {
    for (std::uint64_t i = begin_[child]; i < end_[child]; ++i) {
      const std::uint32_t to = trie_.step(place, matches_[i].pattern);
      if (to == kNone) continue;
      std::size_t& slot = slot_of_[to];
      if (slot < first_new_ || slot >= next_.size() || next_[slot].place != to) {
        slot = next_.size();
        next_.push_back({to, {}});
      }
      next_[slot].ends.push_back({q, before * matches_[i].value});
    }
  }

  void start(NodeId u, std::uint32_t root) {
    if (!trie_.goes_on(root)) return;
    next_.clear();
    first_new_ = 0;
    const std::span<const NodeId> children = dag_.children(u);
    for (std::uint32_t q = 0; q < children.size(); ++q) step(root, children[q], q, costs_.first);
    close_from(0);
    level_.swap(next_);
  }

  void extend(NodeId u, const Sequence& sequence) {
    if (!trie_.goes_on(sequence.place)) return;
    first_new_ = next_.size();
    const std::span<const NodeId> children = dag_.children(u);
    double before = 0.0;
    std::size_t end = 0;
    for (std::uint32_t q = sequence.ends[0].position; q < children.size(); ++q) {
      if (before > 0.0) step(sequence.place, children[q], q, before);
      before *= costs_.decay;
      if (end < sequence.ends.size() && sequence.ends[end].position == q) {
        before += sequence.ends[end++].weight * costs_.next;
      }
    }
    close_from(first_new_);
  }

  void close_from(std::size_t first) {
    for (std::size_t k = first; k < next_.size(); ++k) {
      double weight = 0.0;
      for (const End& end : next_[k].ends) weight += end.weight;
      finish(next_[k].place, weight);
    }
  }

  const Dag& dag_;
  const PatternTrie trie_;
  const std::vector<LabelId> label_of_;  // label of the fragments, by label of the trees
  const PartialCosts costs_;
  std::vector<std::uint64_t> begin_, end_;  // by node
  std::vector<Match> matches_;
  std::vector<Sequence> level_, next_;
  std::vector<std::size_t> slot_of_;  // by place of the trie: a hint to its sequence in next_
  std::size_t first_new_ = 0;         // the sequences from here on extend the same shorter one
};

}  // namespace

NodeMatches match_partial_trees(const PartialTree& kernel, FragmentForest fragments, const Dag& dag,
                                std::span<const NodeId> nodes, bool counted,
                                const StopToken& token) {
  NodeMatches out(dag.size());
  const FragmentColumns columns(fragments);
  PartialMatcher matcher(kernel, fragments, dag, counted);
  for (const NodeId u : nodes) {
    token.check();
    out.begin[u] = out.fragments.size();
    for (const Match& match : matcher.match(u, token)) {
      columns.put(match.pattern, match.value, out);
    }
    out.end[u] = out.fragments.size();
  }
  return out;
}

}  // namespace filbert
