#include "learn/svm/working_set.hpp"

#include <algorithm>

namespace filbert {

void fill_Q(std::vector<double>& Q, const PackedRows& rows, std::span<const std::uint32_t> places,
            std::span<const double> signs, double constant, const StopToken& token) {
  constexpr std::size_t kBlock = 32;  // so that mirrored entries stay in the cache
  const std::size_t n = places.size();
  Q.resize(n * n);
  for (std::size_t first = 0; first < n; first += kBlock) {
    token.check();
    const std::size_t last = std::min(first + kBlock, n);
    for (std::size_t k = first; k < last; ++k) {
      for (std::size_t l = k; l < n; ++l) {
        const double value = rows.entry(places[k], places[l]) + constant;
        Q[k * n + l] = signs[k] * signs[l] * value;
      }
    }
    for (std::size_t l = first; l < n; ++l) {
      for (std::size_t k = first; k < std::min(l, last); ++k) Q[l * n + k] = Q[k * n + l];
    }
  }
}

}  // namespace filbert
