// The losses of the core other than the hinges, on factors and on rows. Objectives and optimality
// conditions are computed naively, from the kernel matrix.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "factors/tree_factors.hpp"
#include "learn/losses/losses.hpp"
#include "learn/svm/active_set.hpp"
#include "learn/svm/dual_descent.hpp"
#include "learn/svm/gram_trainer.hpp"
#include "reference_factors.hpp"
#include "reference_kernels.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

static_assert(HasTarget<Logistic> && !HasTarget<EpsilonInsensitive> && !HasTarget<SquaredError>);

// ---------------------------------------------------------------------------- cases

struct Case : SvmCase {
  TreeFactors factors;
  std::vector<double> targets;

  SvmProblem classification(double tol) const { return problem(tol); }
  // All signs are +1.
  SvmProblem regression(double tol) const {
    SvmProblem p = problem(tol);
    p.targets = targets;
    return p;
  }
};

// Some examples have no weight.
Case random_case(unsigned seed, std::size_t n, double C, bool intercept) {
  static SvmMatrices matrices(subset_tree(0.4));
  const Forest forest = forest_of(svm_trees(seed, n));
  TreeFactors factors = assemble(factorize<double>(subset_tree(0.4), *forest.dag, {}, 1, {}),
                                 *forest.dag, forest.roots, {}, 1, {});
  Case c{
      random_svm_case(seed, matrices.of(seed, n), n, C, false, intercept), std::move(factors), {}};
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < n; ++i) c.targets.push_back(0.01 * below(random, 400) - 2.0);
  for (std::size_t i = 0; i < n; i += 7) c.C[i] = 0.0;
  return c;
}

template <class Visit>
void for_each_case(const Visit& visit) {
  for (unsigned seed = 1; seed < 4; ++seed) {
    for (const double C : {0.05, 1.0, 30.0}) {
      for (const bool intercept : {false, true}) visit(random_case(seed, 60, C, intercept));
    }
  }
}

template <Loss L>
SvmSolution on_factors(const Case& c, const L& loss, const SvmProblem& problem) {
  SolverProgress progress{0};
  return train_svm(SingleFactors(c.factors), loss, problem, progress, {});
}

// With room for so many rows.
template <Loss L>
SvmSolution on_rows(const Case& c, const L& loss, const SvmProblem& problem, std::size_t n_rows) {
  MatrixRows source(c.K, c.size());
  RowCache cache(source, n_rows * c.size() * sizeof(double));
  std::vector<std::uint32_t> tree_of(c.size());
  std::iota(tree_of.begin(), tree_of.end(), 0u);
  RowState state;
  return train_svms_on_rows(cache, tree_of, loss, {&problem, 1}, 1 << 20, 1, {}, state)[0];
}

// 1/2 |w|^2
double half_norm(const SvmCase& c, const SvmSolution& s) {
  double sum = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i) sum += s.alpha[i] * margin(c, s.alpha, i);
  return sum / 2;
}

// check(solution) for solutions of the problem on factors and on rows, all of which reach tol.
template <Loss L, class Check>
void for_each_solution(const Case& c, const L& loss, const SvmProblem& problem,
                       const Check& check_one) {
  const SvmSolution first = on_factors(c, loss, problem);
  for (const SvmSolution& s :
       {first, on_rows(c, loss, problem, 1000), on_rows(c, loss, problem, 16)}) {
    CHECK(s.gap <= problem.tol);
    CHECK(near(s.primal, first.primal, 1e-6));
    for (std::size_t i = 0; i < c.size(); i += 7) CHECK_EQUAL(s.alpha[i], 0.0);
    check_one(s);
  }
}

void check_objectives(const SvmSolution& s, double primal, double dual) {
  CHECK(near(s.primal, primal, 1e-9));
  CHECK(near(s.dual, dual, 1e-9));
  CHECK(dual <= primal + 1e-9 * (1.0 + primal));
}

// A loss that only this test has: one type is all that the solvers need. It is a parabola within
// `kWidth` of the margin, and a line beyond (Shalev-Shwartz & Zhang 2013).
struct SmoothHinge : QuadraticLoss<SmoothHinge> {
  static constexpr std::string_view name = "smooth_hinge";
  static constexpr double target = 1.0;
  static constexpr double kWidth = 0.5;

  double lower(double) const { return 0.0; }
  double upper(double C) const { return C; }
  double ridge(double C) const { return kWidth / C; }
  double value(double C, double r) const {
    if (r <= 0.0) return 0.0;
    return r < kWidth ? C * r * r / (2 * kWidth) : C * (r - kWidth / 2);
  }
};

// ---------------------------------------------------------------------------- tests

