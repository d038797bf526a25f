// Differences of examples: products, entries and training, by the kernel matrix.
#include <cmath>
#include <stdexcept>
#include <utility>

#include "factors/tree_factors.hpp"
#include "learn/svm/dual_descent.hpp"
#include "learn/svm/pair_factors.hpp"
#include "reference_factors.hpp"
#include "reference_kernels.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

using Numbers = std::vector<std::uint32_t>;

struct Case {
  std::size_t n;
  std::vector<double> K;
  TreeFactors factors;
  Numbers first, second;

  std::size_t n_pairs() const { return first.size(); }
  double kernel(std::size_t p, std::size_t q) const {
    const auto k = [&](std::size_t i, std::size_t j) { return K[i * n + j]; };
    return k(first[p], first[q]) - k(first[p], second[q]) - k(second[p], first[q]) +
           k(second[p], second[q]);
  }
};

// Random pairs, some of them of an example with itself.
Case random_case(unsigned seed, std::size_t n, std::size_t n_pairs) {
  static SvmMatrices matrices(subset_tree(0.4));
  const Forest forest = forest_of(svm_trees(seed, n));
  Case c{n,
         matrices.of(seed, n),
         assemble(factorize<double>(subset_tree(0.4), *forest.dag, {}, 1, {}), *forest.dag,
                  forest.roots, {}, 1, {}),
         {},
         {}};
  std::mt19937 random(seed);
  for (std::size_t p = 0; p < n_pairs; ++p) {
    c.first.push_back(static_cast<std::uint32_t>(p * n / n_pairs));
    c.second.push_back(static_cast<std::uint32_t>(below(random, static_cast<unsigned>(n))));
  }
  return c;
}

void products_are_those_of_the_kernel() {
  for (unsigned seed = 1; seed < 5; ++seed) {
    const Case c = random_case(seed, 12, 40);
    const SingleFactors single(c.factors);
    const PairFactors pairs(single, c.first, c.second, 2, {});
    CHECK_EQUAL(pairs.n_trees(), c.n_pairs());
    for (std::size_t p = 0; p < c.n_pairs(); ++p) {
      CHECK(near(pairs.self[p], c.kernel(p, p), 1e-12));
      std::vector<double> z(pairs.n_columns(), 0.0), by_entries(pairs.n_columns(), 0.0);
      pairs.add(p, 2.0, z.data());
      pairs.for_each(p, [&](std::size_t column, double value, double mass) {
        by_entries[column] += 2.0 * value * mass;
      });
      for (std::size_t t = 0; t < z.size(); ++t) CHECK(near(by_entries[t], z[t], 1e-12));
      for (std::size_t q = 0; q < c.n_pairs(); ++q) {
        CHECK(near(pairs.dot(q, z.data()) + pairs.diagonal[q], 2.0 * c.kernel(p, q), 1e-12));
      }
    }
  }
}

template <Loss L>
void check_training(const L& loss, const Case& c, double C) {
  const SingleFactors single(c.factors);
  const PairFactors pairs(single, c.first, c.second, 1, {});
  const std::vector<std::int8_t> y(c.n_pairs(), 1);
  const std::vector<double> costs(c.n_pairs(), C);
  SvmProblem problem;
  problem.y = y;
  problem.C = costs;
  problem.intercept = false;
  problem.tol = 1e-8;
  problem.max_sweeps = 1'000'000;
  SolverProgress progress{0};
  const SvmSolution s = train_svm(pairs, loss, problem, progress, {});
  double norm = 0.0, losses = 0.0, linear = 0.0;
  for (std::size_t p = 0; p < c.n_pairs(); ++p) {
    double m = 0.0;
    for (std::size_t q = 0; q < c.n_pairs(); ++q) m += c.kernel(p, q) * s.alpha[q];
    norm += s.alpha[p] * m;
    losses += loss.value(C, L::target - m);
    linear += L::target * s.alpha[p] - loss.conjugate(C, s.alpha[p]);
  }
  CHECK(s.gap <= 1e-8);
  CHECK(near(s.primal, norm / 2 + losses, 1e-9));
  CHECK(near(s.dual, linear - norm / 2, 1e-9));
}

void the_gap_is_that_of_the_kernel() {
  for (unsigned seed = 1; seed < 4; ++seed) {
    for (const double C : {0.1, 100.0}) {
      const Case c = random_case(seed, 25, 120);
      check_training(Hinge{}, c, C);
      check_training(SquaredHinge{}, c, C);
      check_training(Logistic{}, c, C);
    }
  }
}

void examples_must_exist() {
  const Case c = random_case(1, 5, 8);
  const SingleFactors single(c.factors);
  const auto make = [&](Numbers first, Numbers second) {
    PairFactors(single, std::move(first), std::move(second), 1, {});
  };
  CHECK_THROWS(std::invalid_argument, make({0, 5}, {1, 2}));
  CHECK_THROWS(std::invalid_argument, make({0, 1}, {1, 7}));
  CHECK_THROWS(std::invalid_argument, make({0, 1}, {1}));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(products_are_those_of_the_kernel),
      TEST(the_gap_is_that_of_the_kernel),
      TEST(examples_must_exist),
  });
}
