// Tests Wide against numbers with separate mantissa and exponent, over the whole range of double
// and far beyond.
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/wide.hpp"
#include "check.hpp"

namespace filbert {

namespace {

using Limits = std::numeric_limits<double>;

constexpr double kOneRounding = 4e-16;

// mantissa * 2^exponent, the mantissa in [1/2, 1) or zero.
struct Scaled {
  long double mantissa = 0;
  std::int64_t exponent = 0;

  Scaled(long double value, std::int64_t shift) {
    int own = 0;
    mantissa = std::frexp(value, &own);
    exponent = own + shift;
  }
  explicit Scaled(double value) : Scaled(static_cast<long double>(value), 0) {}
};

Scaled operator*(Scaled a, Scaled b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }

Scaled operator/(Scaled a, Scaled b) { return {a.mantissa / b.mantissa, a.exponent - b.exponent}; }

Scaled operator+(Scaled a, Scaled b) {
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  if (a.exponent < b.exponent) std::swap(a, b);
  const std::int64_t apart = a.exponent - b.exponent;
  if (apart > 200) return a;
  return {a.mantissa + std::ldexp(b.mantissa, -static_cast<int>(apart)), a.exponent};
}

Scaled operator-(Scaled a, Scaled b) { return a + Scaled(-b.mantissa, b.exponent); }

Scaled root(Scaled a) {
  const bool odd = a.exponent % 2 != 0;
  return {std::sqrt(odd ? a.mantissa * 2 : a.mantissa), (a.exponent - (odd ? 1 : 0)) / 2};
}

double narrowed(Scaled a) {
  if (a.exponent > 3000) return Limits::infinity();
  if (a.exponent < -3000) return 0.0;
  return static_cast<double>(std::ldexp(a.mantissa, static_cast<int>(a.exponent)));
}

// 2^exponent, exactly.
Wide power_of_two(std::int64_t exponent) {
  Wide factor(exponent < 0 ? 0.5 : 2.0);
  Wide power(1.0);
  for (std::int64_t left = std::abs(exponent); left > 0; left /= 2) {
    if (left % 2 == 1) power *= factor;
    factor *= factor;
  }
  return power;
}

void check_value(const Wide& actual, Scaled expected, double tolerance) {
  const double mantissa = ratio(actual, power_of_two(expected.exponent), Wide(1.0));
  CHECK_NEAR(mantissa, static_cast<double>(expected.mantissa), tolerance);
}

// Every exponent is as likely, those of subnormals too.
double random_double(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random() >> 1);
    if (std::isfinite(value) && value != 0.0) return value;
  }
}

std::vector<double> edges() {
  std::vector<double> values{Limits::denorm_min(), Limits::min(), Limits::max(), 1.0};
  for (const int exponent : {-1022, -768, -512, -256, -1, 1, 256, 512, 768, 1023}) {
    const double value = std::ldexp(1.0, exponent);
    values.push_back(std::nextafter(value, 0.0));
    values.push_back(value);
    values.push_back(std::nextafter(value, Limits::infinity()));
  }
  return values;
}

void doubles_come_back() {
  for (const double value : edges()) CHECK_EQUAL(Wide(value).to_double(), value);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const double value = random_double(random);
    CHECK_EQUAL(Wide(value).to_double(), value);
  }
}

void zero_is_neutral() {
  const Wide zero;
  const Wide large = power_of_two(5000);
  CHECK(zero.is_zero());
  CHECK(Wide(0.0).is_zero());
  CHECK(!Wide(Limits::denorm_min()).is_zero());
  CHECK_EQUAL(zero.to_double(), 0.0);
  CHECK_EQUAL((zero + Wide(3.0)).to_double(), 3.0);
  CHECK_EQUAL((Wide(3.0) + zero).to_double(), 3.0);
  CHECK((zero + zero).is_zero());
  CHECK((large * zero).is_zero());
  CHECK((zero * large).is_zero());
  CHECK(sqrt(zero).is_zero());
  CHECK_EQUAL(ratio(zero, large, large), 0.0);
  CHECK_EQUAL(ratio(zero, zero, zero), 0.0);
}

void zero_forgets_its_power() {
  CHECK_EQUAL((power_of_two(5000) * Wide(0.0) + Wide(3.0)).to_double(), 3.0);
  CHECK_EQUAL((power_of_two(-5000) * Wide(0.0) + Wide(3.0)).to_double(), 3.0);
}

