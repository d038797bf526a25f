#include <chrono>
#include <exception>
#include <random>

#include "base/hash.hpp"
#include "base/rng.hpp"

namespace filbert {
namespace {

std::uint64_t random_number() {
  try {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  } catch (const std::exception&) {  // a system without a source of random numbers
    const auto now = std::chrono::high_resolution_clock::now().time_since_epoch().count();
    return spread(static_cast<std::uint64_t>(now));
  }
}

// Multipliers: odd, and with high bits set.
std::uint64_t random_multiplier() { return random_number() | 0x8000000000000001ULL; }

}  // namespace

const HashSeed hash_seed{random_multiplier(), random_multiplier()};

}  // namespace filbert
