// Algorithm 5.1 of Pighin & Moschitti 2010, GREEDY_MODEL_MINER:
//
//   keep the base fragments that pass FILTER
//   repeat with the fragments f that were found last:
//     for tau = 1, 2, ...: EXPAND(f, tau), all fragments that f becomes when exactly tau of its
//       places are grown by one production each; keep those that pass FILTER; stop at the first tau
//       for which none does
//   until nothing new is found
//
// The paper's inner loop visits all f for tau = 1, then those that gave a result for tau = 2, and
// so on. The result for one f does not depend on the others, so here each f is finished at once, on
// threads, which gives the same set. A fragment is explored once, even if it is found several
// times.
//
// While places are chosen one after another, candidates that can no longer pass are dropped,
// because frequency and bound (judge.hpp) only decrease. That changes only the time.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "fragments/subset_miner.hpp"
#include "fragments/subset_places.hpp"

namespace filbert {

namespace {

// The memory of one thread.
struct Scratch {
  explicit Scratch(const MiningTask& task)
      : judge(task.nodes, task.criterion),
        filter(task.threshold, task.min_frequency),
        places(task.dag),
        partition(task.dag.productions().size()) {}
  Judge judge;
  Filter filter;
  SubsetPlaces places;
  Partition partition;
};

struct Found {
  SubsetFragment fragment;
  Worth worth;
};

// The result of exploring one fragment.
struct Explored {
  std::vector<std::uint8_t> open;
  std::vector<Found> found;  // without those that were known before
};

// A fragment with some places grown.
struct State {
  std::vector<Growth> growths;
  std::size_t next_place = 0;          // places before this are decided
  std::vector<std::uint32_t> members;  // members of the fragment, by number
};

class GreedyMiner {
 public:
  GreedyMiner(const SubsetTree& kernel, const MiningTask& task)
      : kernel_(kernel), task_(task), filter_(task.threshold, task.min_frequency) {}

  MinedFragments run(std::vector<SubsetFragment> base) {
    start(std::move(base));
    std::size_t n_done = 0;
    for (std::vector<Pending> now; !pending_.empty();) {
      now.swap(pending_);
      for (std::size_t first = 0; first < now.size(); first += kBlock) {
        const std::size_t last = std::min(first + kBlock, now.size());
        explore(std::span(now).subspan(first, last - first), n_done);
        n_done += last - first;
      }
      now.clear();
    }
    for (const auto& scratch : scratch_) {
      if (scratch) filter_.merge(scratch->filter);
    }
    return in_order(task_, worths_, filter_.largest_rejected(),
                    [&](std::size_t i, FlatFragment& out) {
                      to_flat(task_.dag, keys_.key(i), keys_.open(i), out);
                    });
  }

 private:
  static constexpr std::size_t kBlock = 4096;  // fragments whose results are in memory at a time

  // A fragment to be explored.
  struct Pending {
    std::size_t number;
    std::vector<NodeId> members;
  };

  void start(std::vector<SubsetFragment> base) {
    Judge judge(task_.nodes, task_.criterion);
    for (SubsetFragment& fragment : base) {
      const Worth worth = judge.of_nodes(fragment.members, subset_value(kernel_, fragment.key));
      if (filter_.hopeless(worth) || !filter_.keeps(worth)) continue;
      update({std::move(fragment), worth});
    }
  }

  void update(Found found) {
    if (!keys_.insert(found.fragment.key)) return;
    task_.check_size(keys_.size(), keys_.n_symbols());
    worths_.push_back(found.worth);
    pending_.push_back({keys_.size() - 1, std::move(found.fragment.members)});
  }

  void explore(std::span<const Pending> block, std::size_t n_done) {
    std::vector<Explored> results(block.size());
    const Watch watch = [&](std::size_t done, std::size_t) {
      if (task_.watch) task_.watch(n_done + done, std::max(keys_.size(), n_done + block.size()));
    };
    scratch_.resize(static_cast<std::size_t>(std::max(1, task_.n_threads)));
    parallel_for(block.size(), std::max(1, task_.n_threads), watch,
                 [&](std::size_t i, int worker, const StopToken& token) {
                   auto& own = scratch_[static_cast<std::size_t>(worker)];
                   if (!own) own = std::make_unique<Scratch>(task_);
                   results[i] = explored(block[i], *own, token);
                 });
    for (std::size_t i = 0; i < block.size(); ++i) {
      std::ranges::copy(results[i].open, keys_.open(block[i].number).begin());
      for (Found& found : results[i].found) update(std::move(found));
      results[i] = {};
    }
  }

  Explored explored(const Pending& pending, Scratch& scratch, const StopToken& token) const {
    const std::span<const std::uint32_t> key = keys_.key(pending.number);
    Explored result;
    scratch.places.find(key, pending.members);
    result.open.assign(key.size(), 0);
    scratch.places.mark(result.open);
    double value = subset_value(kernel_, key);
    std::vector<State> level(1), next;
    level[0].members.resize(pending.members.size());
    std::iota(level[0].members.begin(), level[0].members.end(), 0u);
    for (bool any_kept = true; any_kept; level.swap(next)) {  // tau = 1, 2, ...
      value *= std::sqrt(kernel_.decay);
      any_kept = false;
      next.clear();
      for (const State& state : level) {
        for (std::size_t place = state.next_place; place < scratch.places.size(); ++place) {
          token.check();
          any_kept |= grow(state, place, value, pending, scratch, result, next);
        }
      }
    }
    return result;
  }

  // Grows a state at one more place. Returns whether anything passes.
  bool grow(const State& state, std::size_t place, double value, const Pending& pending,
            Scratch& scratch, Explored& result, std::vector<State>& next) const {
    Partition& partition = scratch.partition;
    partition.split(state.members, scratch.places.productions(place));
    task_.look_at(1 + partition.groups().size());
    bool any_kept = false;
    for (const Partition::Group& group : partition.groups()) {
      const std::span<const std::uint32_t> members = partition.members(group);
      scratch.judge.begin();
      for (const std::uint32_t i : members) scratch.judge.add(pending.members[i], value, value);
      const Worth worth = scratch.judge.finish();
      if (scratch.filter.hopeless(worth)) continue;
      next.push_back({state.growths, place + 1, {members.begin(), members.end()}});
      next.back().growths.push_back({scratch.places.position(place), group.production});
      task_.check_size(next.size(), 0);
      if (!scratch.filter.keeps(worth)) continue;
      any_kept = true;
      SubsetKey key = grown(keys_.key(pending.number), next.back().growths, task_.dag);
      if (keys_.contains(key)) continue;
      std::vector<NodeId> nodes;
      for (const std::uint32_t i : members) nodes.push_back(pending.members[i]);
      result.found.push_back({{std::move(key), std::move(nodes)}, worth});
    }
    return any_kept;
  }

  const SubsetTree kernel_;
  const MiningTask& task_;
  Filter filter_;
  KeyIndex keys_;  // of all fragments found
  std::vector<Worth> worths_;
  std::vector<Pending> pending_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

}  // namespace

MinedFragments mine_greedily(const SubsetTree& kernel, const MiningTask& task) {
  return GreedyMiner(kernel, task).run(subset_base(kernel, task.dag, task.nodes));
}

}  // namespace filbert
