// Delta = Phi M Phi^T + diag(r) for partial trees, against brute force.
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

std::vector<KernelSpec> partial_specs() {
  std::vector<KernelSpec> specs;
  for (const Penalty penalty : {Penalty::span, Penalty::gaps}) {
    for (const std::uint32_t longest : {0, 1, 2, 3, 100}) {
      specs.push_back(partial_tree(0.4, 0.6, penalty, longest));
    }
    specs.push_back(partial_tree(1.0, 1.0, penalty));
    specs.push_back(partial_tree(0.05, 0.01, penalty));
    specs.push_back(partial_tree(0.7, 1.0, penalty));
  }
  return specs;
}

// As learners have it; hardly any; none, which closes every block by pairs; and no end.
constexpr double kBudgets[] = {1.0, 0.3, 0.0, 1e9};

std::vector<std::vector<Tree>> some_forests() {
  std::vector<std::vector<Tree>> forests{{{"A", {}}}, random_trees(1, 1, 5), {}};
  for (unsigned seed = 2; seed < 7; ++seed) forests.push_back(random_trees(seed, 12, 4, 3));
  for (unsigned seed = 7; seed < 9; ++seed) forests.push_back(random_trees(seed, 8, 3, 6));
  for (unsigned seed = 9; seed < 13; ++seed) forests.push_back(near_duplicates(seed, 10, 5));
  return forests;
}

template <class Real>
void check_factors(const KernelSpec& spec, const Dag& dag, const std::vector<double>& expected,
                   double budget, int n_threads) {
  const Factors<Real> factors = factorized<Real>(spec, dag, budget, n_threads);
  CHECK_EQUAL(factors.begin.size(), dag.size() + 1);
  const std::vector<double> actual = multiplied(factors);
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], expected[i], kTolerance);
  for (NodeId u = 0; u < dag.size(); ++u) {
    CHECK_NEAR(plain(factors.self[u]), expected[u * dag.size() + u], kTolerance);
  }
}

void factors_multiply_to_delta() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    for (const KernelSpec& spec : partial_specs()) {
      const std::vector<double> expected = reference_delta(spec, *forest.dag);
      for (const double budget : kBudgets) {
        check_factors<double>(spec, *forest.dag, expected, budget, 1);
      }
      check_factors<double>(spec, *forest.dag, expected, 1.0, 3);
      for (const double budget : {1e9, 0.0}) {
        check_factors<Wide>(spec, *forest.dag, expected, budget, 2);
      }
    }
  }
}

// A column is shared by two nodes at least, has mass and values; both lists say the same.
void columns_are_classes() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    const auto factors = factorized<double>(partial_tree(0.4, 0.4), *forest.dag, 1e9, 1);
    CHECK_EQUAL(factors.n_blocks_by_pairs, 0);
    std::vector<std::vector<std::pair<NodeId, double>>> sets(factors.mass.size());
    for (NodeId u = 0; u < forest.dag->size(); ++u) {
      const auto features = factors.features_of(u);
      CHECK(std::is_sorted(features.begin(), features.end()));
      CHECK(std::adjacent_find(features.begin(), features.end()) == features.end());
      for (std::size_t i = 0; i < features.size(); ++i) {
        sets[features[i]].emplace_back(u, factors.values[factors.begin[u] + i]);
      }
    }
    for (std::uint32_t t = 0; t < sets.size(); ++t) {
      CHECK(sets[t].size() >= 2);
      std::vector<std::pair<NodeId, double>> listed;
      double most = 0.0;
      for (std::size_t k = factors.set_begin[t]; k < factors.set_begin[t + 1]; ++k) {
        listed.emplace_back(factors.nodes[k], factors.set_values[k]);
        CHECK(factors.set_values[k] > 0.0);
        most = std::max(most, factors.set_values[k]);
      }
      CHECK_EQUAL(most, 1.0);
      std::sort(listed.begin(), listed.end());
      CHECK(listed == sets[t]);
      CHECK(factors.mass[t] > 0.0);
    }
    for (const double r : factors.residual) CHECK(r >= 0.0);
  }
}

