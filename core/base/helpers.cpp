#include "base/helpers.hpp"

#include <algorithm>
#include <chrono>

namespace filbert {

namespace {

constexpr std::chrono::milliseconds kPatience{20};  // between two looks at the token

}  // namespace

void Helpers::end_task() {
  const std::lock_guard lock(mutex_);
  if (--n_tasks_ == 0) changed_.notify_all();
}

void Helpers::help(int worker, const StopToken& token) {
  std::unique_lock lock(mutex_);
  ++n_waiting_;
  while (n_tasks_ > 0) {
    if (Job* const job = find_job()) {
      --n_waiting_;
      take_piece(*job, worker, token, lock);
      ++n_waiting_;
    } else {
      changed_.wait_for(lock, kPatience);
      token.check();
    }
  }
  --n_waiting_;
}

bool Helpers::available() {
  const std::lock_guard lock(mutex_);
  return n_waiting_ > 0;
}

void Helpers::split(std::size_t n_pieces, int worker, const StopToken& token, const Piece& piece) {
  std::unique_lock lock(mutex_);
  if (n_waiting_ == 0) {
    lock.unlock();
    for (std::size_t i = 0; i < n_pieces; ++i) piece(i, worker, token);
    return;
  }
  Job job{piece, n_pieces};
  jobs_.push_back(&job);
  changed_.notify_all();
  try {
    while (job.next < job.n_pieces) take_piece(job, worker, token, lock);
  } catch (...) {  // take_piece() has locked again
    while (job.n_done < job.n_pieces) changed_.wait(lock);
    std::erase(jobs_, &job);
    throw;
  }
  while (job.n_done < job.n_pieces) changed_.wait(lock);
  std::erase(jobs_, &job);
  if (job.failed) throw Stopped{};
}

Helpers::Job* Helpers::find_job() {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [](const Job* job) { return job->next < job->n_pieces; });
  return found == jobs_.end() ? nullptr : *found;
}

// After an exception no further pieces are taken; the ones that run must end first, because they
// use the memory of the task.
void Helpers::take_piece(Job& job, int worker, const StopToken& token,
                         std::unique_lock<std::mutex>& lock) {
  const std::size_t i = job.next++;
  lock.unlock();
  try {
    job.piece(i, worker, token);
  } catch (...) {
    lock.lock();
    job.failed = true;
    job.n_done += 1 + job.n_pieces - job.next;
    job.next = job.n_pieces;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  if (++job.n_done == job.n_pieces) changed_.notify_all();
}

}  // namespace filbert
