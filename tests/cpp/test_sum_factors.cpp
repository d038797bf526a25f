// Tests sums of kernels, their matrix and the SVM trained with them, against the reference.
#include <stdexcept>

#include "factors/sum_factors.hpp"
#include "learn/svm/condensed_factors.hpp"
#include "learn/svm/dual_descent.hpp"
#include "reference_factors.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

std::shared_ptr<const TreeFactors> factors_of(const SomeKernel& spec,
                                              const std::vector<Tree>& trees, bool normalize) {
  const Forest forest = forest_of(trees);
  const bool include_leaves = KernelSpec(spec)->counts_leaves();
  return std::make_shared<TreeFactors>(assemble(factorize<double>(spec, *forest.dag, {}, 1, {}),
                                                *forest.dag, forest.roots,
                                                {include_leaves, normalize}, 1, {}));
}

std::vector<double> some_scales(unsigned seed, std::size_t n) {
  std::mt19937 random(seed);
  std::vector<double> scales;
  for (std::size_t i = 0; i < n; ++i) scales.push_back(0.25 * below(random, 8));
  return scales;
}

// The kernel matrix that the factors stand for, by rows.
template <class F>
std::vector<double> multiplied_out(const F& factors) {
  const std::size_t n = factors.n_trees();
  std::vector<double> product(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> z(factors.n_columns(), 0.0);
    factors.add(j, 1.0, z.data());
    for (std::size_t i = 0; i < n; ++i) {
      product[i * n + j] = factors.dot(i, z.data()) + (i == j ? factors.diagonal[i] : 0.0);
    }
  }
  return product;
}

// The condensed factors of some examples give the same products, also after w has changed.
template <class F>
void check_condensed(const F& factors) {
  std::vector<double> z(factors.n_columns(), 0.0);
  std::vector<std::uint32_t> some;
  for (std::uint32_t i = 0; i < factors.n_trees(); ++i) {
    factors.add(i, 0.3 - 0.1 * (i % 7), z.data());
    if (i % 3 != 1) some.push_back(i);
  }
  CondensedFactors<F> condensed(factors);
  for (const std::size_t n : {std::size_t{2}, some.size()}) {
    const std::span examples(some.data(), n);
    condensed.start(examples, z.data());
    for (std::size_t k = 0; k < 2 * n; ++k) {
      CHECK(near(condensed.dot(k % n), factors.dot(some[k % n], z.data()), kTolerance));
      condensed.add(k / 2, 0.5);
      factors.add(some[k / 2], 0.5, z.data());
    }
  }
}

template <class F>
void check_matrix(const F& factors, const std::vector<double>& expected) {
  const std::vector<double> actual = multiplied_out(factors);
  const std::size_t n = factors.n_trees();
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(near(actual[i], expected[i], kTolerance));
  for (std::size_t i = 0; i < n; ++i) CHECK(near(factors.self[i], expected[i * n + i], kTolerance));
  check_condensed(factors);
}

struct Sum {
  SumFactors factors;
  std::vector<double> matrix;
};

// Subset trees, normalised, and partial trees of others, as they are; both with scales.
Sum sum_of_two(unsigned seed, std::size_t n) {
  const std::vector<Tree> a = random_trees(seed, n, 4, 3);
  const std::vector<Tree> b = random_trees(seed + 100, n, 3, 3);
  const std::vector<double> s = some_scales(seed, n);
  const std::vector<double> t = some_scales(seed + 1, n);
  const std::vector<double> of_a = reference_matrix(subset_tree(0.4), a, a, true);
  const std::vector<double> of_b = reference_matrix(partial_tree(0.4, 0.4), b, b, false);
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      matrix[i * n + j] = s[i] * s[j] * of_a[i * n + j] + t[i] * t[j] * of_b[i * n + j];
    }
  }
  std::vector<SumTerm> terms{{factors_of(subset_tree(0.4), a, true), s},
                             {factors_of(partial_tree(0.4, 0.4), b, false), t}};
  return {SumFactors(n, std::move(terms)), matrix};
}

void a_single_kernel() {
  const std::vector<Tree> trees = random_trees(1, 20, 4, 3);
  const std::vector<double> expected = reference_matrix(subset_tree(0.4), trees, trees, true);
  const auto factors = factors_of(subset_tree(0.4), trees, true);
  check_matrix(SingleFactors(*factors), expected);
  check_matrix(SumFactors(20, {{factors, std::vector<double>(20, 1.0)}}), expected);
}

void a_sum_with_scales() {
  for (unsigned seed = 1; seed < 6; ++seed) {
    const Sum sum = sum_of_two(seed, 14);
    check_matrix(sum.factors, sum.matrix);
  }
}

// The preference kernel: an example is a tree that is better than another.
void two_trees_with_signs() {
  constexpr std::size_t n = 12;
  for (unsigned seed = 1; seed < 4; ++seed) {
    std::vector<Tree> trees = random_trees(seed, 2 * n, 3, 3);
    trees[n + 2] = trees[2];  // nothing to prefer: its features are all 0
    const std::vector<double> K = reference_matrix(subset_tree(0.4), trees, trees, true);
    std::vector<double> scale = some_scales(seed, n);
    for (std::size_t i = 0; i < n; ++i) scale.push_back(-scale[i]);
    std::vector<double> expected(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const auto of = [&](std::size_t a, std::size_t b) { return K[a * 2 * n + b]; };
        expected[i * n + j] =
            scale[i] * scale[j] * (of(i, j) + of(i + n, j + n) - of(i, j + n) - of(i + n, j));
      }
    }
    const SumFactors sum(n, {{factors_of(subset_tree(0.4), trees, true), scale}});
    check_matrix(sum, expected);
    CHECK(sum.self[2] >= 0.0);
  }
}

void terms_that_do_not_fit() {
  const auto factors = factors_of(subtree(0.4), random_trees(1, 6, 3), true);
  const std::vector<double> six(6, 1.0);
  CHECK_THROWS(std::invalid_argument, SumFactors(6, {{factors, std::vector<double>(5, 1.0)}}));
  for (const std::size_t n : {0, 4, 5, 12}) {
    CHECK_THROWS(std::invalid_argument, SumFactors(n, {{factors, six}}));
  }
  CHECK_EQUAL(SumFactors(3, {{factors, six}}).n_trees(), std::size_t{3});
}

void the_machine_that_learns() {
  for (unsigned seed = 1; seed < 4; ++seed) {
    const Sum sum = sum_of_two(seed, 30);
    for_each_setting([&](double C, bool squared_hinge, bool intercept) {
      const SvmCase c = random_svm_case(seed, sum.matrix, 30, C, squared_hinge, intercept);
      SolverProgress progress{0};
      const SvmSolution s = solve_case(c, sum.factors, c.problem(), progress);
      check_objectives(c, s, 1e-12);
      check_optimal(c, s, 1e-4);
      SvmProblem problem = c.problem();
      problem.n_threads = 3;
      check_same(solve_case(c, sum.factors, problem, progress), s);
    });
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(a_single_kernel),
      TEST(a_sum_with_scales),
      TEST(two_trees_with_signs),
      TEST(terms_that_do_not_fit),
      TEST(the_machine_that_learns),
  });
}
