// Tests Delta = Phi M Phi^T + diag(r) for partial trees against brute force.
#include "factor_checks.hpp"
#include "rows/matrix.hpp"
#include "scoring/operator.hpp"

namespace filbert {

namespace {

std::vector<SomeKernel> partial_specs() {
  std::vector<SomeKernel> specs;
  for (const Penalty penalty : {Penalty::span, Penalty::gaps}) {
    for (const std::uint32_t longest : {0, 2, 100}) {
      specs.push_back(partial_tree(0.4, 0.6, penalty, longest));
    }
    specs.push_back(partial_tree(1.0, 1.0, penalty));
    specs.push_back(partial_tree(0.05, 0.01, penalty));
    specs.push_back(partial_tree(0.7, 1.0, penalty));
  }
  return specs;
}

void factors_multiply_to_delta() { check_all_forests(partial_specs()); }

void columns_are_classes() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    const auto factors = factorized<double>(partial_tree(0.4, 0.4), *forest.dag, 1e9, 1);
    CHECK_EQUAL(factors.n_blocks_by_pairs, 0);
    check_columns(factors);
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
  for (const SomeKernel& spec : {partial_tree(0.4, 0.4), partial_tree(1.0, 1.0)}) {
    const auto factors = factorized<double>(spec, *forest.dag, 1e9, 1);
    CHECK_EQUAL(factors.mass.size(), 2);  // S alone, and S with some of the five
    check_factors<double>(spec, *forest.dag, reference_delta(spec, *forest.dag), 1e9, 1);
  }
}

// Enough for threads to be used, and for blocks that are closed by pairs.
void threads_do_not_matter() {
  const SomeKernel spec = partial_tree(0.4, 0.4);
  std::vector<Tree> trees = random_trees(21, 100, 5, 3);
  for (const Tree& tree : near_duplicates(22, 40, 5)) trees.push_back(tree);
  const Forest forest = forest_of(trees);
  check_threads<double>(spec, *forest.dag, 1.0);
  check_threads<Wide>(spec, *forest.dag, 1.0);
  const Forest many = forest_of(random_trees(26, 600, 4, 3));
  CHECK(many.dag->size() > 1000);
  CHECK(factorized<double>(spec, *many.dag, 0.003, 1).n_blocks_by_pairs > 0);
  for (const double budget : {1.0, 0.003}) check_threads<double>(spec, *many.dag, budget);
}

// One label only, with levels of many pieces, on threads that help each other.
void threads_do_not_matter_in_a_large_block() {
  std::mt19937 random(31);
  const auto leaf = [&] { return Tree{std::string(1, "abcdefgh"[random() % 8]), {}}; };
  std::vector<Tree> trees;
  for (int n = 0; n < 1500; ++n) {
    Tree tree{"S", {}};
    for (int child = 0; child < 9; ++child) tree.children.push_back(leaf());
    trees.push_back(tree);
  }
  const Forest forest = forest_of(trees);
  check_threads<double>(partial_tree(0.4, 0.4, Penalty::gaps, 4), *forest.dag, 1e9);
  check_threads<double>(partial_tree(0.4, 0.4, Penalty::gaps), *forest.dag, 0.01);  // by pairs
}

void limits() {
  const Forest forest = forest_of(random_trees(23, 150, 4, 3));
  check_limit_of_memory(partial_tree(0.4, 0.4), *forest.dag);
  check_limit_of_work(partial_tree(0.4, 0.4), *forest.dag);
}

void a_limit_of_steps() {
  SomeKernel spec = partial_tree(0.4, 0.4);
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
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Forest forest = forest_of(random_trees(seed, 12, 6));
    const Dag& dag = *forest.dag;
    std::vector<std::uint8_t> side(dag.size(), 0);
    for (std::size_t i = 0; i < forest.roots.size(); ++i) side[forest.roots[i]] |= i < 5 ? 1 : 2;
    for (std::size_t u = dag.size(); u-- > 0;) {
      for (const NodeId c : dag.children(static_cast<NodeId>(u))) side[c] |= side[u];
    }
    const SomeKernel spec = partial_tree(0.4, 0.6);
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

// As by rows. Trees with a node several times, small ones and large ones in one forest, chains.
void norms_are_exact_without_light_fragments() {
  std::vector<Tree> trees = random_trees(31, 30, 4);
  for (const Tree& tree : random_trees(32, 6, 8)) trees.push_back(tree);
  trees.push_back({"A", {trees[0], trees[1], trees[0], trees[0]}});
  for (int i = 0; i < 70; ++i) trees.push_back({"A", {i == 0 ? Tree{"A", {}} : trees.back()}});
  const Forest forest = forest_of(trees);
  const auto& sizes = forest.dag->sizes();
  const auto is_large = [&](NodeId root) { return sizes[root] > 64; };
  CHECK(std::any_of(forest.roots.begin(), forest.roots.end(), is_large));
  CHECK(!std::all_of(forest.roots.begin(), forest.roots.end(), is_large));
  for (const SomeKernel& kernel : partial_specs()) {
    const KernelSpec spec = kernel;
    const std::vector<Wide> expected = self_kernels(spec, {*forest.dag, forest.roots}, 1, {});
    OperatorOptions options;
    options.normalize = false;
    options.kernel_tol = 1e-3;
    const KernelOperator factors(spec, forest.dag, forest.roots, options, 2, {});
    const auto squares = spec->small_squares(*forest.dag, forest.roots, 1, {});
    CHECK(squares == spec->small_squares(*forest.dag, forest.roots, 3, {}));
    for (std::size_t i = 0; i < forest.roots.size(); ++i) {
      CHECK_NEAR(factors.trees().self[i], expected[i].to_double(), kTolerance);
      CHECK_NEAR(squares[i], expected[i].to_double(), kTolerance);
    }
  }
}

void an_interrupt_ends_the_work() {
  check_interrupt(partial_tree(0.4, 0.4), *forest_of(random_trees(4, 400, 6, 5)).dag);
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
      TEST(threads_do_not_matter_in_a_large_block),
      TEST(limits),
      TEST(a_limit_of_steps),
      TEST(which_numbers_fit_double),
      TEST(values_beyond_double),
      TEST(sides),
      TEST(norms_are_exact_without_light_fragments),
      TEST(an_interrupt_ends_the_work),
  });
}
