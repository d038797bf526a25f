// A number with the precision of double and a far wider range. At decay 1, Delta(u, u) doubles with
// every node. For a tree of a few thousand nodes it leaves the range of double, although the
// normalised kernel is an ordinary number.
#pragma once

#include <cmath>
#include <cstdint>

namespace filbert {

// The value is mantissa * 2^(512 * power). The absolute value of a non-zero mantissa stays within
// [2^-256, 2^256], so the product of two mantissas neither overflows nor underflows. One comparison
// per step keeps it in this range.
class Wide {
 public:
  Wide() = default;
  explicit Wide(double value) : mantissa_(value) { settle(); }

  Wide& operator+=(const Wide& other) {
    if (other.mantissa_ == 0.0) return *this;
    if (mantissa_ == 0.0) return *this = other;
    if (power_ == other.power_) {
      mantissa_ += other.mantissa_;
    } else if (power_ > other.power_) {
      if (power_ - other.power_ == 1) mantissa_ += other.mantissa_ * kDown;
    } else {
      const double mine = other.power_ - power_ == 1 ? mantissa_ * kDown : 0.0;
      mantissa_ = other.mantissa_ + mine;
      power_ = other.power_;
    }
    settle();
    return *this;
  }

  Wide& operator-=(Wide other) {
    other.mantissa_ = -other.mantissa_;
    return *this += other;
  }

  Wide& operator*=(const Wide& other) {
    mantissa_ *= other.mantissa_;
    power_ += other.power_;
    settle();
    return *this;
  }

  Wide& operator/=(const Wide& other) {
    mantissa_ /= other.mantissa_;
    power_ -= other.power_;
    settle();
    return *this;
  }

  friend Wide operator+(Wide a, const Wide& b) { return a += b; }
  friend Wide operator-(Wide a, const Wide& b) { return a -= b; }
  friend Wide operator*(Wide a, const Wide& b) { return a *= b; }
  friend Wide operator/(Wide a, const Wide& b) { return a /= b; }

  friend Wide sqrt(const Wide& a) {
    const bool odd = a.power_ & 1;
    Wide root;
    root.mantissa_ = std::sqrt(a.mantissa_) * (odd ? 0x1p256 : 1.0);
    root.power_ = (a.power_ - (odd ? 1 : 0)) / 2;
    root.settle();
    return root;
  }

  // a / (b * c) as a double: the normalised value of a kernel.
  friend double ratio(const Wide& a, const Wide& b, const Wide& c) {
    const Wide quotient = a / b / c;
    return a.is_zero() ? 0.0 : quotient.to_double();
  }

  bool is_zero() const { return mantissa_ == 0.0; }

  // The value is mantissa * 2^(512 * power). If two positive values differ in their powers, the one
  // with the larger power is at least as large.
  double mantissa() const { return mantissa_; }
  std::int64_t power() const { return power_; }

  // Infinity if the value is above the range of double, 0 if it is below.
  double to_double() const { return scale(mantissa_, power_); }

 private:
  static constexpr double kUp = 0x1p512;
  static constexpr double kDown = 0x1p-512;

  static double scale(double x, std::int64_t power) {
    if (power > 4) power = 4;
    if (power < -4) power = -4;
    for (; power > 0; --power) x *= kUp;
    for (; power < 0; ++power) x *= kDown;
    return x;
  }

  void settle() {
    const double size = std::fabs(mantissa_);
    if (size > 0x1p256) {
      mantissa_ *= kDown;
      ++power_;
      if (std::fabs(mantissa_) > 0x1p256) {  // only from a double near the largest one
        mantissa_ *= kDown;
        ++power_;
      }
    } else if (size < 0x1p-256) {
      if (mantissa_ == 0.0) {
        power_ = 0;
      } else {
        mantissa_ *= kUp;
        --power_;
        if (std::fabs(mantissa_) < 0x1p-256) {  // only from a double near the smallest one
          mantissa_ *= kUp;
          --power_;
        }
      }
    }
  }

  double mantissa_ = 0.0;
  std::int64_t power_ = 0;
};

// The same test for both types of numbers.
inline bool is_zero(double x) { return x == 0.0; }
inline bool is_zero(const Wide& x) { return x.is_zero(); }

}  // namespace filbert
