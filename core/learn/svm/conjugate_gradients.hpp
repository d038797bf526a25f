// Systems of linear equations by conjugate gradients (Hestenes & Stiefel 1952).
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace filbert {

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct CgLimits {
  std::size_t most_rounds = 30;
  double rest = 1e-16;  // stop at this share of the square of the right side
  // How far to follow a direction in which the matrix has no curvature, such as that of two equal
  // examples: in units of the length that the curvature 1 would give.
  double flat = 0.0;
};

// Approximates the solution x of A x = b for a positive semidefinite matrix A. times(x) returns
// A x. It stops early if leaves(x) is true. solve(r) returns M^-1 r, where M is similar to A and
// systems with M are easily solved; then sizes are those of M^-1/2 r.
template <class Times, class Leaves, class Solve>
std::vector<double> conjugate_gradients(std::vector<double> b, const CgLimits& limits,
                                        const Times& times, const Leaves& leaves,
                                        const Solve& solve) {
  const std::size_t n = b.size();
  std::vector<double> x(n, 0.0), rest = std::move(b), direction = solve(rest);
  double size = dot(rest, direction);
  const double small = limits.rest * size;
  for (std::size_t round = 0; round < limits.most_rounds && size > small; ++round) {
    const auto& image = times(direction);
    const double bend = dot(direction, image);
    const double square = dot(direction, direction);
    if (!(bend > 1e-14 * square)) {
      for (std::size_t a = 0; a < n; ++a) x[a] += limits.flat * size / square * direction[a];
      break;
    }
    const double length = size / bend;
    for (std::size_t a = 0; a < n; ++a) {
      x[a] += length * direction[a];
      rest[a] -= length * image[a];
    }
    if (leaves(x)) break;
    const std::vector<double>& solved = solve(rest);
    const double before = std::exchange(size, dot(rest, solved));
    for (std::size_t a = 0; a < n; ++a) direction[a] = solved[a] + size / before * direction[a];
  }
  return x;
}

// Without M.
template <class Times, class Leaves>
std::vector<double> conjugate_gradients(std::vector<double> b, const CgLimits& limits,
                                        const Times& times, const Leaves& leaves) {
  return conjugate_gradients(
      std::move(b), limits, times, leaves,
      [](const std::vector<double>& rest) -> const std::vector<double>& { return rest; });
}

}  // namespace filbert
