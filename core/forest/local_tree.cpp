#include "forest/local_tree.hpp"

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/id_table.hpp"

namespace filbert {

namespace {

// Visits the distinct nodes, children first, with an explicit stack.
class Walk {
 public:
  Walk(const Dag& dag, LocalTree& tree) : dag_(dag), tree_(tree) {}

  void run(NodeId root, const StopToken& token) {
    tree_.child_begin.push_back(0);
    open_.push_back({root, 0});
    while (!open_.empty()) {
      const auto [u, next] = open_.back();
      if (next == dag_.arity(u)) {
        close(u);
        if (tree_.size() % 4096 == 0) token.check();
        continue;
      }
      ++open_.back().next;
      const NodeId child = dag_.children(u)[next];
      const std::uint32_t known = find(child);
      if (known != kNone) {
        done_.push_back(known);
      } else {
        open_.push_back({child, 0});
      }
    }
  }

 private:
  struct Open {
    NodeId node;
    std::size_t next;  // the next child to visit
  };

  static std::uint64_t hash(NodeId u) { return mix(u ^ kHashA, kHashB); }

  std::uint32_t find(NodeId u) const {
    return local_.find(hash(u), [&](std::uint32_t i) { return tree_.nodes[i] == u; });
  }

  // The local numbers of u's children are at the end of done_.
  void close(NodeId u) {
    const auto first = done_.end() - static_cast<std::ptrdiff_t>(dag_.arity(u));
    tree_.children.insert(tree_.children.end(), first, done_.end());
    tree_.child_begin.push_back(static_cast<std::uint32_t>(tree_.children.size()));
    done_.erase(first, done_.end());
    done_.push_back(tree_.size());
    local_.find_or_insert(
        hash(u), [](std::uint32_t) { return false; }, [&] { return tree_.size(); });
    tree_.nodes.push_back(u);
    open_.pop_back();
  }

  const Dag& dag_;
  LocalTree& tree_;
  IdTable local_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> done_;
};

void count(LocalTree& tree, std::size_t place) {
  std::vector<std::uint64_t> counts(tree.size(), 0);
  tree.counts.resize(tree.size());
  counts.back() = 1;
  for (std::uint32_t u = tree.size(); u-- > 0;) {  // parents before children
    if (counts[u] >= kNone) throw TooManyOccurrences(place);
    tree.counts[u] = static_cast<std::uint32_t>(counts[u]);
    for (const std::uint32_t c : tree.children_of(u)) counts[c] += counts[u];
  }
}

}  // namespace

LocalTree take_out(const Dag& dag, NodeId root, std::size_t place, const StopToken& token) {
  LocalTree tree;
  Walk(dag, tree).run(root, token);
  count(tree, place);
  return tree;
}

LocalProductions local_productions(const Dag& dag, const LocalTree& tree) {
  LocalProductions productions;
  IdTable index;
  std::vector<LabelId> labels;
  const auto label = [&](std::uint32_t u) { return dag.label(tree.nodes[u]); };
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (tree.is_leaf(u)) {
      productions.of.push_back(kNone);
      continue;
    }
    labels.clear();
    for (const std::uint32_t c : tree.children_of(u)) labels.push_back(label(c));
    const auto same = [&](std::uint32_t p) {
      const std::uint32_t v = productions.example[p];
      const auto children = tree.children_of(v);
      bool equal = label(v) == label(u) && children.size() == labels.size();
      for (std::size_t j = 0; equal && j < labels.size(); ++j) {
        equal = label(children[j]) == labels[j];
      }
      return equal;
    };
    productions.of.push_back(index.find_or_insert(hash_ids(label(u), labels), same, [&] {
      productions.example.push_back(u);
      return static_cast<std::uint32_t>(productions.example.size() - 1);
    }));
  }
  return productions;
}

}  // namespace filbert