void a_loss_of_this_test() {
  static_assert(Loss<SmoothHinge>);
  for_each_case([](const Case& c) {
    for_each_solution(c, SmoothHinge{}, c.classification(1e-9), [&](const SvmSolution& s) {
      double losses = 0.0, linear = 0.0;
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (c.C[i] == 0.0) continue;
        const double r = 1.0 - margin(c, s.alpha, i), a = s.alpha[i];
        const double slope = std::clamp(r / SmoothHinge::kWidth, 0.0, 1.0);
        CHECK(near(a / c.C[i], slope, 1e-2));
        losses += SmoothHinge{}.value(c.C[i], r);
        linear += a - SmoothHinge::kWidth * a * a / (2 * c.C[i]);
      }
      check_objectives(s, half_norm(c, s) + losses, linear - half_norm(c, s));
    });
  });
}

void logistic_regression() {
  for_each_case([](const Case& c) {
    for_each_solution(c, Logistic{}, c.classification(1e-9), [&](const SvmSolution& s) {
      double losses = 0.0, entropies = 0.0;
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (c.C[i] == 0.0) continue;
        const double m = margin(c, s.alpha, i), p = s.alpha[i] / c.C[i];
        CHECK(p > 0.0 && p < 1.0);
        CHECK(near(p, 1.0 / (1.0 + std::exp(m)), 1e-3));
        losses += c.C[i] * std::log(1.0 + std::exp(-m));
        entropies -= c.C[i] * (p * std::log(p) + (1.0 - p) * std::log(1.0 - p));
      }
      check_objectives(s, half_norm(c, s) + losses, entropies - half_norm(c, s));
    });
  });
}

void support_vector_regression() {
  for (const double epsilon : {0.0, 0.3}) {
    for_each_case([&](Case c) {
      std::fill(c.y.begin(), c.y.end(), std::int8_t{1});
      const EpsilonInsensitive loss{epsilon};
      for_each_solution(c, loss, c.regression(1e-9), [&](const SvmSolution& s) {
        double losses = 0.0, linear = 0.0;
        for (std::size_t i = 0; i < c.size(); ++i) {
          if (c.C[i] == 0.0) continue;
          const double r = c.targets[i] - margin(c, s.alpha, i), a = s.alpha[i];
          CHECK(std::fabs(a) <= c.C[i]);
          if (std::fabs(a) < c.C[i]) CHECK(std::fabs(r) <= epsilon + 1e-2);
          if (a > 0.0) CHECK(r >= epsilon - 1e-2);
          if (a < 0.0) CHECK(r <= -epsilon + 1e-2);
          losses += c.C[i] * std::max(0.0, std::fabs(r) - epsilon);
          linear += c.targets[i] * a - epsilon * std::fabs(a);
        }
        check_objectives(s, half_norm(c, s) + losses, linear - half_norm(c, s));
      });
    });
  }
}

void squared_support_vector_regression() {
  for_each_case([](Case c) {
    std::fill(c.y.begin(), c.y.end(), std::int8_t{1});
    const SquaredEpsilonInsensitive loss{0.3};
    for_each_solution(c, loss, c.regression(1e-9), [&](const SvmSolution& s) {
      double losses = 0.0, linear = 0.0;
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (c.C[i] == 0.0) continue;
        const double r = c.targets[i] - margin(c, s.alpha, i), a = s.alpha[i];
        const double beyond = std::max(0.0, std::fabs(r) - 0.3);
        CHECK(near(a, std::copysign(2 * c.C[i] * beyond, r), 1e-2));
        losses += c.C[i] * beyond * beyond;
        linear += c.targets[i] * a - 0.3 * std::fabs(a) - a * a / (4 * c.C[i]);
      }
      check_objectives(s, half_norm(c, s) + losses, linear - half_norm(c, s));
    });
  });
}

void ridge_regression() {
  for_each_case([](Case c) {
    std::fill(c.y.begin(), c.y.end(), std::int8_t{1});
    for_each_solution(c, SquaredError{}, c.regression(1e-10), [&](const SvmSolution& s) {
      double losses = 0.0, linear = 0.0;
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (c.C[i] == 0.0) continue;
        const double r = c.targets[i] - margin(c, s.alpha, i), a = s.alpha[i];
        CHECK(near(a, 2 * c.C[i] * r, 1e-2));
        losses += c.C[i] * r * r;
        linear += c.targets[i] * a - a * a / (4 * c.C[i]);
      }
      check_objectives(s, half_norm(c, s) + losses, linear - half_norm(c, s));
    });
  });
}

