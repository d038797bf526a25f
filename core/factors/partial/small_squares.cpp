#include "factors/partial/small_squares.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "factors/partial/partial_pairs.hpp"

namespace filbert {

namespace {

// For one thread. It keeps the Deltas of pairs for the next trees, which have many of them too.
class Squares {
 public:
  Squares(const PartialTree& kernel, const Dag& dag)
      : dag_(dag),
        delta_(kernel, dag, {}),
        childless_(kernel.least()),
        same_(childless_ + kernel.depth_decay * kernel.step() * kernel.step() * childless_),
        last_(dag.labels().size(), kNone) {}

  double of(NodeId root, const StopToken& token) {
    if (delta_.n_known() > kMostKnown) delta_.clear();
    list_nodes(root);
    double sum = 0.0;
    before_.clear();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const NodeId u = nodes_[i];
      std::uint32_t& last = last_[dag_.label(u)];
      double others = 0.0;
      for (std::uint32_t j = last; j != kNone; j = before_[j]) {
        others += delta_of(nodes_[j], u, token);
      }
      sum += delta_of(u, u, token) + 2.0 * others;
      before_.push_back(std::exchange(last, i));
    }
    for (const NodeId u : nodes_) last_[dag_.label(u)] = kNone;
    return sum;
  }

 private:
  // Of two nodes of one label. Many have a single child that is a leaf.
  double delta_of(NodeId u, NodeId v, const StopToken& token) {
    const auto here = dag_.children(u);
    const auto there = dag_.children(v);
    if (here.size() == 1 && there.size() == 1 &&
        (dag_.is_leaf(here[0]) || dag_.is_leaf(there[0]))) {
      return dag_.label(here[0]) == dag_.label(there[0]) ? same_ : childless_;
    }
    return delta_(u, v, token);
  }

  // The nodes of a tree, with repetition.
  void list_nodes(NodeId root) {
    nodes_.assign(1, root);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto children = dag_.children(nodes_[i]);
      nodes_.insert(nodes_.end(), children.begin(), children.end());
    }
  }

  static constexpr std::size_t kMostKnown = 1 << 12;  // pairs, which stay in the cache

  const Dag& dag_;
  PartialPairDelta<double> delta_;
  const double childless_, same_;  // the Deltas of nodes with a leaf each: other leaves, the same
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> before_;  // by node of the tree: the one before it with its label
  std::vector<std::uint32_t> last_;    // by label: the last node of the tree with it
};

}  // namespace

std::vector<double> small_squares(const PartialTree& kernel, const Dag& dag,
                                  std::span<const NodeId> roots, int n_threads,
                                  const Watch& watch) {
  constexpr std::size_t kPart = 1 << 10;  // trees
  std::vector<double> squares(roots.size());
  n_threads = threads_for(1000.0 * static_cast<double>(roots.size()), n_threads);
  std::vector<std::unique_ptr<Squares>> workers(static_cast<std::size_t>(std::max(1, n_threads)));
  parallel_for((roots.size() + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int worker, const StopToken& token) {
                 auto& own = workers[static_cast<std::size_t>(worker)];
                 if (!own) own = std::make_unique<Squares>(kernel, dag);
                 const std::size_t last = std::min((part + 1) * kPart, roots.size());
                 for (std::size_t i = part * kPart; i < last; ++i) {
                   token.check();
                   squares[i] = own->of(roots[i], token);
                 }
               });
  return squares;
}

}  // namespace filbert
