#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace filbert {

namespace {

struct Shared {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  StopToken token;
  std::mutex mutex;
  std::condition_variable finished;
  int running = 0;
  std::exception_ptr error;
};

void work(Shared& shared, int worker, std::size_t n_tasks,
          const std::function<void(std::size_t, int, const StopToken&)>& task) {
  try {
    for (std::size_t i; (i = shared.next.fetch_add(1)) < n_tasks;) {
      shared.token.check();
      task(i, worker, shared.token);
      shared.done.fetch_add(1);
    }
  } catch (const Stopped&) {
  } catch (...) {
    const std::lock_guard lock(shared.mutex);
    if (!shared.error) shared.error = std::current_exception();
    shared.token.stop();
  }
  const std::lock_guard lock(shared.mutex);
  --shared.running;
  shared.finished.notify_one();
}

}  // namespace

void parallel_for(std::size_t n_tasks, int n_threads, const Watch& watch,
                  const std::function<void(std::size_t, int, const StopToken&)>& task) {
  if (n_threads == kInline) {
    const StopToken token;
    for (std::size_t i = 0; i < n_tasks; ++i) task(i, 0, token);
    return;
  }
  if (n_tasks == 0) return;
  const auto n_workers = static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(std::max(1, n_threads)), n_tasks));
  Shared shared;
  std::vector<std::thread> threads;
  const auto stop_and_join = [&] {
    shared.token.stop();
    for (std::thread& thread : threads) thread.join();
  };
  // The calling thread only waits and watches. It therefore sees an interrupt at once, even if a
  // task takes long, and tasks need to check only the token.
  try {
    for (int worker = 0; worker < n_workers; ++worker) {
      {
        const std::lock_guard lock(shared.mutex);
        ++shared.running;
      }
      try {
        threads.emplace_back([&, worker] { work(shared, worker, n_tasks, task); });
      } catch (...) {
        const std::lock_guard lock(shared.mutex);
        --shared.running;
        throw;
      }
    }
    std::unique_lock lock(shared.mutex);
    while (shared.running > 0) {
      shared.finished.wait_for(lock, std::chrono::milliseconds(30));
      if (shared.running == 0 || !watch) continue;
      lock.unlock();
      watch(shared.done.load(), n_tasks);
      lock.lock();
    }
  } catch (...) {
    stop_and_join();
    throw;
  }
  for (std::thread& thread : threads) thread.join();
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace filbert
