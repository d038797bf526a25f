// Columns in the order of their frequency: frequent columns get small numbers, so that they are
// close together and stay in the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace filbert {

// Columns of about the same frequency are one class, the most frequent first.
inline constexpr std::size_t kFrequencyClasses = 64 * 8;
inline std::size_t frequency_class(double count) {
  const double steps = 8.0 * std::log2(std::max(1.0, count));
  return kFrequencyClasses - 1 - std::min(static_cast<std::size_t>(steps), kFrequencyClasses - 1);
}

}  // namespace filbert