void edges_multiply_add_and_divide() {
  for (const double a : edges()) {
    for (const double b : edges()) {
      check_value(Wide(a) * Wide(b), Scaled(a) * Scaled(b), kOneRounding);
      check_value(Wide(a) + Wide(b), Scaled(a) + Scaled(b), kOneRounding);
      const double quotient = ratio(Wide(a) * Wide(b), Wide(b), Wide(1.0));
      CHECK_NEAR(quotient, a, a < Limits::min() ? 0.5 : 4 * kOneRounding);
    }
  }
}

void random_pairs_multiply_and_add() {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50000; ++i) {
    const double a = random_double(random);
    const double b = random_double(random);
    check_value(Wide(a) * Wide(b), Scaled(a) * Scaled(b), kOneRounding);
    check_value(Wide(a) + Wide(b), Scaled(a) + Scaled(b), kOneRounding);
  }
}

// Differences are as exact as those of doubles: a relative error of the larger, not of the result.
void random_pairs_subtract() {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50000; ++i) {
    const double a = random_double(random);
    const double near = a * (0.5 + static_cast<double>(random() % 1000) / 2000);
    for (const double b : {random_double(random), near}) {
      const Scaled size = Scaled(std::fmax(a, b));
      const double actual = ratio(Wide(a) - Wide(b), power_of_two(size.exponent), Wide(1.0));
      const Scaled expected = (Scaled(a) - Scaled(b)) / Scaled(1.0L, size.exponent);
      CHECK(std::fabs(actual - narrowed(expected)) <= kOneRounding);
    }
  }
}

void differences_of_equal_values() {
  for (std::int64_t exponent = -5000; exponent <= 5000; exponent += 13) {
    const Wide value = power_of_two(exponent);
    CHECK((value - value).is_zero());
    CHECK((value - power_of_two(exponent + 300) * power_of_two(-300)).is_zero());
    CHECK_EQUAL(ratio(value + value - value, value, Wide(1.0)), 1.0);
    CHECK_EQUAL(ratio(value - (value + value), value, Wide(1.0)), -1.0);
  }
}

void sums_of_different_sizes() {
  const Wide large = power_of_two(5000);
  const Wide small = power_of_two(-5000);
  CHECK_EQUAL(ratio(large + small, large, Wide(1.0)), 1.0);
  CHECK_EQUAL(ratio(small + large, large, Wide(1.0)), 1.0);
  CHECK_EQUAL((Wide(1.0) + small).to_double(), 1.0);
  for (std::int64_t apart = 1; apart <= 52; ++apart) {  // both within one double
    for (std::int64_t base = -2000; base <= 2000; base += 37) {
      const Wide sum = power_of_two(base) + power_of_two(base - apart);
      const double expected = 1.0 + std::ldexp(1.0, -static_cast<int>(apart));
      CHECK_EQUAL(ratio(sum, power_of_two(base), Wide(1.0)), expected);
    }
  }
}

void geometric_series() {
  Wide upwards, downwards;
  for (int exponent = -3000; exponent < 3000; ++exponent) upwards += power_of_two(exponent);
  for (int exponent = 2999; exponent >= -3000; --exponent) downwards += power_of_two(exponent);
  CHECK_NEAR(ratio(upwards, power_of_two(3000), Wide(1.0)), 1.0, kOneRounding);
  CHECK_NEAR(ratio(downwards, power_of_two(3000), Wide(1.0)), 1.0, kOneRounding);
}

void counting_is_exact() {
  Wide sum;
  for (int i = 0; i < 100000; ++i) sum += Wide(1.0);
  CHECK_EQUAL(sum.to_double(), 100000.0);
}

void long_products() {
  std::mt19937_64 random(3);
  Wide product(1.0);
  Scaled expected(1.0);
  for (int i = 0; i < 100000; ++i) {
    const double factor = random_double(random);
    product *= Wide(factor);
    expected = expected * Scaled(factor);
  }
  check_value(product, expected, 1e5 * kOneRounding);
}

void long_products_in_one_direction() {
  for (const double factor : {Limits::max(), 1e300, 3.0, 1.0 / 3.0, 1e-300, Limits::denorm_min()}) {
    Wide product(1.0);
    Scaled expected(1.0);
    for (int i = 0; i < 100000; ++i) {
      product *= Wide(factor);
      expected = expected * Scaled(factor);
    }
    check_value(product, expected, 1e5 * kOneRounding);
  }
}

void powers_of_two_are_exact() {
  Wide value(1.0);
  for (int i = 0; i < 100000; ++i) value *= Wide(0x1p37);
  CHECK_EQUAL(value.to_double(), Limits::infinity());
  for (int i = 0; i < 100000; ++i) value *= Wide(0x1p-37);
  CHECK_EQUAL(value.to_double(), 1.0);
}

