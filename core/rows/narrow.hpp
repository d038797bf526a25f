// When doubles are enough for sums over pairs of nodes.
#pragma once

namespace filbert {

// Beyond these bounds, doubles may have lost digits on the way: what was computed is computed again
// with Wide.
inline constexpr double kLargestNarrow = 1e300;
inline constexpr double kSmallestDelta = 1e-200;

}  // namespace filbert
