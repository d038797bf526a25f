#include "features/common_fragments.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ids.hpp"
#include "features/match_columns.hpp"
#include "forest/productions.hpp"
#include "fragments/flat_forest.hpp"

namespace filbert {

namespace {

constexpr std::size_t kMostNodes = 4096;     // of a fragment
constexpr std::size_t kMostChildren = 1000;  // of a node, to be aligned

// The largest fragment that is rooted in all of some nodes.
class CommonFragment {
 public:
  CommonFragment(const Dag& dag, bool whole_productions)
      : dag_(dag), whole_productions_(whole_productions) {}

  void find(std::span<const NodeId> nodes, const StopToken& token, FlatFragment& out) {
    out.clear();
    waiting_.assign(1, {nodes.begin(), nodes.end()});
    while (!waiting_.empty()) {
      token.check();
      Nodes place = std::move(waiting_.back());
      waiting_.pop_back();
      std::sort(place.begin(), place.end());
      place.erase(std::unique(place.begin(), place.end()), place.end());
      const bool has_children =
          std::any_of(place.begin(), place.end(), [&](NodeId u) { return !dag_.is_leaf(u); });
      const bool is_full = out.labels.size() + waiting_.size() >= kMostNodes;
      const std::size_t n = !has_children || is_full ? 0 : grow(place, token);
      out.add(dag_.label(place.front()), static_cast<std::uint32_t>(n),
              whole_productions_ && has_children && n == 0);
    }
  }

 private:
  using Nodes = std::vector<NodeId>;  // at one place of the fragment

  // Puts the children that all nodes share on the stack, the first one on top. Returns how many.
  std::size_t grow(const Nodes& place, const StopToken& token) {
    std::vector<Nodes> children = whole_productions_ ? all_children(place) : aligned(place, token);
    for (std::size_t k = children.size(); k-- > 0;) waiting_.push_back(std::move(children[k]));
    return children.size();
  }

  // None if the nodes have different productions.
  std::vector<Nodes> all_children(const Nodes& place) const {
    const std::uint32_t production = dag_.productions().of(place.front());
    const bool are_same = std::all_of(place.begin(), place.end(), [&](NodeId u) {
      return dag_.productions().of(u) == production;
    });
    std::vector<Nodes> children(are_same ? dag_.arity(place.front()) : 0);
    for (std::size_t k = 0; k < children.size(); ++k) {
      for (const NodeId u : place) children[k].push_back(dag_.children(u)[k]);
    }
    return children;
  }

  // A sequence of labels that the children of all nodes contain.
  std::vector<Nodes> aligned(const Nodes& place, const StopToken& token) {
    std::vector<Nodes> sequence;
    for (const NodeId c : first_children(place.front())) sequence.push_back({c});
    for (std::size_t i = 1; i < place.size() && !sequence.empty(); ++i) {
      token.check();
      sequence = longest_common(std::move(sequence), first_children(place[i]));
    }
    return sequence;
  }
  std::span<const NodeId> first_children(NodeId u) const {
    const std::span<const NodeId> children = dag_.children(u);
    return children.first(std::min(children.size(), kMostChildren));
  }

  // The longest common subsequence, by label.
  std::vector<Nodes> longest_common(std::vector<Nodes> a, std::span<const NodeId> b) {
    const std::size_t width = b.size() + 1;
    const auto match = [&](std::size_t i, std::size_t j) {
      return dag_.label(a[i].front()) == dag_.label(b[j]);
    };
    lengths_.assign((a.size() + 1) * width, 0);  // of what comes after i and j
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        const std::uint32_t apart =
            std::max(lengths_[(i + 1) * width + j], lengths_[i * width + j + 1]);
        const std::uint32_t together = match(i, j) ? lengths_[(i + 1) * width + j + 1] + 1 : 0;
        lengths_[i * width + j] = std::max(apart, together);
      }
    }
    std::vector<Nodes> common;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      const std::uint32_t best = lengths_[i * width + j];
      if (match(i, j) && best == lengths_[(i + 1) * width + j + 1] + 1) {
        common.push_back(std::move(a[i++]));
        common.back().push_back(b[j++]);
      } else if (best == lengths_[(i + 1) * width + j]) {
        ++i;
      } else {
        ++j;
      }
    }
    return common;
  }

  const Dag& dag_;
  bool whole_productions_;
  std::vector<Nodes> waiting_;
  std::vector<std::uint32_t> lengths_;
};

// By wanted column: the features and nodes that make it up, as in TreeFactors::column_of.
std::vector<std::vector<std::uint32_t>> classes_of(const TreeFactors& trees,
                                                   const ColumnMatches& matches,
                                                   std::span<const std::uint32_t> columns,
                                                   std::size_t n_known) {
  std::vector<std::uint32_t> place_of(n_known, kNone);
  for (std::uint32_t k = 0; k < columns.size(); ++k) {
    if (columns[k] >= n_known) throw std::invalid_argument("there is no such column");
    place_of[columns[k]] = k;
  }
  std::vector<std::vector<std::uint32_t>> classes(columns.size());
  for (std::uint32_t c = 0; c < trees.column_of.size(); ++c) {
    if (trees.column_of[c] == kNone) continue;
    const ColumnMatch& match = matches.of[trees.column_of[c]];
    if (match.kind != ColumnMatch::Kind::kShared || place_of[match.at] == kNone) continue;
    classes[place_of[match.at]].push_back(c);
  }
  return classes;
}

}  // namespace

CommonFragments common_fragments(const KernelOperator& trees, const TreeFactors& known,
                                 std::span<const std::uint32_t> columns, bool whole_productions,
                                 int n_threads, const Watch& watch) {
  const std::size_t n = trees.n_trees();
  const ColumnMatches matches = match_columns({known, trees.trees(), n, n}, n_threads, watch);
  const auto classes = classes_of(trees.trees(), matches, columns, known.mass.size());
  std::vector<FlatFragment> found(columns.size());
  parallel_for(columns.size(), n_threads, watch, [&](std::size_t k, int, const StopToken& token) {
    CommonFragment common(trees.dag(), whole_productions);
    FlatFragment fragment;
    const auto offer = [&](std::span<const NodeId> nodes) {
      common.find(nodes, token, fragment);
      if (fragment.labels.size() > found[k].labels.size()) std::swap(fragment, found[k]);
    };
    std::visit(
        [&](const auto& factors) {
          const std::size_t n_features = factors.mass.size();
          for (const std::uint32_t c : classes[k]) {
            if (c < n_features) {
              offer(factors.nodes_of(c));
            } else {
              const NodeId node = static_cast<NodeId>(c - n_features);
              offer({&node, 1});
            }
          }
        },
        trees.nodes());
    if (found[k].labels.empty()) throw std::invalid_argument("a column has no fragments");
  });
  CommonFragments out;
  FlatForest forest(trees.dag());
  for (const FlatFragment& fragment : found) forest.add(fragment);
  out.roots = std::move(forest.roots);
  out.open = std::move(forest.open);
  out.dag = forest.finish();
  return out;
}

}  // namespace filbert
