#include "rows/partial_columns.hpp"

#include <algorithm>

namespace filbert {

void PartialColumns::add_chunk(std::span<const std::vector<Child>> lanes) {
  LaneChunk chunk{0, slots_.size(), 0};
  for (const auto& children : lanes) {
    chunk.n_slots = std::max<std::uint64_t>(chunk.n_slots, children.size());
  }
  for (std::size_t j = 0; j < chunk.n_slots; ++j) {
    LaneSlot slot{};
    for (std::size_t lane = 0; lane < kColumns; ++lane) {
      const bool there = j < lanes[lane].size();
      slot.label[lane] = there ? lanes[lane][j].label : kNone;
      slot.place[lane] = there ? lanes[lane][j].place : 0;
      if (slot.label[lane] != kNone) slot.bits |= label_bit(slot.label[lane]);
      if (as_sets_) multiplicities_.push_back(there ? lanes[lane][j].times : 0.0);
    }
    const bool same = std::all_of(slot.label, slot.label + kColumns,
                                  [&](std::uint32_t label) { return label == slot.label[0]; });
    slot.same = same ? slot.label[0] : kNone;
    chunk.bits |= slot.bits;
    slots_.push_back(slot);
  }
  chunks_.push_back(chunk);
}

}  // namespace filbert
