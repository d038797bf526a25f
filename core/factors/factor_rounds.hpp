// The rounds of a factorisation, for any kernel: the blocks that are still open, their distribution
// to threads, and the progress.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/helpers.hpp"
#include "base/parallel.hpp"
#include "factors/factor_state.hpp"

namespace filbert {

class FactorRounds {
 public:
  FactorRounds(int n_threads, const Watch& watch) : n_threads_(n_threads), watch_(watch) {}
  FactorRounds(const FactorRounds&) = delete;
  FactorRounds& operator=(const FactorRounds&) = delete;

  // Opens a block of these nodes, if there are any.
  void open(std::vector<NodeId> nodes);
  bool done() const { return blocks_.empty(); }

  // The last tasks of a round are then small.
  void sort_largest_first();

  // Calls walk(blocks, worker, token, found) for tasks of one large block or many small ones.
  // Returns what each task found. Blocks that have no nodes left are closed.
  template <class Found, class StepsOf, class Walk>
  std::vector<Found> walk(const StepsOf& steps_of, const Walk& walk) {
    const std::vector<std::size_t> begin = tasks();
    double steps = 0.0;
    for (const Block& block : blocks_) steps += steps_of(block);
    std::vector<Found> found(begin.size() - 1);
    helpers_.start(found.size());
    run(found.size() + n_helping(), steps,
        [&](std::size_t task, int worker, const StopToken& token) {
          if (task >= found.size()) return helpers_.help(worker, token);
          const EndOfTask end{helpers_};
          const std::span<Block> blocks(&blocks_[begin[task]], begin[task + 1] - begin[task]);
          walk(blocks, worker, token, found[task]);
        });
    std::erase_if(blocks_, [](const Block& block) { return block.open.empty(); });
    return found;
  }

  // Within a task of walk(): shares the work of a large block with threads that have no task left.
  Helpers& helpers() { return helpers_; }

  // Calls task(index, worker, token), on threads if there are enough steps.
  void run(std::size_t n_tasks, double steps,
           const std::function<void(std::size_t, int, const StopToken&)>& task);

  // The same for parts of 0 ... n - 1: task(first, last, worker, token).
  void run_parts(std::size_t n, std::size_t part, double steps,
                 const std::function<void(std::size_t, std::size_t, int, const StopToken&)>& task);

 private:
  struct EndOfTask {
    Helpers& helpers;
    ~EndOfTask() { helpers.end_task(); }
  };

  std::vector<std::size_t> tasks();
  // Every thread but one may come to its end before the last task does.
  std::size_t n_helping() const { return static_cast<std::size_t>(n_threads_ - 1); }
  int threads_watched(double steps);

  int n_threads_;
  const Watch& watch_;
  std::vector<Block> blocks_;
  Helpers helpers_;
  std::size_t n_open_ = 0;  // nodes that were in a block at the start
  std::size_t n_left_ = 0;  // nodes that are still in a block
  double unwatched_ = 0.0;  // steps
  const Watch progress_ = [this](std::size_t, std::size_t) {
    if (watch_) watch_(n_open_ - n_left_, n_open_);
  };
};

}  // namespace filbert
