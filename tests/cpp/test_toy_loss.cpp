// Losses that only this test knows, trained with on factors and on rows through the solvers'
// templates: nothing in the core has to change for them. Objectives and optimality conditions are
// computed naively, from the kernel matrix.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "factors/tree_factors.hpp"
#include "learn/losses/quadratic_loss.hpp"
#include "learn/svm/active_set.hpp"
#include "learn/svm/dual_descent.hpp"
#include "learn/svm/gram_trainer.hpp"
#include "reference_factors.hpp"
#include "reference_kernels.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

// ---------------------------------------------------------------------------- three losses

double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Logistic regression: C log(1 + exp(-m)). The range of alpha is open, the conjugate is an entropy,
// and the best step takes Newton's method.
struct Logistic {
  static constexpr std::string_view name = "logistic";
  static constexpr bool is_quadratic = false;
  static constexpr double target = 0.0;

  double lower(double) const { return 0.0; }
  double upper(double C) const { return C; }
  double value(double C, double r) const {
    return C * (std::max(0.0, r) + std::log1p(std::exp(-std::fabs(r))));
  }
  double conjugate(double C, double alpha) const {
    return C * (x_log_x(alpha / C) + x_log_x(1.0 - alpha / C));
  }
  double gap(double C, double alpha, double r) const {
    return std::max(0.0, value(C, r) + conjugate(C, alpha) - alpha * r);
  }
  bool rests(double, double, double) const { return false; }
  // With t = log(new / (C - new)), the derivative vanishes where t + q (new - alpha) = r.
  double best(double C, double alpha, double r, double q) const {
    double low = r - q * (C - alpha), high = r + q * alpha;
    double t = std::clamp(r, low, high);
    for (int round = 0; round < 50 && high > low; ++round) {
      const double p = 1.0 / (1.0 + std::exp(-t));
      const double slope = t + q * (C * p - alpha) - r;
      (slope > 0.0 ? high : low) = t;
      const double newton = t - slope / (1.0 + q * C * p * (1.0 - p));
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (std::fabs(next - t) <= 1e-14 * (1.0 + std::fabs(t))) break;
      t = next;
    }
    return C / (1.0 + std::exp(-t));
  }
};

// Support vector regression: C max(0, |t - f| - epsilon). alpha has either sign, and its conjugate
// has a kink at 0.
struct EpsilonInsensitive {
  static constexpr std::string_view name = "epsilon_insensitive";
  static constexpr bool is_quadratic = false;
  double epsilon = 0.1;

  double lower(double C) const { return -C; }
  double upper(double C) const { return C; }
  double value(double C, double r) const { return C * std::max(0.0, std::fabs(r) - epsilon); }
  double conjugate(double, double alpha) const { return epsilon * std::fabs(alpha); }
  double gap(double C, double alpha, double r) const {
    return value(C, r) + conjugate(C, alpha) - alpha * r;
  }
  bool rests(double C, double alpha, double r) const {
    return (alpha == 0.0 && std::fabs(r) <= epsilon) || (alpha >= C && r >= epsilon) ||
           (alpha <= -C && r <= -epsilon);
  }
  double best(double C, double alpha, double r, double q) const {
    const double pull = q * alpha + r;
    const double beyond = std::max(0.0, std::fabs(pull) - epsilon);
    const double size = beyond == 0.0 ? 0.0 : (q > 0.0 ? std::min(C, beyond / q) : C);
    return std::copysign(size, pull);
  }
};

// Ridge regression: C (t - f)^2. alpha has no bounds at all.
struct SquaredError : QuadraticLoss<SquaredError> {
  static constexpr std::string_view name = "squared_error";
  double lower(double) const { return -std::numeric_limits<double>::infinity(); }
  double upper(double) const { return std::numeric_limits<double>::infinity(); }
  double ridge(double C) const { return 0.5 / C; }
  double value(double C, double r) const { return C * r * r; }
};

static_assert(Loss<Logistic> && Loss<EpsilonInsensitive> && Loss<SquaredError>);
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
  const std::vector<Tree> trees = random_trees(seed, n, 4, 3);
  const Forest forest = forest_of(trees);
  std::vector<double> K = reference_matrix(subset_tree(0.4), trees, trees, true);
  TreeFactors factors = assemble(factorize<double>(subset_tree(0.4), *forest.dag, {}, 1, {}),
                                 *forest.dag, forest.roots, {}, 1, {});
  Case c{random_svm_case(seed, std::move(K), n, C, false, intercept), std::move(factors), {}};
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
  return train_svms_on_rows(cache, tree_of, loss, {&problem, 1}, 1 << 20, 1, {})[0];
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

// ---------------------------------------------------------------------------- tests

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
      TEST(logistic_regression),
      TEST(support_vector_regression),
      TEST(ridge_regression),
      TEST(from_a_solution_there_is_no_way_to_go),
      TEST(regression_needs_targets),
  });
}
