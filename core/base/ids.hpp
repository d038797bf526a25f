#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace filbert {

using LabelId = std::uint32_t;
using NodeId = std::uint32_t;
using TreeIndex = std::uint32_t;

// "No such id": ids are 32 bits wide and this one is never given out.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace filbert
