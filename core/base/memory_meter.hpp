// A limit on the memory of a computation.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/show_bytes.hpp"

namespace filbert {

class MemoryMeter {
 public:
  explicit MemoryMeter(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Sets the number of bytes that are kept until the end, as far as it is known.
  void set_kept(std::uint64_t bytes) {
    kept_ = bytes;
    check(0);
  }

  // Changes the number of bytes that are allocated temporarily. Any thread may call this.
  void add(std::uint64_t more, std::uint64_t less = 0) {
    passing_ += more - less;
    if (more > less) check(0);
  }

  // Checks the limit with `more` additional bytes, and updates the maximum.
  void check(std::uint64_t more) {
    const std::uint64_t bytes =
        kept_.load(std::memory_order_relaxed) + passing_.load(std::memory_order_relaxed) + more;
    std::uint64_t most = most_.load(std::memory_order_relaxed);
    while (bytes > most && !most_.compare_exchange_weak(most, bytes)) {
    }
    if (bytes <= max_bytes_) return;
    throw OutOfMemory("the factors would take more than " + show_bytes(static_cast<double>(bytes)) +
                          ", but at most " + show_bytes(static_cast<double>(max_bytes_)) +
                          " are allowed",
                      bytes);
  }

  std::uint64_t most() const { return most_; }

 private:
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> passing_{0};
  std::atomic<std::uint64_t> most_{0};
};

// The temporary memory of one part of the work.
class MemoryShare {
 public:
  explicit MemoryShare(MemoryMeter& meter) : meter_(meter) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare() { meter_.add(0, bytes_); }

  void set(std::uint64_t bytes) {
    const std::uint64_t before = std::exchange(bytes_, bytes);
    meter_.add(bytes, before);
  }

 private:
  MemoryMeter& meter_;
  std::uint64_t bytes_ = 0;
};

}  // namespace filbert
