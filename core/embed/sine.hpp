// Sine, cosine and logarithm, computed only from sums, products, quotients and square roots. These
// operations are rounded in the same way everywhere, unlike the functions of the maths libraries.
// The compiler can also vectorise a loop around them. The functions are static because files that
// are compiled for different processors include them and must not share them.
#pragma once

#include <bit>
#include <cstdint>

namespace filbert {

struct SineCosine {
  double sine, cosine;
};

// Sine and cosine of an angle in turns, from -1/2 to 1/2, to about 4e-16. The series are evaluated
// at a quarter of the angle, at most pi / 4. The result is then doubled twice to the full angle.
static inline SineCosine sine_cosine(double turns) {
  const double x = turns * 1.5707963267948966;
  const double y = x * x;
  double s = -1.0 / 1307674368000.0;
  s = s * y + 1.0 / 6227020800.0;
  s = s * y - 1.0 / 39916800.0;
  s = s * y + 1.0 / 362880.0;
  s = s * y - 1.0 / 5040.0;
  s = s * y + 1.0 / 120.0;
  s = s * y - 1.0 / 6.0;
  s = x + x * y * s;
  double c = 1.0 / 20922789888000.0;
  c = c * y - 1.0 / 87178291200.0;
  c = c * y + 1.0 / 479001600.0;
  c = c * y - 1.0 / 3628800.0;
  c = c * y + 1.0 / 40320.0;
  c = c * y - 1.0 / 720.0;
  c = c * y + 1.0 / 24.0;
  c = c * y - 0.5;
  c = 1.0 + y * c;
  const double s2 = 2.0 * s * c;
  const double c2 = 1.0 - 2.0 * s * s;
  return {2.0 * s2 * c2, 1.0 - 2.0 * s2 * s2};
}

// Logarithm of a positive normal number. The absolute error is about 1e-16 near 1. With u = m 2^e,
// m from 1 to 2 and t = (m - sqrt 2) / (m + sqrt 2): ln u = (e + 1/2) ln 2 + 2 artanh t.
static inline double natural_log(double u) {
  constexpr double kRootTwo = 1.4142135623730951;
  constexpr double kLogTwo = 0.6931471805599453;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(u);
  // Puts the exponent's bits into the low bits of 2^52: a conversion that has a vector instruction.
  const double exponent =
      std::bit_cast<double>((bits >> 52) | 0x4330000000000000ULL) - (4503599627370496.0 + 1023.0);
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  const double t = (m - kRootTwo) / (m + kRootTwo);
  const double y = t * t;
  double sum = 1.0 / 21.0;
  sum = sum * y + 1.0 / 19.0;
  sum = sum * y + 1.0 / 17.0;
  sum = sum * y + 1.0 / 15.0;
  sum = sum * y + 1.0 / 13.0;
  sum = sum * y + 1.0 / 11.0;
  sum = sum * y + 1.0 / 9.0;
  sum = sum * y + 1.0 / 7.0;
  sum = sum * y + 1.0 / 5.0;
  sum = sum * y + 1.0 / 3.0;
  sum = sum * y + 1.0;
  return (exponent + 0.5) * kLogTwo + 2.0 * t * sum;
}

}  // namespace filbert
