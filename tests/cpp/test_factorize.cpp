// Delta = Phi M Phi^T + diag(r) over the distinct nodes of a forest, against brute force.
#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "check.hpp"
#include "engine/factors.hpp"
#include "reference_factors.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;
struct Interrupt {};

std::vector<KernelSpec> factorised_specs() {
  return {subtree(0.4),           subtree(1.0),     subset_tree(0.01),     subset_tree(0.4),
          subset_tree(0.4, true), subset_tree(1.0), subset_tree(1.0, true)};
}

// As learners have it; hardly any; none, which closes every block by pairs; and no end.
constexpr double kBudgets[] = {4.0, 0.3, 0.0, 1e9};

std::vector<std::vector<Tree>> some_forests() {
  std::vector<std::vector<Tree>> forests{{{"A", {}}}, random_trees(1, 1, 5), {}};
  for (unsigned seed = 2; seed < 8; ++seed) forests.push_back(random_trees(seed, 14, 4, 3));
  for (unsigned seed = 8; seed < 14; ++seed) forests.push_back(near_duplicates(seed, 12, 5));
  return forests;
}

template <class Real>
void check_factors(const KernelSpec& spec, const Dag& dag, double budget, int n_threads) {
  const Factors<Real> factors = factorized<Real>(spec, dag, budget, n_threads);
  CHECK_EQUAL(factors.begin.size(), dag.size() + 1);
  const std::vector<double> actual = multiplied(factors);
  const std::vector<double> expected = reference_delta(spec, dag);
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], expected[i], kTolerance);
  for (NodeId u = 0; u < dag.size(); ++u) {
    CHECK_NEAR(plain(factors.self[u]), expected[u * dag.size() + u], kTolerance);
  }
}

void factors_multiply_to_delta() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    for (const KernelSpec& spec : factorised_specs()) {
      for (const double budget : kBudgets) check_factors<double>(spec, *forest.dag, budget, 1);
      check_factors<double>(spec, *forest.dag, 4.0, 3);
    }
  }
}

void wide_factors_multiply_to_delta() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    for (const KernelSpec& spec : factorised_specs()) {
      for (const double budget : {4.0, 0.0}) check_factors<Wide>(spec, *forest.dag, budget, 2);
    }
  }
}

// A column is shared by two nodes at least and has mass; rows ascend; both lists say the same.
void columns_are_classes() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    const Factors<double> factors = factorized<double>(subset_tree(0.4), *forest.dag, 1e9, 1);
    std::vector<std::vector<NodeId>> sets(factors.mass.size());
    for (NodeId u = 0; u < forest.dag->size(); ++u) {
      const auto features = factors.features_of(u);
      CHECK(std::is_sorted(features.begin(), features.end()));
      CHECK(std::adjacent_find(features.begin(), features.end()) == features.end());
      for (const std::uint32_t t : features) sets[t].push_back(u);
    }
    for (std::size_t t = 0; t < sets.size(); ++t) {
      CHECK(sets[t].size() >= 2);
      const auto listed = factors.nodes_of(static_cast<std::uint32_t>(t));
      std::vector<NodeId> nodes(listed.begin(), listed.end());
      std::sort(nodes.begin(), nodes.end());
      CHECK(nodes == sets[t]);
      CHECK(factors.mass[t] > 0.0);
    }
    for (const double r : factors.residual) CHECK(r >= 0.0);
  }
}

// A chain of n nodes over each of two leaves: fragments are n prefixes, private ones included.
void chains() {
  for (const int n : {1, 2, 5, 30}) {
    std::vector<Tree> trees;
    for (const char* leaf : {"x", "y"}) {
      Tree tree{leaf, {}};
      for (int i = 0; i < n; ++i) tree = {"A", {tree}};
      trees.push_back(tree);
    }
    const Forest forest = forest_of(trees);
    for (const double budget : kBudgets) {
      check_factors<double>(subset_tree(0.4), *forest.dag, budget, 1);
      check_factors<double>(subset_tree(1.0), *forest.dag, budget, 1);
    }
  }
}

// Wide nodes with independent choices in each slot have 2^12 classes of fragments: the budget ends
// the walk, and the pairs are right.
void a_budget_that_runs_out() {
  std::mt19937 random(3);
  std::vector<Tree> trees;
  while (trees.size() < 40) {
    Tree tree{"S", {}};
    for (int slot = 0; slot < 12; ++slot) {
      tree.children.push_back(
          {"T", {{std::string(1, static_cast<char>('a' + below(random, 2))), {}}}});
    }
    trees.push_back(tree);
  }
  const Forest forest = forest_of(trees);
  const KernelSpec spec = subset_tree(0.4);
  CHECK(factorized<double>(spec, *forest.dag, 0.5, 1).n_blocks_by_pairs > 0);
  CHECK_EQUAL(factorized<double>(spec, *forest.dag, 1e9, 1).n_blocks_by_pairs, 0);
  for (const double budget : kBudgets) check_factors<double>(spec, *forest.dag, budget, 2);
}