// The same children in nodes that differ in one: all fragments without it are one class.
void proportional_values_are_one_feature() {
  std::vector<Tree> trees;
  for (const char* label : {"x", "y", "z"}) {
    Tree tree{"S", {}};
    for (const char* same : {"a", "b", "c", "d", "e"}) tree.children.push_back({same, {}});
    tree.children.push_back({label, {}});
    trees.push_back(tree);
  }
  const Forest forest = forest_of(trees);
  for (const KernelSpec& spec : {partial_tree(0.4, 0.4), partial_tree(1.0, 1.0)}) {
    const auto factors = factorized<double>(spec, *forest.dag, 1e9, 1);
    CHECK_EQUAL(factors.mass.size(), 2);  // S alone, and S with some of the five
    check_factors<double>(spec, *forest.dag, reference_delta(spec, *forest.dag), 1e9, 1);
  }
}

template <class Real>
void check_same(const Factors<Real>& a, const Factors<Real>& b) {
  CHECK(a.begin == b.begin);
  CHECK(a.features == b.features);
  const auto same = [](const std::vector<Real>& x, const std::vector<Real>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Real& p, const Real& q) { return plain(p) == plain(q); });
  };
  CHECK(same(a.values, b.values));
  CHECK(a.nodes == b.nodes);
  CHECK(a.set_begin == b.set_begin);
  CHECK(same(a.mass, b.mass));
  CHECK(same(a.residual, b.residual));
  CHECK_EQUAL(a.n_rounds, b.n_rounds);
  CHECK_EQUAL(a.n_blocks_by_pairs, b.n_blocks_by_pairs);
}

void threads_do_not_matter() {
  std::vector<Tree> trees = random_trees(21, 300, 5, 3);
  for (const Tree& tree : near_duplicates(22, 100, 5)) trees.push_back(tree);
  const Forest forest = forest_of(trees);
  const KernelSpec spec = partial_tree(0.4, 0.4);
  const auto one = factorized<double>(spec, *forest.dag, 1.0, 1);
  const auto wide = factorized<Wide>(spec, *forest.dag, 1.0, 1);
  for (const int n_threads : {2, 3, 8}) {
    check_same(one, factorized<double>(spec, *forest.dag, 1.0, n_threads));
    check_same(wide, factorized<Wide>(spec, *forest.dag, 1.0, n_threads));
  }
}

void a_limit_of_memory() {
  const Forest forest = forest_of(random_trees(23, 100, 4, 3));
  const KernelSpec spec = partial_tree(0.4, 0.4);
  for (const double budget : {1.0, 0.0}) {
    const auto error = check::caught<OutOfMemory>(
        [&] { factorize<double>(spec, *forest.dag, {budget, 1000}, 2, {}); });
    CHECK(error && error->bytes > 1000);
    factorize<double>(spec, *forest.dag, {budget, 1u << 30}, 2, {});
  }
}

// Enough for threads to be used, and for blocks that are closed by pairs.
void threads_do_not_matter_to_many_nodes() {
  const Forest forest = forest_of(random_trees(26, 600, 4, 3));
  CHECK(forest.dag->size() > 1000);
  const KernelSpec spec = partial_tree(0.4, 0.4);
  for (const double budget : {1.0, 0.003}) {
    const auto one = factorized<double>(spec, *forest.dag, budget, 1);
    CHECK(budget == 1.0 || one.n_blocks_by_pairs > 0);
    for (const int n_threads : {2, 8}) {
      check_same(one, factorized<double>(spec, *forest.dag, budget, n_threads));
    }
  }
}

