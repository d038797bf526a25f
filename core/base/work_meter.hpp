// The work that a computation may take, in steps of about a nanosecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/errors.hpp"

namespace filbert {

// Threads add to one sum, and how much they add in all does not depend on who does what: whether
// the limit is exceeded does not depend on the threads.
class WorkMeter {
 public:
  explicit WorkMeter(double max_steps) : max_steps_(max_steps) {}

  void add(std::uint64_t steps) {
    const auto sum =
        static_cast<double>(steps_.fetch_add(steps, std::memory_order_relaxed) + steps);
    if (sum > max_steps_) throw WorkExceeded(max_steps_);
  }

  std::uint64_t steps() const { return steps_; }

 private:
  double max_steps_;
  std::atomic<std::uint64_t> steps_{0};
};

}  // namespace filbert
