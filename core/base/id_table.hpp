// An open-addressing hash table from keys to 32-bit ids. The keys are stored elsewhere: the caller
// passes the key's hash and a function that compares the key with a stored id. A slot keeps 32 bits
// of the hash beside the id. Most probes of other keys therefore end without reading their data,
// and the table can grow without access to the keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

class IdTable {
 public:
  IdTable() : slots_(kSmallest, kEmpty) {}

  // The id stored under this hash for which same(id) holds, or kNone.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, Same&& same) const {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t i = start_of(tag);; i = (i + 1) & mask()) {
      const std::uint64_t slot = slots_[i];
      if (slot == kEmpty) return kNone;
      if (static_cast<std::uint32_t>(slot >> 32) == tag) {
        const auto id = static_cast<std::uint32_t>(slot);
        if (same(id)) return id;
      }
    }
  }

  // Like find, but if no id is found, stores and returns the new id that make() gives.
  template <class Same, class Make>
  std::uint32_t find_or_insert(std::uint64_t hash, Same&& same, Make&& make) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const std::uint32_t tag = tag_of(hash);
    std::size_t i = start_of(tag);
    for (;; i = (i + 1) & mask()) {
      const std::uint64_t slot = slots_[i];
      if (slot == kEmpty) break;
      if (static_cast<std::uint32_t>(slot >> 32) == tag) {
        const auto id = static_cast<std::uint32_t>(slot);
        if (same(id)) return id;
      }
    }
    const std::uint32_t id = make();
    slots_[i] = (static_cast<std::uint64_t>(tag) << 32) | id;
    ++used_;
    return id;
  }

  // Stores a new id. No stored id may have the same key.
  void insert(std::uint64_t hash, std::uint32_t id) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const std::uint32_t tag = tag_of(hash);
    std::size_t i = start_of(tag);
    while (slots_[i] != kEmpty) i = (i + 1) & mask();
    slots_[i] = (static_cast<std::uint64_t>(tag) << 32) | id;
    ++used_;
  }

  // Fetches the memory in which a hash is looked up, some time before that.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[start_of(tag_of(hash))]); }

  // Makes room for n ids in total.
  void reserve(std::size_t n) {
    while (n * 2 > slots_.size()) grow();
  }

  std::size_t bytes() const { return slots_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t kSmallest = 1024;
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // its id half is kNone

  std::size_t mask() const { return slots_.size() - 1; }

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  // Only the tag is kept of the hash, so the tag also determines the first slot. A multiplication
  // spreads its bits, and the high bits index the table.
  std::size_t start_of(std::uint32_t tag) const {
    const int bits = std::countr_zero(slots_.size());
    return static_cast<std::size_t>((tag * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2, kEmpty);
    old.swap(slots_);
    for (const std::uint64_t slot : old) {
      if (slot == kEmpty) continue;
      std::size_t i = start_of(static_cast<std::uint32_t>(slot >> 32));
      while (slots_[i] != kEmpty) i = (i + 1) & mask();
      slots_[i] = slot;
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace filbert
