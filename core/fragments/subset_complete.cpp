// All subset trees that pass the filter. With weights of both signs a relevant fragment may have
// grown from irrelevant ones, so that Algorithm 5.1 does not reach it. This search gives up a
// fragment only if the bound of judge.hpp says that nothing that grows from it can pass.
//
// Places are grown from left to right: a fragment grows only from the fragment without its last
// production in preorder.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "fragments/subset_miner.hpp"
#include "fragments/subset_places.hpp"

namespace filbert {

namespace {

struct State {
  SubsetFragment fragment;
  Worth worth;
  std::uint32_t last = 0;  // the position of the last production
};

// The fragments that grew from one base fragment.
struct Found {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint8_t> open;
  std::vector<Worth> worths;
  double largest_rejected = 0.0;

  void add(const SubsetKey& key, const Worth& worth, const SubsetPlaces& places) {
    symbols.insert(symbols.end(), key.begin(), key.end());
    open.resize(symbols.size(), 0);
    places.mark(std::span(open).subspan(begin.back()));
    begin.push_back(symbols.size());
    worths.push_back(worth);
  }
};

// The memory of one thread.
struct Scratch {
  explicit Scratch(const MiningTask& task)
      : judge(task.nodes, task.criterion),
        places(task.dag),
        partition(task.dag.productions().size()) {}
  Judge judge;
  SubsetPlaces places;
  Partition partition;
};

// The totals of all threads, for the limit.
struct Total {
  std::atomic<std::size_t> n_fragments{0};
  std::atomic<std::size_t> n_nodes{0};
};

class CompleteSearch {
 public:
  CompleteSearch(const SubsetTree& kernel, const MiningTask& task, Scratch& scratch, Total& total,
                 const StopToken& token)
      : kernel_(kernel),
        task_(task),
        scratch_(scratch),
        total_(total),
        token_(token),
        filter_(task.threshold, task.min_frequency) {}

  Found run(SubsetFragment base) {
    const Worth worth = scratch_.judge.of_nodes(base.members, subset_value(kernel_, base.key));
    if (!filter_.hopeless(worth)) stack_.push_back({std::move(base), worth, 0});
    while (!stack_.empty()) {
      const State state = std::move(stack_.back());
      stack_.pop_back();
      scratch_.places.find(state.fragment.key, state.fragment.members);
      if (filter_.keeps(state.worth)) keep(state);
      for (std::size_t place = 0; place < scratch_.places.size(); ++place) {
        token_.check();
        if (scratch_.places.position(place) > state.last) grow(state, place);
      }
    }
    found_.largest_rejected = filter_.largest_rejected();
    return std::move(found_);
  }

 private:
  void keep(const State& state) {
    found_.add(state.fragment.key, state.worth, scratch_.places);
    const std::size_t n = total_.n_fragments.fetch_add(1) + 1;
    task_.check_size(n, total_.n_nodes.fetch_add(state.fragment.key.size()));
  }

  void grow(const State& state, std::size_t place) {
    Partition& partition = scratch_.partition;
    all_.resize(state.fragment.members.size());
    for (std::uint32_t i = 0; i < all_.size(); ++i) all_[i] = i;
    partition.split(all_, scratch_.places.productions(place));
    task_.look_at(1 + partition.groups().size());
    const double value = subset_value(kernel_, state.fragment.key) * std::sqrt(kernel_.decay);
    for (const Partition::Group& group : partition.groups()) {
      State larger;
      for (const std::uint32_t i : partition.members(group)) {
        larger.fragment.members.push_back(state.fragment.members[i]);
      }
      larger.worth = scratch_.judge.of_nodes(larger.fragment.members, value);
      if (filter_.hopeless(larger.worth)) continue;
      larger.last = scratch_.places.position(place);
      const Growth growth{larger.last, group.production};
      larger.fragment.key = grown(state.fragment.key, {&growth, 1}, task_.dag);
      stack_.push_back(std::move(larger));
    }
  }

  const SubsetTree kernel_;
  const MiningTask& task_;
  Scratch& scratch_;
  Total& total_;
  const StopToken& token_;
  Filter filter_;
  std::vector<State> stack_;
  std::vector<std::uint32_t> all_;
  Found found_;
};

}  // namespace

MinedFragments mine_completely(const SubsetTree& kernel, const MiningTask& task) {
  std::vector<SubsetFragment> base = subset_base(kernel, task.dag, task.nodes);
  const int n_threads = std::max(1, task.n_threads);
  std::vector<Found> parts(base.size());
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<std::size_t>(n_threads));
  Total total;
  parallel_for(
      base.size(), n_threads, task.watch, [&](std::size_t i, int worker, const StopToken& token) {
        auto& own = scratch[static_cast<std::size_t>(worker)];
        if (!own) own = std::make_unique<Scratch>(task);
        parts[i] = CompleteSearch(kernel, task, *own, total, token).run(std::move(base[i]));
      });
  Found all;
  for (Found& part : parts) {
    const std::uint64_t before = all.symbols.size();
    for (std::size_t k = 1; k < part.begin.size(); ++k) {
      all.begin.push_back(before + part.begin[k]);
    }
    all.symbols.insert(all.symbols.end(), part.symbols.begin(), part.symbols.end());
    all.open.insert(all.open.end(), part.open.begin(), part.open.end());
    all.worths.insert(all.worths.end(), part.worths.begin(), part.worths.end());
    all.largest_rejected = std::max(all.largest_rejected, part.largest_rejected);
    part = {};
  }
  return in_order(task, all.worths, all.largest_rejected, [&](std::size_t i, FlatFragment& out) {
    const std::size_t first = all.begin[i], n = all.begin[i + 1] - first;
    to_flat(task.dag, std::span(all.symbols).subspan(first, n),
            std::span(all.open).subspan(first, n), out);
  });
}

}  // namespace filbert