// The same limit holds or does not, whatever the number of threads.
void a_limit_of_work() {
  const Forest forest = forest_of(random_trees(23, 300, 4, 3));
  const KernelSpec spec = partial_tree(0.4, 0.4);
  for (const double budget : {1.0, 0.0}) {
    const auto within = [&](double max_work, int n_threads) {
      const FactorLimits limits{budget, ~std::uint64_t{0}, max_work};
      return !check::caught<WorkExceeded>(
          [&] { factorize<double>(spec, *forest.dag, limits, n_threads, {}); });
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

void a_limit_of_steps() {
  KernelSpec spec = partial_tree(0.4, 0.4);
  spec.max_steps = 100.0;
  const Forest forest = forest_of({{"S", std::vector<Tree>(11, Tree{"a", {}})}});
  const auto error =
      check::caught<TooExpensive>([&] { factorize<double>(spec, *forest.dag, {}, 1, {}); });
  CHECK(error.has_value());
}

void which_numbers_fit_double() {
  CHECK(fits_double(partial_tree(0.4, 0.4), *forest_of(random_trees(24, 50, 4)).dag, {}, 1, {}));
  CHECK(!fits_double(partial_tree(1.0, 1.0), *doubling_forest(25).dag, {}, 1, {}));
  // Far below, though a bound that takes one pass does not tell: the children are all different.
  Tree wide{"S", {}};
  for (int i = 0; i < 800; ++i) wide.children.push_back({std::to_string(i), {}});
  const Forest forest = forest_of({wide});
  const auto factors = factorize<Wide>(partial_tree(1.0, 1.0), *forest.dag, {}, 1, {});
  CHECK_EQUAL(fits_double(partial_tree(1.0, 1.0), *forest.dag, {}, 1, {}),
              factors.self[forest.roots[0]].to_double() < 1e280);
  CHECK(fits_double(partial_tree(1.0, 1.0), *forest.dag, {}, 1, {}));
  CHECK(
      !fits_double(partial_tree(1e-30, 1e-30), *forest_of(random_trees(24, 50, 4)).dag, {}, 1, {}));
}

// Values beyond double: a chain of nodes with two equal children, at the top and nearly so.
void values_beyond_double() {
  const Forest forest = doubling_forest(25);
  const auto factors = factorized<Wide>(partial_tree(1.0, 1.0), *forest.dag, 1e9, 1);
  const NodeId top = forest.roots[0];
  Wide sum = factors.residual[top];
  for (std::uint64_t k = factors.begin[top]; k < factors.begin[top + 1]; ++k) {
    sum += factors.mass[factors.features[k]] * factors.values[k] * factors.values[k];
  }
  CHECK(sum.power() > 0);
  CHECK_NEAR(ratio(sum, factors.self[top], Wide(1.0)), 1.0, kTolerance);
}

// Between nodes of one side and of the other nothing changes, and there are fewer features.
void sides() {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Forest forest = forest_of(random_trees(seed, 12, 6));
    const Dag& dag = *forest.dag;
    std::vector<std::uint8_t> side(dag.size(), 0);
    for (std::size_t i = 0; i < forest.roots.size(); ++i) side[forest.roots[i]] |= i < 5 ? 1 : 2;
    for (std::size_t u = dag.size(); u-- > 0;) {
      for (const NodeId c : dag.children(static_cast<NodeId>(u))) side[c] |= side[u];
    }
    const KernelSpec spec = partial_tree(0.4, 0.6);
    const std::vector<double> expected = reference_delta(spec, dag);
    for (const double budget : {1e9, 1.0, 0.0}) {
      FactorLimits limits{budget};
      const std::size_t all = factorize<double>(spec, dag, limits, 1, {}).mass.size();
      limits.sides = side;
      Factors<double> factors = factorize<double>(spec, dag, limits, 1, {});
      CHECK(factors.mass.size() <= all);
      list_rows(factors);
      const std::vector<double> product = multiplied(factors);
      for (std::size_t k = 0; k < product.size(); ++k) {
        const auto both = side[k / dag.size()] | side[k % dag.size()];
        if (both == kBothSides) CHECK_NEAR(product[k], expected[k], kTolerance);
      }
    }
  }
}

void an_interrupt_ends_the_work() {
  const Forest forest = forest_of(random_trees(4, 400, 6, 5));
  for (const int n_threads : {1, 3}) {
    int looks = 0;
    const Watch watch = [&](std::size_t, std::size_t) {
      ++looks;
      throw Interrupt{};
    };
    CHECK_THROWS(Interrupt,
                 factorize<double>(partial_tree(0.4, 0.4), *forest.dag, {1e6}, n_threads, watch));
    CHECK_EQUAL(looks, 1);
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(factors_multiply_to_delta),
      TEST(columns_are_classes),
      TEST(proportional_values_are_one_feature),
      TEST(threads_do_not_matter),
      TEST(a_limit_of_memory),
      TEST(threads_do_not_matter_to_many_nodes),
      TEST(a_limit_of_work),
      TEST(a_limit_of_steps),
      TEST(which_numbers_fit_double),
      TEST(values_beyond_double),
      TEST(sides),
      TEST(an_interrupt_ends_the_work),
  });
}
