// K w for several columns w at once, by factors.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

// weights[i * n_columns + c]: the weight of example i in column c; the scores have the same layout.
// F is SingleFactors or SumFactors.
template <class F>
std::vector<double> factor_scores(const F& factors, std::span<const double> weights,
                                  std::size_t n_columns, int n_threads, const Watch& watch) {
  constexpr std::size_t kPart = 4096;  // examples per task
  const std::size_t n = factors.n_trees();
  const std::size_t k = n_columns;
  std::vector<double> out(n * k);
  n_threads = threads_for(static_cast<double>(factors.n_entries() * k), n_threads);
  std::vector<std::vector<double>> z(k);
  parallel_for(k, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
    z[c].assign(factors.n_columns(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (i % kPart == 0) token.check();
      const double weight = weights[i * k + c];
      if (weight != 0.0) factors.add(i, weight, z[c].data());
    }
  });
  parallel_for((n + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int, const StopToken& token) {
                 token.check();
                 const std::size_t last = std::min(n, (part + 1) * kPart);
                 for (std::size_t i = part * kPart; i < last; ++i) {
                   for (std::size_t c = 0; c < k; ++c) {
                     out[i * k + c] =
                         factors.dot(i, z[c].data()) + factors.diagonal[i] * weights[i * k + c];
                   }
                 }
               });
  return out;
}

}  // namespace filbert
