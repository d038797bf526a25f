// Tests the solver against the definition of its problem: optimality conditions that are checked
// with an independent kernel matrix, and optima found by trying all sets of bounds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "factors/sum_factors.hpp"
#include "factors/tree_factors.hpp"
#include "learn/svm/dual_descent.hpp"
#include "learn/svm/train.hpp"
#include "reference_factors.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

struct Case : SvmCase {
  TreeFactors factors;
};

TreeFactors factors_of(const Forest& forest) {
  return assemble(factorize<double>(subset_tree(0.4), *forest.dag, {}, 1, {}), *forest.dag,
                  forest.roots, {}, 1, {});
}

Case random_case(unsigned seed, std::size_t n, double C, bool squared_hinge, bool intercept) {
  static SvmMatrices matrices(subset_tree(0.4));
  return {random_svm_case(seed, matrices.of(seed, n), n, C, squared_hinge, intercept),
          factors_of(forest_of(svm_trees(seed, n)))};
}

template <class Visit>
void for_each_case(std::size_t n, unsigned n_seeds, const Visit& visit) {
  for (unsigned seed = 1; seed <= n_seeds; ++seed) {
    for_each_setting([&](double C, bool squared_hinge, bool intercept) {
      visit(random_case(seed, n, C, squared_hinge, intercept));
    });
  }
}

// The same kernel as a sum of one term.
SumFactors sum_of(const Case& c) {
  return SumFactors(c.size(), {{std::make_shared<const TreeFactors>(c.factors),
                                std::vector<double>(c.size(), 1.0)}});
}

SvmSolution solved(const Case& c, SvmProblem problem, std::span<const double> start = {}) {
  SolverProgress progress{0};
  problem.start = start;
  const SvmSolution solution = solve_case(c, SingleFactors(c.factors), problem, progress);
  CHECK(progress.load() <= 1000);
  CHECK_EQUAL(solution.alpha.size(), c.size());
  CHECK_EQUAL(solution.looks.front().n_sweeps, 0U);
  CHECK_EQUAL(solution.looks.back().n_sweeps, solution.n_sweeps);
  CHECK_EQUAL(solution.looks.back().primal, solution.primal);
  CHECK_EQUAL(solution.looks.back().gap, solution.gap);
  return solution;
}

void optimality_conditions() {
  for_each_case(40, 4, [](const Case& c) {
    const SvmSolution s = solved(c, c.problem());
    CHECK(s.gap <= 1e-12);
    check_optimal(c, s, 1e-4);
  });
}

// With condensed factors, as for very many columns.
void condensed_factors_give_the_same_optimum() {
  for_each_case(60, 2, [](const Case& c) {
    std::visit(
        [&]<Loss L>(const L& loss) {
          const SingleFactors factors(c.factors);
          SolverProgress progress{0};
          const SvmSolution s =
              DualDescent<SingleFactors, L>(factors, loss, c.problem(), 0).run(progress, {});
          CHECK(s.gap <= 1e-12);
          check_optimal(c, s, 1e-4);
        },
        c.loss());
  });
}

void objectives_and_gap_are_what_they_say() {
  for (const double tol : {0.3, 1e-2, 1e-3, 1e-8}) {
    for_each_case(40, 2,
                  [&](const Case& c) { check_objectives(c, solved(c, c.problem(tol)), tol); });
  }
}

