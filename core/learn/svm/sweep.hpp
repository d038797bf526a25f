// One sweep of dual coordinate descent over some examples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/dual_problem.hpp"

namespace filbert {

// The variables that a sweep changes.
struct DualPoint {
  std::vector<double> alpha;  // by example
  double bias = 0.0;
};

// Visits each listed example once and sets alpha to its best value. Examples at a bound that would
// stay there are taken off the list, and so are those with at most a negligible share of the gap.
// Returns the examples' part of the gap, as met on the way.
//
// W is w in the space of the kernel's factors:
//
//   dot(i)                   the product of example i and w, without what i alone has
//   add(i, weight)           w += weight * example i, again without what i alone has
//   diagonal(i), self(i)     what example i alone has, and K(i, i)
//   prefetch(i)
template <class W, Loss L>
double sweep(const DualProblem<L>& p, W& w, DualPoint& at, std::vector<std::uint32_t>& visited,
             double negligible, const StopToken& token) {
  constexpr std::size_t kAhead = 4;
  double gap = 0.0;
  std::size_t n_kept = 0;
  for (std::size_t v = 0; v < visited.size(); ++v) {
    if (v % 512 == 0) token.check();
    if (v + kAhead < visited.size()) w.prefetch(visited[v + kAhead]);
    const std::uint32_t i = visited[v];
    const double alpha = at.alpha[i];
    const double margin = p.y[i] * (w.dot(i) + at.bias) + w.diagonal(i) * alpha;
    const double share = p.gap(i, alpha, margin);
    gap += share;
    if (share <= negligible || p.rests(i, alpha, margin)) continue;
    visited[n_kept++] = i;
    const double updated = p.best(i, alpha, margin, w.self(i));
    if (updated == alpha) continue;
    at.alpha[i] = updated;
    const double change = (updated - alpha) * p.y[i];
    w.add(i, change);
    if (p.intercept) at.bias += change;
  }
  visited.resize(n_kept);
  return gap;
}

}  // namespace filbert
