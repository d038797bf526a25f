// Tests Delta = Phi M Phi^T + diag(r) over the distinct nodes of a forest against brute force.
#include "factor_checks.hpp"

namespace filbert {

namespace {

std::vector<SomeKernel> factorised_specs() {
  return {subtree(0.4),           subtree(1.0),     subset_tree(0.01),     subset_tree(0.4),
          subset_tree(0.4, true), subset_tree(1.0), subset_tree(1.0, true)};
}

void factors_multiply_to_delta() { check_all_forests(factorised_specs()); }

void columns_are_classes() {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    check_columns(factorized<double>(subset_tree(0.4), *forest.dag, 1e9, 1));
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
    for (const double decay : {0.4, 1.0}) check_all_budgets(subset_tree(decay), *forest.dag);
  }
}

// Nodes with independent choices in each slot.
Forest wide_nodes(std::size_t n, int n_slots, std::uint32_t n_choices) {
  std::mt19937 random(3);
  std::vector<Tree> trees;
  while (trees.size() < n) {
    Tree tree{"S", {}};
    for (int slot = 0; slot < n_slots; ++slot) {
      tree.children.push_back(
          {"T", {{std::string(1, static_cast<char>('a' + below(random, n_choices))), {}}}});
    }
    trees.push_back(tree);
  }
  return forest_of(trees);
}

// There are 2^12 classes of fragments: the budget ends the walk, and the pairs are right.
void a_budget_that_runs_out() {
  const Forest forest = wide_nodes(40, 12, 2);
  const SomeKernel spec = subset_tree(0.4);
  CHECK(factorized<double>(spec, *forest.dag, 0.5, 1).n_blocks_by_pairs > 0);
  CHECK_EQUAL(factorized<double>(spec, *forest.dag, 1e9, 1).n_blocks_by_pairs, 0);
  check_all_budgets(spec, *forest.dag);
}

void threads_do_not_matter() {
  std::vector<Tree> trees = random_trees(21, 6000, 6, 3);
  for (const Tree& tree : near_duplicates(22, 500, 6)) trees.push_back(tree);
  const Forest forest = forest_of(trees);
  CHECK(forest.dag->size() > 10000);  // enough for several threads to be used
  for (const double budget : {1.0, 0.5}) {
    check_threads<double>(subset_tree(0.4), *forest.dag, budget);
    check_threads<Wide>(subset_tree(0.4), *forest.dag, budget);
  }
}

void limits() {
  const Forest forest = forest_of(random_trees(23, 300, 5, 3));
  check_limit_of_memory(subset_tree(0.4), *forest.dag);
  check_limit_of_work(subset_tree(0.4), *forest.dag);
}

void which_numbers_fit_double() {
  CHECK(fits_double(subset_tree(1.0), *forest_of(random_trees(24, 50, 4)).dag, {}, 1, {}));
  CHECK(!fits_double(subset_tree(1.0), *doubling_forest(25).dag, {}, 1, {}));
  CHECK(fits_double(subtree(1.0), *doubling_forest(25).dag, {}, 1, {}));
}

// Much is shared, and nothing equal.
void an_interrupt_ends_the_work() {
  check_interrupt(subset_tree(0.4), *wide_nodes(1500, 40, 3).dag);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(factors_multiply_to_delta),
      TEST(columns_are_classes),
      TEST(chains),
      TEST(a_budget_that_runs_out),
      TEST(threads_do_not_matter),
      TEST(limits),
      TEST(which_numbers_fit_double),
      TEST(an_interrupt_ends_the_work),
  });
}
