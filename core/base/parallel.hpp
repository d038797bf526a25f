// Threads for work that splits into independent tasks. Free threads take the tasks in order. Each
// task writes only its own part of the result, so results do not depend on the number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace filbert {

// Thrown inside a task if the work is stopped. parallel_for catches it.
struct Stopped {};

// A task regularly checks whether to continue.
class StopToken {
 public:
  void check() const {
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
  }
  void stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> stop_{false};
};

// Called on the calling thread about every 30 ms with the number of finished tasks. It may throw
// (Ctrl-C). The tasks are then stopped, and the exception propagates to the caller.
using Watch = std::function<void(std::size_t done, std::size_t total)>;

// A value of n_threads: do the work on the calling thread, without other threads and without
// watching. Use it for work that takes less time than starting a thread.
inline constexpr int kInline = 0;

// n_threads, or kInline if the work is at most about a million steps.
inline int threads_for(double steps, int n_threads) { return steps <= 1e6 ? kInline : n_threads; }

// Calls task(index, worker, token) for every index below n_tasks, on n_threads threads. The first
// exception of a task ends the work and is thrown here.
void parallel_for(std::size_t n_tasks, int n_threads, const Watch& watch,
                  const std::function<void(std::size_t, int, const StopToken&)>& task);

}  // namespace filbert
