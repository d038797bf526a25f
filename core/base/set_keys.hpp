// 128-bit keys for sets of small numbers. The key of a set is the sum of a pseudo-random number for
// each member. Among 10^9 sets, two different sets have the same key with a probability of 10^-20.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/rng.hpp"

namespace filbert {

struct SetKey {
  std::uint64_t a = 0, b = 0;

  SetKey& operator+=(const SetKey& other) {
    a += other.a;
    b += other.b;
    return *this;
  }
  bool operator==(const SetKey&) const = default;
};

inline SetKey set_key(std::uint64_t member) {
  return {spread(member), spread(member ^ 0xa5a5a5a5a5a5a5a5ULL)};
}

// Of a member that has this value in the set.
inline SetKey with_value(const SetKey& key, double value) {
  const std::uint64_t times = spread(std::bit_cast<std::uint64_t>(value)) | 1;
  return {key.a * times, key.b * times};
}

inline std::size_t scratch_hash(const SetKey& key) { return static_cast<std::size_t>(key.a); }
inline std::size_t scratch_hash(std::uint32_t key) {
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 20);
}

inline std::size_t scratch_hash(std::uint64_t key) { return static_cast<std::size_t>(spread(key)); }

// A map that is cleared in constant time and keeps its memory. Clearing also reduces the number of
// slots in use, so that a few keys lie close together even after the map held many.
template <class Key, class Value>
class ScratchMap {
 public:
  ScratchMap() : slots_(kLeast) {}

  void clear() {
    size_ = 0;
    mask_ = kLeast - 1;
    if (++epoch_ == 0) {
      for (Slot& slot : slots_) slot.epoch = 0;
      epoch_ = 1;
    }
  }

  // The value of a key, inserted if the key is missing.
  Value& at(const Key& key) {
    if ((size_ + 1) * 2 > mask_ + 1) grow();
    Slot& slot = find(key);
    if (slot.epoch != epoch_) {
      slot = {epoch_, key, Value{}};
      ++size_;
    }
    return slot.value;
  }

  // The value of a key. If the key is missing: null, or a new value if it `inserts`.
  Value* find(const Key& key, bool inserts) {
    Slot* slot = &find(key);
    if (slot->epoch != epoch_) {
      if (!inserts) return nullptr;
      if ((size_ + 1) * 2 > mask_ + 1) {
        grow();
        slot = &find(key);
      }
      *slot = {epoch_, key, Value{}};
      ++size_;
    }
    return &slot->value;
  }

  // The value of a key, or null.
  const Value* get(const Key& key) {
    const Slot& slot = find(key);
    return slot.epoch == epoch_ ? &slot.value : nullptr;
  }

  // Prefetches the slot of a key before it is needed.
  void prefetch(const Key& key) const {
    __builtin_prefetch(slots_.data() + (scratch_hash(key) & mask_));
  }

  std::size_t size() const { return size_; }
  std::uint64_t bytes() const { return (slots_.size() + moving_.capacity()) * sizeof(Slot); }

  // Makes room for n keys in total.
  void reserve(std::size_t n) {
    while (n * 2 > mask_ + 1) grow();
  }

 private:
  static constexpr std::size_t kLeast = 64;

  struct Slot {
    std::uint32_t epoch = 0;
    Key key{};
    Value value{};
  };

  Slot& find(const Key& key) {
    std::size_t i = scratch_hash(key) & mask_;
    while (slots_[i].epoch == epoch_ && !(slots_[i].key == key)) i = (i + 1) & mask_;
    return slots_[i];
  }

  // By a factor of 4: maps that are filled again and again spend less time on moving.
  void grow() {
    moving_.clear();
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (slots_[i].epoch != epoch_) continue;
      moving_.push_back(slots_[i]);
      slots_[i].epoch = 0;
    }
    mask_ = 4 * mask_ + 3;
    if (mask_ >= slots_.size()) {
      slots_.assign(mask_ + 1, Slot{});
      epoch_ = 1;
    }
    for (Slot& slot : moving_) {
      slot.epoch = epoch_;
      find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Slot> moving_;
  std::size_t mask_ = kLeast - 1;  // of the slots in use
  std::size_t size_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace filbert