// The derivative of what `best` minimises, log(a / (C - a)) + q (a - alpha) - r, changes its sign
// at the value found.
void newton_steps_of_the_logistic_loss() {
  const Logistic loss;
  for (const double C : {1e-3, 1.0, 1e4}) {
    for (const double share : {0.0, 1e-12, 0.3, 1.0}) {
      for (const double r : {-800.0, -3.0, 0.0, 2.0, 800.0}) {
        for (const double q : {0.0, 1e-6, 1.0, 1e6}) {
          const double alpha = share * C, best = loss.best(C, alpha, r, q);
          CHECK(best >= 0.0 && best <= C);
          const auto derivative = [&](double a) {
            return std::log(a / (C - a)) + q * (a - alpha) - r;
          };
          const double below = best * (1.0 - 1e-9), above = best + 1e-9 * (C - best);
          if (below > 0.0 && below < best) CHECK(derivative(below) <= 0.0);
          if (above < C && above > best) CHECK(derivative(above) >= 0.0);
        }
      }
    }
  }
}

// Each tree occurs several times, with clashing labels and targets. If C is large, single examples
// can only take small steps.
Case case_of_equal_trees(unsigned seed, double C) {
  constexpr std::size_t kDistinct = 15, kTimes = 4;
  static SvmMatrices matrices(subset_tree(0.4));
  const std::vector<double>& K = matrices.of(seed, kDistinct);
  std::vector<Tree> trees;
  std::vector<double> all;
  const std::size_t n = kDistinct * kTimes;
  for (std::size_t i = 0; i < n; ++i) {
    trees.push_back(svm_trees(seed, kDistinct)[i % kDistinct]);
    for (std::size_t j = 0; j < n; ++j) {
      all.push_back(K[i % kDistinct * kDistinct + j % kDistinct]);
    }
  }
  const Forest forest = forest_of(trees);
  TreeFactors factors = assemble(factorize<double>(subset_tree(0.4), *forest.dag, {}, 1, {}),
                                 *forest.dag, forest.roots, {}, 1, {});
  Case c{random_svm_case(seed, all, n, C, false, true), std::move(factors), {}};
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < n; ++i) c.targets.push_back(0.01 * below(random, 400) - 2.0);
  return c;
}

// 1/2 |w|^2 and all losses.
template <Loss L>
double primal_of(const Case& c, const L& loss, const SvmSolution& s) {
  double sum = half_norm(c, s);
  for (std::size_t i = 0; i < c.size(); ++i) {
    double target = 0.0;
    if constexpr (HasTarget<L>) {
      target = L::target;
    } else {
      target = c.targets[i];
    }
    sum += loss.value(c.C[i], target - margin(c, s.alpha, i));
  }
  return sum;
}

void equal_trees_and_large_C() {
  for (const std::string& name : loss_names()) {
    for (const double epsilon : {0.0, 0.2}) {
      std::visit(
          [&]<Loss L>(const L& loss) {
            for (unsigned seed = 1; seed < 4; ++seed) {
              for (const double C : {10.0, 1e3, 1e5}) {
                Case c = case_of_equal_trees(seed, C);
                if (!HasTarget<L>) std::fill(c.y.begin(), c.y.end(), std::int8_t{1});
                SvmProblem problem = c.regression(1e-6);
                problem.max_sweeps = 1000;
                const SvmSolution s = on_factors(c, loss, problem);
                CHECK(s.gap <= problem.tol);
                CHECK(near(s.primal, primal_of(c, loss, s), 1e-9));
              }
            }
          },
          loss_named(name, epsilon));
    }
  }
}

void losses_with_an_epsilon() {
  for (const std::string& name : loss_names()) {
    std::visit(
        [&]<Loss L>(const L& loss) {
          if constexpr (requires { loss.epsilon; }) CHECK_EQUAL(loss.epsilon, 0.7);
        },
        loss_named(name, 0.7));
  }
}

void from_a_solution_there_is_no_way_to_go() {
  const Case c = random_case(1, 60, 1.0, true);
  SvmProblem problem = c.classification(1e-6);
  const SvmSolution s = on_factors(c, Logistic{}, problem);
  problem.start = s.alpha;
  problem.tol = 1.01e-6;
  CHECK_EQUAL(on_factors(c, Logistic{}, problem).n_sweeps, 0);
  CHECK_EQUAL(on_rows(c, Logistic{}, problem, 1000).n_sweeps, 0);
}

void regression_needs_targets() {
  const Case c = random_case(1, 20, 1.0, true);
  const SvmProblem problem = c.classification(1e-3);
  CHECK_THROWS(std::invalid_argument, on_factors(c, SquaredError{}, problem));
  CHECK_THROWS(std::invalid_argument, on_rows(c, EpsilonInsensitive{}, problem, 1000));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(a_loss_of_this_test),
      TEST(logistic_regression),
      TEST(support_vector_regression),
      TEST(squared_support_vector_regression),
      TEST(ridge_regression),
      TEST(newton_steps_of_the_logistic_loss),
      TEST(equal_trees_and_large_C),
      TEST(losses_with_an_epsilon),
      TEST(from_a_solution_there_is_no_way_to_go),
      TEST(regression_needs_targets),
  });
}
