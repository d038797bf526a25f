#include "embed/composition.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "base/rng.hpp"
#include "embed/sine.hpp"

namespace filbert {

namespace {

// These differ from the keys of labels, which are spread once more.
constexpr std::uint64_t kLeft = 0x6c656674ULL;     // "left"
constexpr std::uint64_t kRight = 0x7269676874ULL;  // "right"

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Rng(seed).shuffle(order, n);
  return order;
}

SineCosine unit(std::size_t part, std::size_t whole) {
  double turns = static_cast<double>(part % whole) / static_cast<double>(whole);
  if (turns >= 0.5) turns -= 1.0;
  return sine_cosine(turns);
}

// The frequency that a transform of n rows leaves in a row: see the columns in fft.inc.
std::size_t frequency_of(std::size_t row, std::size_t n) {
  constexpr std::size_t kFirst[] = {0, 2, 1, 3};
  std::size_t frequency = 0, step = 1;
  for (; n >= 4; n /= 4, step *= 4) {
    frequency += step * kFirst[row / (n / 4)];
    row %= n / 4;
  }
  return frequency + step * row;
}

}  // namespace

template <class T>
Composition<T>::Composition(std::size_t d, ComposeBy compose_by, double decay, std::uint64_t seed,
                            Components components)
    : by(compose_by),
      n_components(d),
      form_size(by == ComposeBy::product || std::has_single_bit(d) ? d : std::bit_ceil(2 * d - 1)),
      root_decay(static_cast<T>(std::sqrt(decay))) {
  shuffle_orders(seed);
  if (by == ComposeBy::product) {
    measure_gamma(seed, components);
  } else {
    make_twiddles();
    make_twists();
    make_turns();
  }
}

template <class T>
void Composition<T>::shuffle_orders(std::uint64_t seed) {
  left_order = shuffled(n_components, spread(seed) ^ kLeft);
  right_order = shuffled(n_components, spread(seed) ^ kRight);
}

template <class T>
void Composition<T>::make_twiddles() {
  const std::size_t size = std::max<std::size_t>(12, form_size);
  twiddles = aligned_array<T>(size);
  for (std::size_t q = 1; 12 * q <= size; q *= 2) {
    for (std::size_t j = 0; j < q; ++j) {
      for (std::size_t power = 1; power <= 3; ++power) {
        const SineCosine w = unit(power * j, 4 * q);
        twiddles[6 * (q + j) + 2 * (power - 1)] = static_cast<T>(w.cosine);
        twiddles[6 * (q + j) + 2 * (power - 1) + 1] = static_cast<T>(-w.sine);
      }
    }
  }
}

template <class T>
void Composition<T>::make_twists() {
  twists = aligned_array<T>(std::max<std::size_t>(4, form_size));
  for (std::size_t q = 1; 4 * q <= form_size; q *= 2) {
    for (std::size_t j = 0; j < q; ++j) {
      const SineCosine twist = unit(j, 4 * q);  // e^(i pi j / h), h = 2 q
      twists[2 * q + j] = static_cast<T>(twist.cosine);
      twists[3 * q + j] = static_cast<T>(twist.sine);
    }
  }
}

template <class T>
void Composition<T>::make_turns() {
  constexpr std::size_t kPack = 32 / sizeof(T);
  turns = aligned_array<T>(form_size);
  for (std::size_t n = kPack * kPack; 4 * n <= form_size; n *= 2) {
    for (std::size_t row = 0; row < n / kPack; ++row) {
      const std::size_t frequency = frequency_of(row, n / kPack);
      for (std::size_t j = 0; j < kPack; ++j) {
        const SineCosine w = unit(frequency * j, n);
        turns[2 * n + 2 * row * kPack + j] = static_cast<T>(w.cosine);
        turns[2 * n + (2 * row + 1) * kPack + j] = static_cast<T>(-w.sine);
      }
    }
  }
}

// Gamma in the paper is "a normalization scalar parameter, computed as the average norm of the
// element-wise product of two vectors". Products should have norm 1 on average, so gamma here is
// the inverse of that norm. No label has a zero byte, so the vectors used here belong to no label.
// For signs, gamma is sqrt(d) up to rounding.
template <class T>
void Composition<T>::measure_gamma(std::uint64_t seed, Components components) {
  constexpr int kSamples = 100;
  const LabelVectors vectors(n_components, seed, components);
  std::vector<double> room, a(n_components), b(n_components);
  double norms = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const std::string number = std::to_string(i);
    vectors.write(std::string(1, '\0') + "left" + number, room, a.data());
    vectors.write(std::string(1, '\0') + "right" + number, room, b.data());
    for (std::size_t j = 0; j < n_components; ++j) a[j] *= b[j];
    norms += std::sqrt(sum_of_squares(a.data(), n_components));
  }
  gamma = static_cast<T>(kSamples / norms);
}

template struct Composition<float>;
template struct Composition<double>;

}  // namespace filbert
