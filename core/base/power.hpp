// Powers with integer exponents, with the same rounding everywhere.
#pragma once

#include <cstdint>

namespace filbert {

inline double power(double base, std::uint32_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) result *= base;
  }
  return result;
}

}  // namespace filbert
