// Tests the kernel matrix of trees that is computed from their factors against the reference.
#include <algorithm>

#include "base/errors.hpp"
#include "check.hpp"
#include "factors/tree_factors.hpp"
#include "reference_factors.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;
struct Interrupt {};

template <class Real>
TreeFactors assembled(const SomeKernel& spec, const Forest& forest, bool normalize,
                      double budget = 4.0, int n_threads = 1, bool any_order = false) {
  FactorLimits limits{budget};
  limits.any_order = any_order;
  Factors<Real> factors = factorize<Real>(spec, *forest.dag, limits, n_threads, {});
  const bool include_leaves = KernelSpec(spec)->counts_leaves();
  return assemble(std::move(factors), *forest.dag, forest.roots, {include_leaves, normalize},
                  n_threads, {});
}

void check_matrix(const TreeFactors& factors, const std::vector<double>& expected) {
  const std::vector<double> actual = multiplied(factors);
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], expected[i], kTolerance);
  const std::size_t n = factors.n_trees();
  for (std::size_t i = 0; i < n; ++i) CHECK_NEAR(factors.self[i], expected[i * n + i], kTolerance);
}

std::vector<std::vector<Tree>> some_forests() {
  std::vector<std::vector<Tree>> forests{random_trees(1, 1, 4), near_duplicates(2, 12, 4)};
  for (unsigned seed = 3; seed < 6; ++seed) forests.push_back(random_trees(seed, 14, 4, 3));
  forests.push_back({{"A", {}}, {"A", {{"A", {}}}}, {"B", {}}, {"A", {}}});  // hardly any fragment
  std::vector<Tree> repeated = random_trees(6, 6, 3);
  repeated.insert(repeated.end(), {repeated[2], repeated[2], repeated[0]});
  forests.push_back(repeated);
  return forests;
}

void the_kernel_matrix() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    for (const SomeKernel& spec :
         {subtree(0.4), subset_tree(0.4), subset_tree(1.0, true), partial_tree(0.4, 0.6),
          partial_tree(1.0, 1.0), partial_tree(0.7, 0.4, Penalty::gaps, 2)}) {
      for (const bool normalize : {false, true}) {
        const std::vector<double> expected = reference_matrix(spec, trees, trees, normalize);
        for (const double budget : {4.0, 0.0}) {
          check_matrix(assembled<double>(spec, forest, normalize, budget), expected);
          check_matrix(assembled<Wide>(spec, forest, normalize, budget, 3), expected);
          check_matrix(assembled<double>(spec, forest, normalize, budget, 2, true), expected);
          check_matrix(assembled<Wide>(spec, forest, normalize, budget, 1, true), expected);
        }
      }
    }
  }
}

// Trees that have one node a hundred times: such columns have values.
void repeated_nodes() {
  std::vector<Tree> trees;
  for (const std::size_t n : {100u, 101u, 3u, 1u}) {
    trees.push_back({"S", std::vector<Tree>(n, Tree{"T", {{"x", {}}}})});
    trees.push_back({"R", std::vector<Tree>(n, Tree{"T", {{"x", {}}}})});
  }
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : {subset_tree(0.4), subset_tree(0.1, true), subtree(0.4)}) {
    for (const bool normalize : {false, true}) {
      check_matrix(assembled<double>(spec, forest, normalize),
                   reference_matrix(spec, trees, trees, normalize));
    }
  }
}

void a_part_of_a_forest() {
  const std::vector<Tree> trees = random_trees(7, 20, 4, 3);
  const Forest all = forest_of(trees);
  const Forest part{all.dag, {all.roots.begin() + 5, all.roots.begin() + 12}};
  const std::vector<Tree> some(trees.begin() + 5, trees.begin() + 12);
  const SomeKernel spec = subset_tree(0.4);
  check_matrix(assembled<double>(spec, part, true), reference_matrix(spec, some, some, true));
}