void random_walk() {
  std::mt19937_64 random(4);
  Wide value(1.0);
  Scaled expected(1.0);
  for (int i = 0; i < 20000; ++i) {
    const double step = random_double(random);
    if (random() % 2 == 0) {
      value *= Wide(step);
      expected = expected * Scaled(step);
    } else {
      value += Wide(step);
      expected = expected + Scaled(step);
    }
  }
  check_value(value, expected, 2e4 * kOneRounding);
}

void square_roots() {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const double a = random_double(random);
    const double b = random_double(random);
    check_value(sqrt(Wide(a)), root(Scaled(a)), kOneRounding);
    check_value(sqrt(Wide(a) * Wide(b)), root(Scaled(a) * Scaled(b)), 2 * kOneRounding);
  }
  for (std::int64_t exponent = -6000; exponent <= 6000; exponent += 2) {
    const Wide half_way = sqrt(power_of_two(exponent));
    CHECK_EQUAL(ratio(half_way, power_of_two(exponent / 2), Wide(1.0)), 1.0);
  }
}

void ratios() {
  std::mt19937_64 random(6);
  for (int i = 0; i < 50000; ++i) {
    const double a = random_double(random);
    const double b = random_double(random);
    const double c = random_double(random);
    const double expected = narrowed(Scaled(a) / Scaled(b) / Scaled(c));
    const bool ordinary = expected == 0.0 || expected >= Limits::min();
    CHECK_NEAR(ratio(Wide(a), Wide(b), Wide(c)), expected, ordinary ? 2 * kOneRounding : 0.5);
  }
}

// a / (b * c) = 2^exponent, whatever the sizes of b and c.
template <class MakeDivisor>
void check_ratios(std::int64_t from, std::int64_t to, const MakeDivisor& divisor) {
  for (const int exponent : {-1022, -300, -100, 0, 10, 100, 300, 1023}) {
    for (std::int64_t b = from; b <= to; b += 61) {
      for (std::int64_t c = from; c <= to; c += 67) {
        const Wide a = power_of_two(b + c + exponent);
        CHECK_EQUAL(ratio(a, divisor(b), divisor(c)), std::ldexp(1.0, exponent));
      }
    }
  }
}

void ratios_by_values_beyond_double() { check_ratios(-4000, 4000, power_of_two); }

void ratios_by_doubles() {
  check_ratios(-1074, 1023, [](std::int64_t exponent) {
    return Wide(std::ldexp(1.0, static_cast<int>(exponent)));
  });
}

void too_large_for_double() {
  CHECK_EQUAL((Wide(Limits::max() / 2) * Wide(2.0)).to_double(), Limits::max());
  CHECK_EQUAL((Wide(0x1p1023) * Wide(2.0)).to_double(), Limits::infinity());
  CHECK_EQUAL((Wide(Limits::max()) + Wide(Limits::max())).to_double(), Limits::infinity());
  for (std::int64_t exponent = 1024; exponent < 100000; exponent += 251) {
    CHECK_EQUAL(power_of_two(exponent).to_double(), Limits::infinity());
  }
}

void too_small_for_double() {
  CHECK_EQUAL((Wide(Limits::min()) * Wide(0x1p-52)).to_double(), Limits::denorm_min());
  CHECK_EQUAL((Wide(Limits::denorm_min()) * Wide(0.75)).to_double(), Limits::denorm_min());
  CHECK_EQUAL((Wide(Limits::denorm_min()) * Wide(0.25)).to_double(), 0.0);
  CHECK(!(Wide(Limits::denorm_min()) * Wide(0.25)).is_zero());
  for (std::int64_t exponent = 1076; exponent < 100000; exponent += 251) {
    CHECK_EQUAL(power_of_two(-exponent).to_double(), 0.0);
    CHECK(!power_of_two(-exponent).is_zero());
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(doubles_come_back),
      TEST(zero_is_neutral),
      TEST(zero_forgets_its_power),
      TEST(edges_multiply_add_and_divide),
      TEST(random_pairs_multiply_and_add),
      TEST(random_pairs_subtract),
      TEST(differences_of_equal_values),
      TEST(sums_of_different_sizes),
      TEST(geometric_series),
      TEST(counting_is_exact),
      TEST(long_products),
      TEST(long_products_in_one_direction),
      TEST(powers_of_two_are_exact),
      TEST(random_walk),
      TEST(square_roots),
      TEST(ratios),
      TEST(ratios_by_values_beyond_double),
      TEST(ratios_by_doubles),
      TEST(too_large_for_double),
      TEST(too_small_for_double),
  });
}