// Solves A x = b in place; false where A is singular.
bool solve(std::vector<std::vector<double>>& A, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::fabs(A[i][k]) > std::fabs(A[pivot][k])) pivot = i;
    }
    if (std::fabs(A[pivot][k]) < 1e-9) return false;
    std::swap(A[k], A[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = A[i][k] / A[k][k];
      for (std::size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) b[k] /= A[k][k];
  return true;
}

// The largest dual objective over all choices of what lies at 0, at C or between. An optimum of a
// convex quadratic is also found where the matrix of those between is regular.
double best_dual(const Case& c) {
  double best = -std::numeric_limits<double>::infinity();
  const std::size_t n = c.size();
  std::size_t n_choices = 1;
  for (std::size_t i = 0; i < n; ++i) n_choices *= 3;
  for (std::size_t choice = 0; choice < n_choices; ++choice) {
    std::vector<double> alpha(n, 0.0);
    std::vector<std::size_t> between;
    bool possible = true;
    std::size_t digits = choice;
    for (std::size_t i = 0; i < n; ++i, digits /= 3) {
      if (digits % 3 == 1) alpha[i] = c.C[i];
      if (digits % 3 == 2) between.push_back(i);
      possible = possible && !(c.squared_hinge && digits % 3 == 1);  // there is no upper bound
    }
    if (!possible) continue;
    std::vector<std::vector<double>> A;
    std::vector<double> b;
    for (const std::size_t i : between) {
      b.push_back(1.0 - margin(c, alpha, i));
      A.emplace_back();
      for (const std::size_t j : between) {
        A.back().push_back(c.y[i] * c.y[j] * c.kernel(i, j) + (i == j ? c.ridge(i) : 0.0));
      }
    }
    if (!solve(A, b)) continue;
    for (std::size_t k = 0; k < between.size(); ++k) {
      alpha[between[k]] = b[k];
      possible = possible && b[k] >= 0.0 && (c.squared_hinge || b[k] <= c.C[between[k]]);
    }
    if (possible) best = std::max(best, objectives(c, alpha).second);
  }
  return best;
}

void the_optimum_by_brute_force() {
  for_each_case(6, 8, [](const Case& c) {
    const double best = best_dual(c);
    const SvmSolution s = solved(c, c.problem());
    CHECK(near(s.dual, best, 1e-9));
    CHECK(near(s.primal, best, 1e-9));
  });
}

// Sweeps alone would take hundreds of thousands: labels are at random, and some trees are equal.
void large_costs() {
  for (const double C : {1e2, 1e4, 1e6}) {
    for (const bool squared_hinge : {false, true}) {
      for (unsigned seed = 1; seed <= 3; ++seed) {
        const Case c = random_case(seed, 40, C, squared_hinge, seed != 2);
        SvmProblem problem = c.problem(1e-6);
        problem.max_sweeps = 2000;
        const SvmSolution s = solved(c, problem);
        const auto [primal, dual] = objectives(c, s.alpha);
        CHECK(s.gap <= 1e-6);
        CHECK(near(s.primal, primal, 1e-8));  // the terms are 1e6 times larger than their sum
        CHECK(near(s.dual, dual, 1e-8));
      }
    }
  }
}

// K = 1: alpha is min(C, 1), or 1 / (1 + 1 / 2C) under the squared hinge; twice K with intercept.
void one_example() {
  const TreeFactors factors = factors_of(read("(S (A a) (B b))"));
  for (const double C : {0.2, 1.0, 5.0}) {
    for (const std::int8_t y : {-1, 1}) {
      Case c{{{1.0}, {y}, {C}, false, false}, factors};
      CHECK_NEAR(solved(c, c.problem()).alpha[0], std::min(C, 1.0), 1e-9);
      c.intercept = true;
      CHECK_NEAR(solved(c, c.problem()).alpha[0], std::min(C, 0.5), 1e-9);
      CHECK_NEAR(solved(c, c.problem()).intercept, y * std::min(C, 0.5), 1e-9);
      c.squared_hinge = true;
      CHECK_NEAR(solved(c, c.problem()).alpha[0], 1.0 / (2.0 + 0.5 / C), 1e-9);
    }
  }
}

// A tree without fragments cannot be learned without an intercept: it costs its C, for ever.
void an_example_without_fragments() {
  const TreeFactors factors = factors_of(read("(a) (S (A a))"));
  for (const bool squared_hinge : {false, true}) {
    const Case c{{{0.0, 0.0, 0.0, 1.0}, {1, -1}, {3.0, 2.0}, squared_hinge, false}, factors};
    const SvmSolution s = solved(c, c.problem());
    CHECK(s.gap <= 1e-12);
    CHECK(near(s.primal, 3.0 + (squared_hinge ? 0.4 : 0.5), 1e-9));
  }
}

void examples_without_weight_are_left_out() {
  for_each_case(30, 2, [](Case c) {
    const SvmSolution all = solved(c, c.problem(1e-10));
    for (std::size_t i = 0; i < c.size(); i += 3) c.C[i] = 0.0;
    const SvmSolution some = solved(c, c.problem(1e-10));
    for (std::size_t i = 0; i < c.size(); i += 3) CHECK_EQUAL(some.alpha[i], 0.0);
    const auto [primal, dual] = objectives(c, some.alpha);
    CHECK(near(some.primal, primal, 1e-9));
    CHECK(near(primal, dual, 1e-9));
    CHECK(some.primal < all.primal);
  });
}

void nothing_has_weight() {
  Case c = random_case(1, 10, 1.0, false, true);
  std::fill(c.C.begin(), c.C.end(), 0.0);
  const SvmSolution s = solved(c, c.problem());
  CHECK(s.alpha == std::vector<double>(10, 0.0));
  CHECK_EQUAL(s.primal, 0.0);
  CHECK_EQUAL(s.gap, 0.0);
}

void from_the_solution_there_is_no_way_to_go() {
  for_each_case(40, 1, [](const Case& c) {
    const SvmSolution s = solved(c, c.problem(1e-9));
    const SvmSolution again = solved(c, c.problem(1e-9), s.alpha);
    CHECK_EQUAL(again.n_sweeps, 0);
    CHECK(again.alpha == s.alpha);
  });
}

// Dual variables of another problem: beyond the bounds, or at examples that have no weight.
void from_anywhere_to_the_same_optimum() {
  for_each_case(40, 1, [](Case c) {
    for (std::size_t i = 0; i < c.size(); i += 7) c.C[i] = 0.0;
    const SvmSolution cold = solved(c, c.problem(1e-10));
    for (const double far : {1e-3, 0.5, 100.0}) {
      const std::vector<double> start(c.size(), far);
      const SvmSolution warm = solved(c, c.problem(1e-10), start);
      CHECK(near(warm.primal, cold.primal, 1e-8));
      for (std::size_t i = 0; i < c.size(); i += 7) CHECK_EQUAL(warm.alpha[i], 0.0);
    }
  });
}

void epochs_are_limited() {
  const Case c = random_case(2, 40, 30.0, false, true);
  SvmProblem problem = c.problem(1e-14);
  for (const std::uint32_t most : {1u, 2u, 7u}) {
    problem.max_sweeps = most;
    const SvmSolution s = solved(c, problem);
    CHECK_EQUAL(s.n_sweeps, most);
    CHECK(s.gap > 1e-14);
    CHECK(near(s.primal, objectives(c, s.alpha).first, 1e-10));
  }
}

void a_seed_gives_the_same_bytes() {
  const Case c = random_case(3, 60, 1.0, false, true);
  SvmProblem problem = c.problem(1e-4);
  const SvmSolution one = solved(c, problem);
  for (const int n_threads : {1, 2, 5}) {
    problem.n_threads = n_threads;
    check_same(solved(c, problem), one);
  }
  problem.seed = 1;
  CHECK(near(solved(c, problem).primal, one.primal, 1e-3));
}

void it_can_be_stopped() {
  const Case c = random_case(4, 600, 30.0, false, true);
  SolverProgress progress{0};
  StopToken token;
  token.stop();
  CHECK_THROWS(Stopped, solve_case(c, SingleFactors(c.factors), c.problem(), progress, token));
}

// Problems together are what they are one by one.
void problems_over_the_same_examples() {
  const Case c = random_case(5, 40, 1.0, true, true);
  std::vector<std::int8_t> signs = c.y;
  for (const std::int8_t y : c.y) signs.push_back(static_cast<std::int8_t>(-y));
  const std::vector<std::uint64_t> seeds{3, 4};
  std::vector<double> start(2 * c.size(), 0.0);
  std::fill(start.begin() + 40, start.end(), 0.1);
  const SvmProblems both{40, signs, c.C, {}, start, seeds, c.loss(), c.intercept, 1e-6, 1000, {}};
  for (const int n_threads : {1, 2, 5}) {
    const std::vector<SvmSolution> solutions = train_on_factors(sum_of(c), both, n_threads, {});
    CHECK_EQUAL(solutions.size(), 2);
    for (std::size_t k = 0; k < 2; ++k) {
      check_same(solutions[k], solved(c, both[k], both[k].start));
    }
    CHECK(near(solutions[0].primal, solutions[1].primal, 1e-5));
    CHECK(near(solutions[0].intercept, -solutions[1].intercept, 1e-2));
  }
}

void problems_that_do_not_fit() {
  const Case c = random_case(1, 10, 1.0, false, true);
  const SumFactors factors = sum_of(c);
  const auto train = [&](const SvmProblems& problems) {
    return train_on_factors(factors, problems, 1, {});
  };
  const std::span<const std::int8_t> few_signs(c.y.data(), 9);
  const std::span<const double> few_costs(c.C.data(), 9);
  SvmProblems problems = c.problems(0.1);
  CHECK_EQUAL(train(problems).size(), 1);
  problems.start = few_costs;
  CHECK_THROWS(std::invalid_argument, train(problems));
  problems = c.problems(0.1);
  problems.C = few_costs;
  CHECK_THROWS(std::invalid_argument, train(problems));
  problems = c.problems(0.1);
  problems.y = few_signs;
  CHECK_THROWS(std::invalid_argument, train(problems));
  problems.C = few_costs;
  problems.n_examples = 9;
  CHECK_THROWS(std::invalid_argument, train(problems));
}

void losses_by_name() {
  CHECK((loss_names()[0] == "hinge" && loss_names()[1] == "squared_hinge"));
  const auto error = check::caught<std::invalid_argument>([] { loss_named("no such loss"); });
  const std::string message = error ? error->what() : "";
  CHECK(message.starts_with("there is no loss 'no such loss'; the losses are 'hinge', 'squared_"));
  for (const std::string& name : loss_names()) {
    std::visit([&](const auto& loss) { CHECK_EQUAL(loss.name, name); }, loss_named(name));
    CHECK(message.find("'" + name + "'") != std::string::npos);
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(optimality_conditions),
      TEST(condensed_factors_give_the_same_optimum),
      TEST(objectives_and_gap_are_what_they_say),
      TEST(the_optimum_by_brute_force),
      TEST(large_costs),
      TEST(one_example),
      TEST(an_example_without_fragments),
      TEST(examples_without_weight_are_left_out),
      TEST(nothing_has_weight),
      TEST(from_the_solution_there_is_no_way_to_go),
      TEST(from_anywhere_to_the_same_optimum),
      TEST(epochs_are_limited),
      TEST(a_seed_gives_the_same_bytes),
      TEST(it_can_be_stopped),
      TEST(problems_over_the_same_examples),
      TEST(problems_that_do_not_fit),
      TEST(losses_by_name),
  });
}
