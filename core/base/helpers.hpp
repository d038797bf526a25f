// Tasks of very different size: threads that have no task left help with the ones that still run. A
// task splits a part of its work into pieces, which this thread and the waiting ones take in order.
// The pieces are the same for any number of threads, and each writes only its own result.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

class Helpers {
 public:
  using Piece = std::function<void(std::size_t index, int worker, const StopToken&)>;

  // Before the threads start: the number of tasks that end_task() will be called for.
  void start(std::size_t n_tasks) { n_tasks_ = n_tasks; }
  void end_task();

  // Called by a thread without a task: takes pieces until all tasks have ended.
  void help(int worker, const StopToken& token);

  // Whether split() would find help now.
  bool available();

  // Called within a task. Returns when all pieces are done. Throws Stopped if one of another thread
  // failed; that thread throws the exception itself.
  void split(std::size_t n_pieces, int worker, const StopToken& token, const Piece& piece);

 private:
  struct Job {
    const Piece& piece;
    std::size_t n_pieces;
    std::size_t next = 0;
    std::size_t n_done = 0;
    bool failed = false;
  };

  Job* find_job();
  void take_piece(Job& job, int worker, const StopToken& token, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_tasks_ = 0;
  std::size_t n_waiting_ = 0;  // threads in help()
  std::vector<Job*> jobs_;     // with pieces that nobody has taken, or that are not done
};

}  // namespace filbert
