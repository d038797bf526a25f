#include "factors/factor_rounds.hpp"

#include <algorithm>
#include <utility>

namespace filbert {

void FactorRounds::open(std::vector<NodeId> nodes) {
  n_left_ = n_open_ += nodes.size();
  if (!nodes.empty()) blocks_.push_back({std::move(nodes)});
}

void FactorRounds::sort_largest_first() {
  std::stable_sort(blocks_.begin(), blocks_.end(),
                   [](const Block& a, const Block& b) { return a.open.size() > b.open.size(); });
}

// The first block of each task of a round, and the end of the last task.
std::vector<std::size_t> FactorRounds::tasks() {
  constexpr std::size_t kTaskNodes = 1024;
  std::vector<std::size_t> begin{0};
  std::size_t weight = 0;
  n_left_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    weight += blocks_[i].open.size();
    n_left_ += blocks_[i].open.size();
    if (weight >= kTaskNodes || i + 1 == blocks_.size()) {
      begin.push_back(i + 1);
      weight = 0;
    }
  }
  return begin;
}

// A small amount of work is done at once, on this thread, which checks for a stop now and then.
int FactorRounds::threads_watched(double steps) {
  const int n_threads = threads_for(steps, n_threads_);
  if (n_threads == kInline && (unwatched_ += steps) > 1e7) {
    progress_(0, 0);
    unwatched_ = 0.0;
  }
  return n_threads;
}

void FactorRounds::run(std::size_t n_tasks, double steps,
                       const std::function<void(std::size_t, int, const StopToken&)>& task) {
  parallel_for(n_tasks, threads_watched(steps), progress_, task);
}

void FactorRounds::run_parts(
    std::size_t n, std::size_t part, double steps,
    const std::function<void(std::size_t, std::size_t, int, const StopToken&)>& task) {
  run((n + part - 1) / part, steps, [&](std::size_t i, int worker, const StopToken& token) {
    task(i * part, std::min((i + 1) * part, n), worker, token);
  });
}

}  // namespace filbert
