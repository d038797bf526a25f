// A lock for one writer that works for long, and readers that need not wait until it has finished:
// the writer offers turns at points where what it writes is consistent.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>

#include "base/parallel.hpp"

namespace filbert {

// Writer and readers alternate, so that neither waits forever: a turn of the readers admits those
// that wait when it begins, and the writer goes on when these have finished.
class Turns {
 public:
  // The exclusive lock, held from construction to destruction except in `offer`.
  class Writing {
   public:
    // Throws std::logic_error where there is a writer, and Stopped where the token stops the wait.
    Writing(Turns& turns, const StopToken& token) : turns_(turns), token_(token) {
      if (turns_.has_writer_.exchange(true)) throw std::logic_error("there is another writer");
      try {
        lock();
      } catch (...) {
        turns_.has_writer_ = false;
        throw;
      }
    }
    ~Writing() {
      if (held_) unlock();
      turns_.has_writer_ = false;
    }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

    // Lets the readers in that wait.
    void offer() {
      if (turns_.n_waiting_.load(std::memory_order_relaxed) == 0) return;
      unlock();
      lock();
    }

   private:
    void lock();
    void unlock();

    Turns& turns_;
    const StopToken& token_;
    bool held_ = false;
  };

  // A shared lock. A thread that has one gets another at once: a signal handler may read, too.
  class Reading {
   public:
    // Calls the watch about every 30 ms while it waits; an exception of the watch ends that.
    Reading(Turns& turns, const Watch& watch) : turns_(turns) {
      while (!turns_.admitted()) watch(0, 0);
      ++n_held();
    }
    ~Reading() {
      --n_held();
      const std::lock_guard lock(turns_.mutex_);
      if (--turns_.n_reading_ == 0) turns_.changed_.notify_all();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Turns& turns_;
  };

 private:
  static constexpr std::chrono::milliseconds kPatience{30};

  // Shared locks of this thread.
  static int& n_held() {
    thread_local int n = 0;
    return n;
  }

  // Waits for a while to be let in, and tells whether that has happened.
  bool admitted() {
    std::unique_lock lock(mutex_);
    if (!is_writing_ && (!writer_waits_ || n_held() > 0)) {
      ++n_reading_;
      return true;
    }
    const std::uint64_t turn = turn_;
    ++n_waiting_;
    if (changed_.wait_for(lock, kPatience, [&] { return turn_ != turn; })) return true;
    --n_waiting_;
    return false;
  }

  // Those who wait read from now on, even before they wake up.
  void admit_waiting() {
    n_reading_ += n_waiting_.exchange(0);
    ++turn_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> has_writer_{false};
  bool is_writing_ = false;
  bool writer_waits_ = false;
  int n_reading_ = 0;
  std::atomic<int> n_waiting_{0};  // readers
  std::uint64_t turn_ = 0;         // of readers
};

inline void Turns::Writing::lock() {
  std::unique_lock lock(turns_.mutex_);
  turns_.writer_waits_ = true;
  while (!turns_.changed_.wait_for(lock, kPatience, [&] { return turns_.n_reading_ == 0; })) {
    try {
      token_.check();
    } catch (...) {
      turns_.writer_waits_ = false;
      turns_.admit_waiting();
      throw;
    }
  }
  turns_.writer_waits_ = false;
  turns_.is_writing_ = true;
  held_ = true;
}

inline void Turns::Writing::unlock() {
  const std::lock_guard lock(turns_.mutex_);
  turns_.is_writing_ = false;
  held_ = false;
  turns_.admit_waiting();
}

}  // namespace filbert
