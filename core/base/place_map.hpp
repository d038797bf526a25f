// A small hash map from 32-bit ids to numbers 0, 1, 2, ... in the order of insertion.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace filbert {

class PlaceMap {
 public:
  std::uint32_t size() const { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint32_t id(std::uint32_t place) const { return ids_[place]; }

  // Returns kNone if the map does not contain the id.
  std::uint32_t find(std::uint32_t id) const { return slots_[slot_of(id)].place; }

  // Returns the number of the id. The id is new if its number equals the previous size.
  std::uint32_t insert(std::uint32_t id) {
    if ((ids_.size() + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[slot_of(id)];
    if (slot.place == kNone) {
      slot = {id, size()};
      ids_.push_back(id);
    }
    return slot.place;
  }

  // Keeps the memory. The time is linear in the number of ids.
  void clear() {
    if (ids_.size() * 8 > slots_.size()) {
      slots_.assign(slots_.size(), Slot{});
    } else {
      // The id inserted last is at the end of its probe sequence. Removing the ids in reverse order
      // of insertion therefore leaves no gaps.
      for (std::size_t i = ids_.size(); i-- > 0;) slots_[slot_of(ids_[i])] = Slot{};
    }
    ids_.clear();
  }

 private:
  struct Slot {
    std::uint32_t id = kNone;
    std::uint32_t place = kNone;
  };

  // The slot of the id, or the empty slot where it would be inserted.
  std::size_t slot_of(std::uint32_t id) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (id * 0x9e3779b97f4a7c15ULL) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[i].place != kNone && slots_[i].id != id) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, Slot{});
    for (std::uint32_t place = 0; place < ids_.size(); ++place) {
      slots_[slot_of(ids_[place])] = {ids_[place], place};
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(32);
  std::vector<std::uint32_t> ids_;
};

}  // namespace filbert
