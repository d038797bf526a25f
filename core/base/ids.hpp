#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace filbert {

using LabelId = std::uint32_t;
using NodeId = std::uint32_t;
using TreeIndex = std::uint32_t;

// Means "no such id". Ids are 32 bits wide, and no id has this value.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace filbert
