// The innermost recursion of partial trees: sums over the pairs of child subsequences of two nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/subsequence_step.hpp"

namespace filbert {

// All lengths at once in O(n m) steps and O(m) memory: visits the pairs (i, j) of children with the
// steps of subsequence_step.hpp. For bounded length there is one C per length.
template <class Real>
class SubsequenceSums {
 public:
  explicit SubsequenceSums(const Real& lambda) : lambda_(lambda) {}

  // For nodes of n and m children. paid(i, j) is Delta(u_i, v_j) * pay if match(i, j); otherwise
  // that Delta is 0. `longest` is the maximum length, or 0.
  template <class Match, class Paid>
  Real sum(std::size_t n, std::size_t m, std::size_t longest, const Match& match, const Paid& paid,
           const StopToken& token) {
    const bool bounded = longest != 0 && longest < std::min(n, m);
    return bounded ? bounded_length(n, m, longest, match, paid, token)
                   : any_length(n, m, match, paid, token);
  }

 private:
  template <class Match, class Paid>
  Real any_length(std::size_t n, std::size_t m, const Match& match, const Paid& paid,
                  const StopToken& token) {
    const Real one(1.0);
    sums_.assign(m, Real(0.0));
    Real total(0.0);
    for (std::size_t i = 0; i < n; ++i) {
      Real before(0.0);
      for (std::size_t j = 0; j < m; ++j) {
        if (match(i, j)) {
          subsequence_step(lambda_, paid(i, j), one + before, sums_[j], before, total);
        } else {
          subsequence_gap(lambda_, sums_[j], before);
        }
      }
      if (m > kLongLoop) token.check();
    }
    return total;
  }

  template <class Match, class Paid>
  Real bounded_length(std::size_t n, std::size_t m, std::size_t longest, const Match& match,
                      const Paid& paid, const StopToken& token) {
    sums_.assign(m * longest, Real(0.0));
    befores_.resize(longest);
    Real total(0.0);
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(befores_.begin(), befores_.end(), Real(0.0));
      for (std::size_t j = 0; j < m; ++j) {
        Real* const sums = sums_.data() + j * longest;
        const bool matches = match(i, j);
        const Real paid_delta = matches ? paid(i, j) : Real(0.0);
        Real shorter(1.0);
        for (std::size_t q = 0; q < longest; ++q) {
          const Real before = befores_[q];
          if (matches) {
            subsequence_step(lambda_, paid_delta, shorter, sums[q], befores_[q], total);
          } else {
            subsequence_gap(lambda_, sums[q], befores_[q]);
          }
          shorter = before;
        }
      }
      if (m > kLongLoop) token.check();
    }
    return total;
  }

  static constexpr std::size_t kLongLoop = 1000;

  const Real lambda_;
  std::vector<Real> sums_;     // C
  std::vector<Real> befores_;  // by length
};

}  // namespace filbert
