// A small random number generator that gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace filbert {

inline std::uint64_t spread(std::uint64_t x) {  // the finaliser of splitmix64, Steele et al. 2014
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(spread(seed)) {}

  // The state, from which the numbers go on.
  std::uint64_t state() const { return state_; }
  void set_state(std::uint64_t state) { state_ = state; }

  std::uint64_t next() { return spread(state_++); }

  // A number below n. All numbers have the same probability, up to a difference of 2^-32 n.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

  template <class T>
  void shuffle(std::vector<T>& items, std::size_t n) {
    for (std::size_t i = n; i > 1; --i) {
      std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace filbert
