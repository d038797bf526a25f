// Problems of support vector machines, and what solves them: told from a kernel matrix from
// elsewhere, without any of the solvers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "check.hpp"
#include "learn/svm/dual_descent.hpp"
#include "reference_kernels.hpp"
#include "trees.hpp"

namespace filbert {

struct SvmCase {
  std::vector<double> K;
  std::vector<std::int8_t> y;
  std::vector<double> C;
  bool squared_hinge = false;
  bool intercept = true;

  std::size_t size() const { return y.size(); }
  AnyLoss loss() const { return loss_named(squared_hinge ? "squared_hinge" : "hinge"); }
  SvmProblem problem(double tol = 1e-12) const { return problems(tol)[0]; }
  SvmProblems problems(double tol) const {
    static constexpr std::uint64_t kSeed = 0;
    return {size(), y, C, {}, {}, {&kSeed, 1}, loss(), intercept, tol, 1'000'000, {}};
  }
  // K_ij + intercept
  double kernel(std::size_t i, std::size_t j) const {
    return K[i * size() + j] + (intercept ? 1.0 : 0.0);
  }
  double ridge(std::size_t i) const { return squared_hinge ? 0.5 / C[i] : 0.0; }
};

inline std::vector<Tree> svm_trees(unsigned seed, std::size_t n) {
  return random_trees(seed, n, 4, 3);
}

// Normalised kernel matrices of svm_trees. Cases of one seed and size share theirs.
class SvmMatrices {
 public:
  explicit SvmMatrices(const SomeKernel& spec) : spec_(spec) {}

  const std::vector<double>& of(unsigned seed, std::size_t n) {
    std::vector<double>& K = matrices_[{seed, n}];
    if (K.empty()) {
      const std::vector<Tree> trees = svm_trees(seed, n);
      K = reference_matrix(spec_, trees, trees, true);
    }
    return K;
  }

 private:
  SomeKernel spec_;
  std::map<std::pair<unsigned, std::size_t>, std::vector<double>> matrices_;
};

// Labels at random, and costs of C to 3 C.
inline SvmCase random_svm_case(unsigned seed, std::vector<double> K, std::size_t n, double C,
                               bool squared_hinge, bool intercept) {
  std::mt19937 random(seed);
  SvmCase c{std::move(K), {}, {}, squared_hinge, intercept};
  for (std::size_t i = 0; i < n; ++i) {
    c.y.push_back(below(random, 2) == 0 ? 1 : -1);
    c.C.push_back(C * (1.0 + below(random, 3)));
  }
  return c;
}

// visit(C, squared_hinge, intercept) for costs from low to high, both losses, with and without.
template <class Visit>
void for_each_setting(const Visit& visit) {
  for (const double C : {0.05, 1.0, 30.0}) {
    for (const bool squared_hinge : {false, true}) {
      for (const bool intercept : {false, true}) visit(C, squared_hinge, intercept);
    }
  }
}

// y_i (w . x_i + b)
inline double margin(const SvmCase& c, const std::vector<double>& alpha, std::size_t i) {
  double sum = 0.0;
  for (std::size_t j = 0; j < c.size(); ++j) sum += c.kernel(i, j) * alpha[j] * c.y[j];
  return c.y[i] * sum;
}

// 1/2 |w|^2 + sum of C_i loss_i and what is below it.
inline std::pair<double, double> objectives(const SvmCase& c, const std::vector<double>& alpha) {
  double norm = 0.0, loss = 0.0, linear = 0.0, ridges = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (c.C[i] == 0.0) continue;
    const double m = margin(c, alpha, i);
    const double violation = std::max(0.0, 1.0 - m);
    norm += alpha[i] * m;
    loss += c.C[i] * (c.squared_hinge ? violation * violation : violation);
    linear += alpha[i];
    ridges += c.ridge(i) * alpha[i] * alpha[i];
  }
  return {norm / 2 + loss, linear - (norm + ridges) / 2};
}

inline bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * (1.0 + std::fabs(b));
}

inline void check_objectives(const SvmCase& c, const SvmSolution& s, double tol) {
  const auto [primal, dual] = objectives(c, s.alpha);
  CHECK(near(s.primal, primal, 1e-10));
  CHECK(near(s.dual, dual, 1e-10));
  CHECK(s.gap >= 0.0 && s.gap <= tol);
  CHECK(near(s.gap, (primal - dual) / primal, 1e-10));
}

// The optimality conditions; and the intercept is what the constant feature's weight is.
inline void check_optimal(const SvmCase& c, const SvmSolution& s, double tolerance) {
  double intercept = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double m = margin(c, s.alpha, i);
    intercept += s.alpha[i] * c.y[i];
    if (c.squared_hinge) {
      // The square of the difference, over 4 C, is the example's share of the gap.
      const double left = 2.0 * std::sqrt(c.C[i] * s.gap * s.primal);
      CHECK(near(s.alpha[i], 2 * c.C[i] * std::max(0.0, 1.0 - m), std::max(tolerance, left)));
      continue;
    }
    CHECK(s.alpha[i] >= 0.0 && s.alpha[i] <= c.C[i]);
    if (s.alpha[i] < c.C[i]) CHECK(m >= 1.0 - tolerance);
    if (s.alpha[i] > 0.0) CHECK(m <= 1.0 + tolerance);
  }
  CHECK(near(s.intercept, c.intercept ? intercept : 0.0, 1e-12));
}

// F is SingleFactors or SumFactors.
template <class F>
SvmSolution solve_case(const SvmCase& c, const F& factors, const SvmProblem& problem,
                       SolverProgress& progress, const StopToken& token = {}) {
  return std::visit(
      [&](const auto& loss) { return train_svm(factors, loss, problem, progress, token); },
      c.loss());
}

inline void check_same(const SvmSolution& a, const SvmSolution& b) {
  CHECK(a.alpha == b.alpha);
  CHECK_EQUAL(a.gap, b.gap);
}

}  // namespace filbert
