#include "base/mirror.hpp"

#include <algorithm>

namespace filbert {

// Works on square blocks, so that every cache line read down a column is used completely.
void mirror(Half known, std::size_t n, double* matrix, int n_threads, const Watch& watch) {
  constexpr std::size_t kSide = 32;
  const std::size_t n_squares = (n + kSide - 1) / kSide;
  const auto square = [&](std::size_t top, std::size_t left) {
    for (std::size_t i = top; i < std::min(top + kSide, n); ++i) {
      for (std::size_t j = std::max(left, i + 1); j < std::min(left + kSide, n); ++j) {
        double& right = matrix[i * n + j];
        double& below = matrix[j * n + i];
        if (known == Half::right) {
          below = right;
        } else {
          right = below;
        }
      }
    }
  };
  parallel_for(n_squares, threads_for(static_cast<double>(n * n), n_threads), watch,
               [&](std::size_t part, int, const StopToken& token) {
                 for (std::size_t s = part; s < n_squares; ++s) square(part * kSide, s * kSide);
                 token.check();
               });
}

}  // namespace filbert
