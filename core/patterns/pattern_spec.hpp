// The parameters of local patterns: which patterns there are, and what their counts are worth.
#pragma once

#include <cmath>
#include <cstdint>

namespace filbert {

enum class Damping : std::uint8_t { log, sqrt, none };

// The families of patterns. A kind is a family and a level: the number of nodes of a path, the
// depth of a cut subtree, the length of a run of siblings or leaves, and 0 for the others.
enum class Family : std::uint8_t { label, path, production, subtree, siblings, leaves };
inline constexpr std::size_t kFamilies = 6;

struct PatternSpec {
  bool labels = true;
  std::uint32_t paths = 3;  // 1: none
  bool productions = true;
  std::uint32_t subtree_depth = 2;  // 1: none
  std::uint32_t siblings = 2;       // 1: none
  std::uint32_t leaves = 1;         // 1: none
  Damping damping = Damping::log;
  double decay = 1.0;
  bool family_norms = false;

  // The damped count, divided by that of a pattern that occurs once: most values are 1.
  double value(double count) const {
    if (count == 1.0 || damping == Damping::none) return count;
    return damping == Damping::log ? std::log1p(count) / std::log1p(1.0) : std::sqrt(count);
  }
  // The square of the damped count of a pattern that occurs once.
  double unit() const { return damping == Damping::log ? std::log1p(1.0) * std::log1p(1.0) : 1.0; }
  bool counts(Family family) const {
    if (family == Family::label) return labels;
    return family != Family::production || productions;
  }
};

}  // namespace filbert
