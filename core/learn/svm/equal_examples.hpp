// Examples with equal factors, such as the same tree with different labels. A step of one of them
// only moves until another one resists, so sweeps take as many steps as C is large. But all of them
// can move at once: they depend on each other only through their common score.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/set_keys.hpp"

namespace filbert {

// Groups of at least two examples with equal keys, by their first examples. The keys depend on how
// columns are numbered, and the order of visits must not.
class EqualExamples {
 public:
  EqualExamples() = default;
  explicit EqualExamples(std::span<const SetKey> keys) {
    std::vector<std::uint32_t> order(keys.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](std::uint32_t k, std::uint32_t l) {
      if (keys[k].a != keys[l].a) return keys[k].a < keys[l].a;
      return keys[k].b != keys[l].b ? keys[k].b < keys[l].b : k < l;
    });
    std::vector<std::span<const std::uint32_t>> groups;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && keys[order[end]] == keys[order[begin]]) ++end;
      if (end - begin > 1) groups.push_back(std::span(order).subspan(begin, end - begin));
    }
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });
    for (const std::span<const std::uint32_t> group : groups) {
      members_.insert(members_.end(), group.begin(), group.end());
      ends_.push_back(members_.size());
    }
    is_member_.assign(keys.size(), false);
    for (const std::uint32_t k : members_) is_member_[k] = true;
  }

  bool contains(std::uint32_t k) const { return is_member_[k]; }

  std::size_t size() const { return ends_.size(); }
  std::span<const std::uint32_t> operator[](std::size_t g) const {
    const std::size_t begin = g == 0 ? 0 : ends_[g - 1];
    return std::span(members_).subspan(begin, ends_[g] - begin);
  }

 private:
  std::vector<std::uint32_t> members_;  // by group, ascending in each
  std::vector<std::size_t> ends_;
  std::vector<bool> is_member_;
};

// Minimises the dual objective over a group, while all other examples stay. With s the score that
// the members have in common, and beta = sum_i y_i alpha_i, a change of beta moves s by q beta. At
// the optimum, each alpha_i is the best one for s. So s must satisfy
//
//   s = start + q (beta(s) - beta_start)        beta(s) = sum_i y_i best_i(s)
//
// The right side falls with s, because the loss is convex. So there is one solution, and bisection
// finds it. If best_i jumps there, alpha_i lies between both ends of the jump.
//
// set(s, alpha) sets all alpha_i to their best values for s, and returns beta(s). `alpha` are those
// values at the solution.
template <class Set>
void balance(double start, double beta_start, double q, std::vector<double>& alpha,
             std::vector<double>& scratch, const Set& set) {
  constexpr int kSteps = 60;
  double other = start + q * (set(start, alpha) - beta_start);
  if (other == start) return;
  double low = std::min(start, other), high = std::max(start, other);
  for (int n = 0; n < kSteps; ++n) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;
    const double there = start + q * (set(middle, alpha) - beta_start);
    (there > middle ? low : high) = middle;
  }
  const double above = start + q * (set(low, alpha) - beta_start) - low;
  const double below = high - (start + q * (set(high, scratch) - beta_start));
  if (!(above + below > 0.0)) return;
  const double share = std::clamp(above / (above + below), 0.0, 1.0);
  for (std::size_t k = 0; k < alpha.size(); ++k) alpha[k] += share * (scratch[k] - alpha[k]);
}

}  // namespace filbert
