// Hash functions for byte strings and for short id sequences. The tables that use them always
// compare the keys in full, so a collision costs time and never correctness. They number their keys
// in the order of insertion, so no result depends on the hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace filbert {

// Folds the two halves of a 64 x 64 bit product. One multiplication mixes all bits.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using u128 = unsigned __int128;
  const u128 product = static_cast<u128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t kHashA = 0x9e3779b97f4a7c15ULL;
inline constexpr std::uint64_t kHashB = 0xd1b54a32d192ed03ULL;

// Numbers of this process for the hashes of what users pass. With numbers that everybody knows,
// labels could be made whose hashes are all equal, and reading n of them would take n^2 steps.
struct HashSeed {
  std::uint64_t a, b;
};
[[gnu::visibility("hidden")]] extern const HashSeed hash_seed;  // hidden: read without a detour

inline std::uint64_t hash_ids(std::uint32_t head, std::span<const std::uint32_t> tail) {
  const HashSeed seed = hash_seed;
  std::uint64_t h = mix(head ^ seed.a, seed.b + tail.size());
  std::size_t i = 0;
  for (; i + 2 <= tail.size(); i += 2) {
    const std::uint64_t two = tail[i] | (static_cast<std::uint64_t>(tail[i + 1]) << 32);
    h = mix(h ^ two, seed.a);
  }
  if (i < tail.size()) h = mix(h ^ tail[i], seed.b);
  return h;
}

// The first eight bytes of a text as one number, padded with zeros. Texts of at most eight bytes
// are equal if their lengths and these numbers are equal.
inline std::uint64_t first_eight(std::string_view text) {
  const char* const p = text.data();
  const std::size_t n = text.size();
  if (n >= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
  }
  if (n >= 4) {  // two overlapping halves
    std::uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + n - 4, 4);
    return low | (static_cast<std::uint64_t>(high) << (8 * (n - 4)));
  }
  if (n == 0) return 0;
  const auto byte = [&](std::size_t i) {  // n < 4: these three cover all bytes
    return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

inline std::uint64_t hash_short(std::uint64_t first_eight, std::size_t size) {
  return mix(first_eight ^ hash_seed.a, hash_seed.b + size);
}

inline std::uint64_t hash_bytes(std::string_view text) {
  const std::uint64_t a = hash_seed.a;
  std::uint64_t h = hash_short(first_eight(text), text.size());
  while (text.size() > 8) {
    text.remove_prefix(8);
    h = mix(h ^ first_eight(text), a);
  }
  return h;
}

}  // namespace filbert