void no_trees() {
  const Forest some = forest_of(random_trees(8, 5, 3));
  for (const Forest& forest : {Forest{some.dag, {}}, Forest{DagBuilder().finish(), {}}}) {
    const TreeFactors factors = assembled<double>(subset_tree(0.4), forest, true);
    CHECK_EQUAL(factors.n_trees(), 0);
    CHECK(factors.columns.empty());
  }
}

// What only one tree has is in its diagonal, and columns of the same trees are one column.
void columns_are_shared_and_merged() {
  const Forest forest = forest_of(random_trees(9, 60, 4, 3));
  const TreeFactors factors = assembled<double>(subset_tree(0.4), forest, true);
  std::vector<std::vector<std::pair<std::size_t, double>>> trees_of(factors.mass.size());
  for (std::size_t i = 0; i < factors.n_trees(); ++i) {
    std::vector<double> count(factors.mass.size(), 0.0);
    factors.for_each(
        i, [&](std::uint32_t column, auto... value) { count[column] += (1.0 * ... * value); });
    for (std::size_t t = 0; t < count.size(); ++t) {
      if (count[t] != 0.0) trees_of[t].emplace_back(i, count[t]);
    }
  }
  CHECK(!trees_of.empty());
  for (const auto& trees : trees_of) CHECK(trees.size() >= 2);
  std::sort(trees_of.begin(), trees_of.end());
  CHECK(std::adjacent_find(trees_of.begin(), trees_of.end()) == trees_of.end());
}

void threads_do_not_matter() {
  const Forest forest = forest_of(random_trees(10, 3000, 5, 3));
  for (const bool normalize : {false, true}) {
    const TreeFactors one = assembled<double>(subset_tree(0.4), forest, normalize, 4.0, 1);
    for (const int n_threads : {2, 3, 8}) {
      const TreeFactors many =
          assembled<double>(subset_tree(0.4), forest, normalize, 4.0, n_threads);
      CHECK(one.begin == many.begin);
      CHECK(one.columns == many.columns);
      CHECK(one.value_begin == many.value_begin);
      CHECK(one.values == many.values);
      CHECK(one.mass == many.mass);
      CHECK(one.scale == many.scale);
      CHECK(one.diagonal == many.diagonal);
      CHECK(one.self == many.self);
    }
  }
}

void a_limit_of_memory() {
  const Forest forest = forest_of(random_trees(11, 500, 5, 3));
  auto factors = factorize<double>(subset_tree(0.4), *forest.dag, {}, 2, {});
  const auto error = check::caught<OutOfMemory>(
      [&] { assemble(std::move(factors), *forest.dag, forest.roots, {false, true, 1000}, 2, {}); });
  CHECK(error && error->bytes > 1000);
}

void an_interrupt_ends_the_work() {
  const Forest few = forest_of(random_trees(12, 2000, 6, 3));
  Forest many{few.dag, {}};  // a few seconds of work
  for (int i = 0; i < 500; ++i)
    many.roots.insert(many.roots.end(), few.roots.begin(), few.roots.end());
  const auto factors = factorize<double>(subset_tree(0.4), *few.dag, {}, 2, {});
  for (const int n_threads : {1, 3}) {
    const Watch watch = [](std::size_t, std::size_t) { throw Interrupt{}; };
    auto copy = factors;
    CHECK_THROWS(Interrupt, assemble(std::move(copy), *many.dag, many.roots, {}, n_threads, watch));
  }
}

void values_beyond_double() {
  const Forest forest = doubling_forest(25);
  CHECK_THROWS(KernelOverflow, assembled<Wide>(subset_tree(1.0), forest, false));
  const TreeFactors factors = assembled<Wide>(subset_tree(1.0), forest, true);
  CHECK_NEAR(multiplied(factors)[0], 1.0, kTolerance);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(the_kernel_matrix),
      TEST(repeated_nodes),
      TEST(a_part_of_a_forest),
      TEST(no_trees),
      TEST(columns_are_shared_and_merged),
      TEST(threads_do_not_matter),
      TEST(a_limit_of_memory),
      TEST(an_interrupt_ends_the_work),
      TEST(values_beyond_double),
  });
}
