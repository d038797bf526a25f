// Coordinate descent on a working set.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/free_step.hpp"
#include "learn/svm/working_set.hpp"

namespace filbert {

template <Loss L>
void sweep(WorkingSet<L>& set, const std::vector<std::uint32_t>& order) {
  for (const std::uint32_t k : order) {
    const std::uint32_t i = set.examples[k];
    if (set.problem.rests(i, set.alpha[k], set.margins[k])) continue;
    set.move_to(k, set.problem.best(i, set.alpha[k], set.margins[k], set.self[k]));
  }
}

// Sweeps over the set, at least one, until it has at most `enough` of the gap left or after
// `most_sweeps`. Returns their number.
template <Loss L>
std::uint32_t descend(WorkingSet<L>& set, double enough, std::uint32_t most_sweeps, Rng& rng,
                      const StopToken& token) {
  constexpr std::uint32_t kSweepsPerFreeStep = 25;
  std::vector<std::uint32_t> order(set.size());
  std::iota(order.begin(), order.end(), 0u);
  std::uint32_t n_sweeps = 0;
  while (n_sweeps < most_sweeps) {
    token.check();
    rng.shuffle(order, order.size());
    sweep(set, order);
    ++n_sweeps;
    if constexpr (L::moves_jointly) {
      if (n_sweeps % kSweepsPerFreeStep == 0) free_step(set, token);
    }
    if (set.gap() <= enough) break;
  }
  return n_sweeps;
}

}  // namespace filbert