template <class Real>
void check_same(const Factors<Real>& a, const Factors<Real>& b) {
  CHECK(a.begin == b.begin);
  CHECK(a.features == b.features);
  CHECK_EQUAL(a.mass.size(), b.mass.size());
  for (std::size_t t = 0; t < a.mass.size(); ++t) CHECK_EQUAL(plain(a.mass[t]), plain(b.mass[t]));
  for (std::size_t u = 0; u < a.residual.size(); ++u) {
    CHECK_EQUAL(plain(a.residual[u]), plain(b.residual[u]));
  }
  CHECK_EQUAL(a.n_rounds, b.n_rounds);
  CHECK_EQUAL(a.n_blocks_by_pairs, b.n_blocks_by_pairs);
}

void threads_do_not_matter() {
  std::vector<Tree> trees = random_trees(21, 6000, 6, 3);
  for (const Tree& tree : near_duplicates(22, 500, 6)) trees.push_back(tree);
  const Forest forest = forest_of(trees);
  CHECK(forest.dag->size() > 10000);  // enough for several threads to be used
  for (const double budget : {4.0, 0.5}) {
    const KernelSpec spec = subset_tree(0.4);
    const auto one = factorized<double>(spec, *forest.dag, budget, 1);
    const auto wide = factorized<Wide>(spec, *forest.dag, budget, 1);
    for (const int n_threads : {2, 3, 8}) {
      check_same(one, factorized<double>(spec, *forest.dag, budget, n_threads));
      check_same(wide, factorized<Wide>(spec, *forest.dag, budget, n_threads));
    }
  }
}

void a_limit_of_memory() {
  const Forest forest = forest_of(random_trees(23, 300, 5, 3));
  const KernelSpec spec = subset_tree(0.4);
  for (const double budget : {4.0, 0.0}) {
    const auto error = check::caught<OutOfMemory>(
        [&] { factorize<double>(spec, *forest.dag, {budget, 1000}, 2, {}); });
    CHECK(error && error->bytes > 1000);
    factorize<double>(spec, *forest.dag, {budget, 1u << 30}, 2, {});
  }
}

// The same limit holds or does not, whatever the number of threads.
void a_limit_of_work() {
  const Forest forest = forest_of(random_trees(23, 300, 5, 3));
  for (const double budget : {4.0, 0.0}) {
    const auto within = [&](double max_work, int n_threads) {
      const FactorLimits limits{budget, ~std::uint64_t{0}, max_work};
      return !check::caught<WorkExceeded>(
          [&] { factorize<double>(subset_tree(0.4), *forest.dag, limits, n_threads, {}); });
    };
    CHECK(!within(1000.0, 1));
    CHECK(within(1e15, 1));
    double most = 1e15;
    for (double least = 1000.0; most - least > 1.0;) {
      const double middle = std::floor(0.5 * (least + most));
      (within(middle, 1) ? most : least) = middle;
    }
    for (const int n_threads : {1, 2, 5}) {
      CHECK(within(most, n_threads));
      CHECK(!within(most - 1.0, n_threads));
    }
  }
}

void which_numbers_fit_double() {
  CHECK(fits_double(subset_tree(1.0), *forest_of(random_trees(24, 50, 4)).dag, {}, 1, {}));
  CHECK(!fits_double(subset_tree(1.0), *doubling_forest(25).dag, {}, 1, {}));
  CHECK(fits_double(subtree(1.0), *doubling_forest(25).dag, {}, 1, {}));
}

// Trees in which much is shared and nothing equal: seconds of work, given up at the first look.
void an_interrupt_ends_the_work() {
  std::mt19937 random(4);
  std::vector<Tree> trees;
  while (trees.size() < 1500) {
    Tree tree{"S", {}};
    for (int slot = 0; slot < 40; ++slot) {
      tree.children.push_back(
          {"T", {{std::string(1, static_cast<char>('a' + below(random, 3))), {}}}});
    }
    trees.push_back(tree);
  }
  const Forest forest = forest_of(trees);
  for (const int n_threads : {1, 3}) {
    int looks = 0;
    const Watch watch = [&](std::size_t, std::size_t) {
      ++looks;
      throw Interrupt{};
    };
    CHECK_THROWS(Interrupt,
                 factorize<double>(subset_tree(0.4), *forest.dag, {1e6}, n_threads, watch));
    CHECK_EQUAL(looks, 1);
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(factors_multiply_to_delta),
      TEST(wide_factors_multiply_to_delta),
      TEST(columns_are_classes),
      TEST(chains),
      TEST(a_budget_that_runs_out),
      TEST(threads_do_not_matter),
      TEST(a_limit_of_memory),
      TEST(a_limit_of_work),
      TEST(which_numbers_fit_double),
      TEST(an_interrupt_ends_the_work),
  });
}
