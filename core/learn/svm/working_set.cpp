#include "learn/svm/working_set.hpp"

#include <numeric>

#include "learn/svm/jump.hpp"

namespace filbert {

namespace {

constexpr std::uint32_t kSweepsPerJump = 25;

void sweep(WorkingSet& set, const std::vector<std::uint32_t>& order) {
  for (const std::uint32_t k : order) {
    const std::uint32_t i = set.examples[k];
    const double g = set.gradient(k);
    if (set.problem.rests(i, set.alpha[k], g)) continue;
    set.move_to(k, set.problem.best(i, set.alpha[k], g, set.self[k]));
  }
}

}  // namespace

std::uint32_t descend(WorkingSet& set, double enough, std::uint32_t most_sweeps, Rng& rng,
                      const StopToken& token) {
  std::vector<std::uint32_t> order(set.size());
  std::iota(order.begin(), order.end(), 0u);
  std::uint32_t n_sweeps = 0;
  while (n_sweeps < most_sweeps) {
    token.check();
    rng.shuffle(order, order.size());
    sweep(set, order);
    ++n_sweeps;
    if (n_sweeps % kSweepsPerJump == 0) jump(set, token);
    if (set.gap() <= enough) break;
  }
  return n_sweeps;
}

}  // namespace filbert
