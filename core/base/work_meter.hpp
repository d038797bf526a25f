// A limit on the work of a computation, in steps of about a nanosecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/errors.hpp"

namespace filbert {

// All threads add to one sum. The total does not depend on how the threads share the work, so the
// number of threads does not affect whether the limit is exceeded.
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
