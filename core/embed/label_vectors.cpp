#include "embed/label_vectors.hpp"

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"

namespace filbert {

namespace {

std::uint64_t key_of(std::uint64_t seed, std::string_view label) {
  std::uint64_t key = spread(seed);
  for (std::size_t begin = 0; begin < label.size(); begin += 8) {
    const std::string_view part = label.substr(begin, 8);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(part[i])) << (8 * i);
    }
    key = spread(key ^ word);
  }
  return spread(key ^ label.size());
}

}  // namespace

LabelVectors::LabelVectors(std::size_t n_components, std::uint64_t seed, Components components)
    : n_components_(n_components), seed_(seed), components_(components) {
  const std::size_t n_words =
      ((n_components + 1) / 2 + kNormalTile - 1) / kNormalTile * kNormalTile;
  counters_.resize(n_words);
  for (std::size_t i = 0; i < n_words; ++i) counters_[i] = spread(i);
}

template <class T>
void LabelVectors::write(std::string_view label, std::vector<double>& room, T* out) const {
  const std::uint64_t key = key_of(seed_, label);
  if (components_ == Components::signs) return write_signs(key, out);
  room.resize(2 * counters_.size());
  normal_writer()(key, counters_.data(), counters_.size(), room.data());
  const double scale = 1.0 / std::sqrt(sum_of_squares(room.data(), n_components_));
  for (std::size_t i = 0; i < n_components_; ++i) out[i] = static_cast<T>(room[i] * scale);
}

template <class T>
void LabelVectors::write_signs(std::uint64_t key, T* out) const {
  constexpr std::size_t kBits = 64;
  const auto value = static_cast<T>(1.0 / std::sqrt(static_cast<double>(n_components_)));
  for (std::size_t begin = 0; begin < n_components_; begin += kBits) {
    const std::uint64_t word = spread(key ^ counters_[begin / kBits]);
    const std::size_t n = std::min(kBits, n_components_ - begin);
    for (std::size_t k = 0; k < n; ++k) out[begin + k] = (word >> k) & 1 ? -value : value;
  }
}

template <class T>
double sum_of_squares(const T* values, std::size_t n) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) {
      const auto value = static_cast<double>(values[i + k]);
      sums[k] += value * value;
    }
  }
  for (std::size_t k = 0; i + k < n; ++k) {
    const auto value = static_cast<double>(values[i + k]);
    sums[k] += value * value;
  }
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

template void LabelVectors::write(std::string_view, std::vector<double>&, float*) const;
template void LabelVectors::write(std::string_view, std::vector<double>&, double*) const;
template double sum_of_squares(const float*, std::size_t);
template double sum_of_squares(const double*, std::size_t);

}  // namespace filbert
