#include "fragments/recurring.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "forest/productions.hpp"
#include "fragments/closed_sets.hpp"
#include "fragments/part_forest.hpp"
#include "kernels/chosen_symbols.hpp"

namespace filbert {

namespace {

// The limit on nodes allows fragments to have this many nodes on average.
constexpr std::size_t kMostNodes = 100;

// The fragments of one block.
struct Found {
  std::vector<std::uint64_t> begin{0};
  std::vector<FragmentPart> parts;
  std::vector<std::uint64_t> counts, n_distinct;
};

// Keeps the fragments of all threads that pass the rules, within the limits.
class Keeper {
 public:
  explicit Keeper(const RecurringRules& rules) : rules_(rules) {}

  void keep(std::span<const FragmentPart> parts, std::uint64_t size, double count,
            std::size_t n_distinct, Found& found) {
    const auto n = static_cast<std::uint64_t>(count);
    if (n < rules_.min_count || n > rules_.max_count) return;
    if (size < rules_.min_size || size > rules_.max_size) return;
    const std::uint64_t most = kMostNodes * (rules_.max_fragments + 1);
    const std::uint64_t n_nodes = n_nodes_.fetch_add(std::min(size, most)) + std::min(size, most);
    if (n_fragments_.fetch_add(1) + 1 > rules_.max_fragments ||
        n_nodes / kMostNodes > rules_.max_fragments) {
      throw TooManyFragments(rules_.max_fragments);
    }
    found.parts.insert(found.parts.end(), parts.begin(), parts.end());
    found.begin.push_back(found.parts.size());
    found.counts.push_back(n);
    found.n_distinct.push_back(n_distinct);
  }

 private:
  const RecurringRules& rules_;
  std::atomic<std::uint64_t> n_fragments_{0}, n_nodes_{0};
};

RecurringFragments joined(const Dag& dag, std::vector<Found>& parts, const StopToken& token) {
  RecurringFragments all;
  PartForest forest(dag);
  for (Found& found : parts) {
    for (std::size_t i = 0; i + 1 < found.begin.size(); ++i) {
      token.check();
      forest.add(
          std::span(found.parts).subspan(found.begin[i], found.begin[i + 1] - found.begin[i]));
    }
    all.counts.insert(all.counts.end(), found.counts.begin(), found.counts.end());
    all.n_distinct.insert(all.n_distinct.end(), found.n_distinct.begin(), found.n_distinct.end());
    found = {};
  }
  all.roots = std::move(forest.roots);
  all.open = std::move(forest.open);
  all.dag = forest.finish();
  return all;
}

}  // namespace

RecurringMiner::RecurringMiner(std::shared_ptr<const Dag> dag, std::span<const NodeId> roots,
                               const RecurringRules& rules)
    : dag_(std::move(dag)), rules_(rules), totals_(node_totals(*dag_, roots)), block_begin_{0} {
  const Productions& productions = dag_->productions();
  const LabelId root = rules_.root ? dag_->labels().find(*rules_.root) : kNone;
  std::vector<std::vector<NodeId>> blocks(productions.size() + 1);
  for (NodeId u = 0; u < dag_->size(); ++u) {
    if (totals_[u] == 0.0 || (rules_.root && dag_->label(u) != root)) continue;
    if (!(totals_[u] < 0x1p53)) throw CapacityError("a subtree occurs more than 2^53 times");
    if (!dag_->is_leaf(u)) {
      blocks[productions.of(u)].push_back(u);
    } else if (rules_.leaves) {
      blocks.back().push_back(u);
    }
  }
  for (const std::vector<NodeId>& block : blocks) {
    double count = 0.0;
    for (const NodeId u : block) count += totals_[u];
    if (!(count < 0x1p53)) throw CapacityError("a fragment occurs more than 2^53 times");
    if (block.empty() || count < static_cast<double>(rules_.min_count)) continue;
    nodes_.insert(nodes_.end(), block.begin(), block.end());
    block_begin_.push_back(nodes_.size());
  }
}

std::vector<std::uint64_t> RecurringMiner::block_sizes() const {
  std::vector<std::uint64_t> sizes(n_blocks());
  for (std::size_t b = 0; b < sizes.size(); ++b) sizes[b] = nodes_of(b).size();
  return sizes;
}

RecurringFragments RecurringMiner::mine(std::span<const std::uint32_t> blocks, int n_threads,
                                        const Watch& watch) const {
  const int workers = std::max(1, n_threads);
  const ClosedSets::Limits limits{static_cast<double>(rules_.min_count), rules_.max_size};
  std::vector<std::unique_ptr<ClosedSets>> searches(static_cast<std::size_t>(workers));
  Keeper keeper(rules_);
  std::vector<Found> found(blocks.size());
  // The largest blocks first, so that the last tasks are small.
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return nodes_of(blocks[i]).size() > nodes_of(blocks[j]).size();
  });
  parallel_for(order.size(), workers, watch,
               [&](std::size_t task, int worker, const StopToken& token) {
                 const std::span<const NodeId> nodes = nodes_of(blocks[order[task]]);
                 Found& own = found[order[task]];
                 const bool each_node = rules_.whole_subtrees || dag_->is_leaf(nodes.front());
                 if (each_node) {
                   for (const NodeId u : nodes) {
                     token.check();
                     const FragmentPart part{u, FragmentPart::Kind::kWhole};
                     keeper.keep({&part, 1}, dag_->sizes()[u], totals_[u], 1, own);
                   }
                   return;
                 }
                 auto& search = searches[static_cast<std::size_t>(worker)];
                 if (!search) search = std::make_unique<ClosedSets>(*dag_, totals_, limits);
                 search->run(nodes, token,
                             [&](const auto& parts, std::uint64_t size, double count,
                                 std::span<const NodeId> members) {
                               keeper.keep(parts, size, count, members.size(), own);
                             });
               });
  RecurringFragments all;
  // One task, so that the calling thread only watches.
  parallel_for(1, 1, watch, [&](std::size_t, int, const StopToken& token) {
    all = joined(*dag_, found, token);
  });
  return all;
}

}  // namespace filbert
