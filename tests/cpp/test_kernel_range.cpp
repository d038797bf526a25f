// Tests values beyond the range of double: very large values, very small values, and errors if
// there is no result. The expected values are known in closed form.
#include <algorithm>

#include "base/errors.hpp"
#include "check.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

// A root with n pre-terminals, `changed` of them with another word.
NodeId star(DagBuilder& builder, std::size_t n, std::size_t changed) {
  const LabelId p = builder.label("P");
  const NodeId x = builder.node(p, std::vector<NodeId>{builder.leaf(builder.label("x"))});
  const NodeId y = builder.node(p, std::vector<NodeId>{builder.leaf(builder.label("y"))});
  std::vector<NodeId> children(n, x);
  std::fill_n(children.begin(), changed, y);
  return builder.node(builder.label("R"), children);
}

Forest stars(std::size_t n, const std::vector<std::size_t>& changed) {
  DagBuilder builder;
  std::vector<NodeId> roots;
  for (const std::size_t k : changed) roots.push_back(star(builder, n, k));
  return {builder.finish(), roots};
}

// At decay 1, K of two stars of 1,100 is 2^(pre-terminals they share) and some thousands.
void large_values_normalised() {
  const std::vector<std::size_t> changed{0, 1, 10, 40};
  const Forest forest = stars(1100, changed);
  for (const bool leaves : {false, true}) {
    const SomeKernel spec = subset_tree(1.0, leaves);
    const std::vector<double> within = matrix(spec, forest, true);
    const std::vector<double> between = matrix(spec, forest, stars(1100, changed), true);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const auto apart =
            static_cast<int>(std::max(changed[i], changed[j]) - std::min(changed[i], changed[j]));
        CHECK_NEAR(within[4 * i + j], std::ldexp(1.0, -apart), kTolerance);
        CHECK_NEAR(between[4 * i + j], std::ldexp(1.0, -apart), kTolerance);
      }
    }
  }
}

void large_values_are_an_error() {
  const Forest forest = stars(1100, {0, 1});
  CHECK_THROWS(KernelOverflow, matrix(subset_tree(1.0), forest, false));
  CHECK_THROWS(KernelOverflow, matrix(subset_tree(1.0), forest, forest, false));
  CHECK_THROWS(KernelOverflow, matrix(subset_tree(1.0, true), forest, false, 5));
}

void the_largest_doubles_are_not_an_error() {
  for (const std::size_t n : {990, 1000, 1010, 1023}) {  // 1e300 lies between 2^996 and 2^997
    const double expected = std::ldexp(1.0, static_cast<int>(n));
    CHECK_NEAR(matrix(subset_tree(1.0), stars(n, {0}), false)[0], expected, kTolerance);
  }
  CHECK_THROWS(KernelOverflow, matrix(subset_tree(1.0), stars(1024, {0}), false));
}

std::string overflow_message(const Forest& a, const Forest& b) {
  const auto error =
      check::caught<KernelOverflow>([&] { matrix(subset_tree(1.0), a, b, false, 1); });
  return error ? error->what() : "";
}

void overflow_names_the_trees() {
  DagBuilder builder;
  const NodeId small = star(builder, 3, 0);
  const NodeId large = star(builder, 1100, 0);
  const auto dag = builder.finish();
  const Forest a{dag, {small, small, large}};
  const Forest b{dag, {large}};
  CHECK(overflow_message(a, b).find("trees 2 and 0 ") != std::string::npos);
  CHECK(overflow_message(b, a).find("trees 0 and 2 ") != std::string::npos);
}

// Small values in the tile of a large one are computed again with it, to the same result.
void small_values_beside_large_ones() {
  const std::vector<Tree> trees = random_trees(1, 30, 3);
  for (const SomeKernel& spec : {subset_tree(1.0), subset_tree(1.0, true)}) {
    DagBuilder builder;
    std::vector<NodeId> roots{star(builder, 1100, 0)};
    for (const Tree& tree : trees) roots.push_back(insert(builder, tree));
    const Forest mixed{builder.finish(), roots};
    const std::vector<double> k = matrix(spec, mixed, true);
    const std::vector<double> expected = reference_matrix(spec, trees, trees, true);
    for (std::size_t i = 0; i < 30; ++i) {
      for (std::size_t j = 0; j < 30; ++j) {
        CHECK_NEAR(k[(i + 1) * 31 + j + 1], expected[i * 30 + j], kTolerance);
      }
    }
  }
}

void self_kernels_do_not_overflow() {
  const Forest forest = stars(4000, {0});
  const Wide self = self_kernels(subset_tree(1.0), trees_of(forest), 1, {})[0];
  Wide expected(1.0);
  for (int i = 0; i < 4000; ++i) expected *= Wide(2.0);
  CHECK_NEAR(ratio(self, expected, Wide(1.0)), 1.0, kTolerance);
}

// --- partial trees

Forest flat_trees(const std::vector<std::size_t>& widths) {
  DagBuilder builder;
  const NodeId leaf = builder.leaf(builder.label("x"));
  std::vector<NodeId> roots;
  for (const std::size_t n : widths) {
    roots.push_back(builder.node(builder.label("R"), std::vector<NodeId>(n, leaf)));
  }
  return {builder.finish(), roots};
}

// At lambda = mu = 1, flat trees of n and m equal leaves have binomial(n + m, n) common child
// subsequences, the empty ones among them, and n m pairs of leaves.
void large_partial_trees() {
  const std::vector<std::size_t> widths{600, 610, 650};
  const auto log_binomial = [](std::size_t n, std::size_t m) {
    const auto log_factorial = [](std::size_t k) {
      return std::lgamma(static_cast<long double>(k) + 1.0L);
    };
    return log_factorial(n + m) - log_factorial(n) - log_factorial(m);
  };
  for (const Penalty penalty : {Penalty::span, Penalty::gaps}) {
    const SomeKernel spec = partial_tree(1.0, 1.0, penalty);
    const std::vector<double> k = matrix(spec, flat_trees(widths), true);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t n = widths[i], m = widths[j];
        const long double log_norms = (log_binomial(n, n) + log_binomial(m, m)) / 2;
        const double expected = static_cast<double>(std::exp(log_binomial(n, m) - log_norms));
        CHECK_NEAR(k[3 * i + j], expected, kTolerance);
      }
    }
    CHECK_THROWS(KernelOverflow, matrix(spec, flat_trees(widths), false));
  }
}

// Chosen children still number binomial(n, q) binomial(m, q) for each length q.
void bounded_subsequences_of_wide_trees() {
  const Forest forest = flat_trees({900, 1500});
  const double n = 900, m = 1500;
  const double pairs = n * m;
  const double pairs_of_two = n * (n - 1) / 2 * (m * (m - 1) / 2);
  const SomeKernel one = partial_tree(1.0, 1.0, Penalty::span, 1);
  CHECK_NEAR(matrix(one, forest, false)[1], 1 + pairs + pairs, kTolerance);
  const SomeKernel two = partial_tree(1.0, 1.0, Penalty::gaps, 2);
  CHECK_NEAR(matrix(two, forest, false)[1], 1 + pairs_of_two + pairs + pairs, kTolerance);
}

// --- very small decays: what is left is the number of pairs of the smallest fragments

bool has_smallest(const SomeKernel& spec, const Tree& u, const Tree& v) {
  if (spec.name == "subtree") return count_inner(u) == 1 && is_inner(u) && u == v;
  if (spec.name == "partial_tree") return u.label == v.label;
  return same_production(u, v) || (spec.include_leaves && !is_inner(u) && u == v);
}

double count_smallest(const SomeKernel& spec, const Tree& a, const Tree& b) {
  std::vector<const Tree*> nodes_a, nodes_b;
  list_nodes(a, nodes_a);
  list_nodes(b, nodes_b);
  double count = 0.0;
  for (const Tree* u : nodes_a) {
    for (const Tree* v : nodes_b) count += has_smallest(spec, *u, *v) ? 1.0 : 0.0;
  }
  return count;
}

std::vector<SomeKernel> tiny_specs() {
  std::vector<SomeKernel> specs;
  for (const double tiny : {1e-190, 1e-200, 0.99e-200, 1e-250, 1e-308, 4.9e-324}) {
    specs.insert(specs.end(), {subtree(tiny), subset_tree(tiny), subset_tree(tiny, true),
                               partial_tree(tiny, 0.4), partial_tree(0.4, tiny),
                               partial_tree(tiny, tiny, Penalty::span, 1),
                               partial_tree(tiny, 1.0, Penalty::span, 2)});
  }
  return specs;
}

void tiny_decays_normalised() {
  const std::vector<Tree> trees = random_trees(2, 25, 3);
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : tiny_specs()) {
    const std::vector<double> k = matrix(spec, forest, true);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      for (std::size_t j = 0; j < trees.size(); ++j) {
        const double self_i = count_smallest(spec, trees[i], trees[i]);
        const double self_j = count_smallest(spec, trees[j], trees[j]);
        const double both = count_smallest(spec, trees[i], trees[j]);
        const double expected = both == 0.0 ? 0.0 : both / std::sqrt(self_i * self_j);
        CHECK_NEAR(k[i * trees.size() + j], expected, kTolerance);
      }
    }
  }
}

void tiny_decays_not_normalised() {
  const std::vector<Tree> trees = random_trees(3, 15, 3);
  const Forest forest = forest_of(trees);
  for (const double tiny : {1e-190, 1e-250, 1e-300}) {
    for (const SomeKernel& spec : {subtree(tiny), subset_tree(tiny), subset_tree(tiny, true)}) {
      const std::vector<double> k = matrix(spec, forest, false);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        const double expected = tiny * count_smallest(spec, trees[0], trees[i]);
        CHECK_NEAR(k[i], expected, kTolerance);
      }
    }
  }
  const SomeKernel below_double = partial_tree(1e-200, 1.0);
  CHECK(matrix(below_double, forest, false) == std::vector<double>(15 * 15, 0.0));
  CHECK(!self_kernels(below_double, trees_of(forest), 1, {})[0].is_zero());
}

void decays_of_zero() {
  const Forest forest = forest_of(random_trees(4, 10, 3));
  for (const SomeKernel& spec :
       {subtree(0.0), subset_tree(0.0), partial_tree(0.0, 0.5), partial_tree(0.5, 0.0)}) {
    CHECK(matrix(spec, forest, true) == std::vector<double>(100, 0.0));
    CHECK(matrix(spec, forest, forest, false) == std::vector<double>(100, 0.0));
  }
}

// --- trees that are too large to count in

void too_many_occurrences() {
  const Forest huge = doubling_forest(60);
  const Forest forest{huge.dag, {2, 3, huge.roots[0]}};
  for (const SomeKernel& spec : some_specs()) {
    const auto error = check::caught<CapacityError>([&] { matrix(spec, forest, true); });
    CHECK(error.has_value());
    if (error) CHECK_EQUAL(std::string(error->what()).substr(0, 7), "tree 2 ");
  }
}

void many_occurrences() {
  const Forest forest = doubling_forest(32);  // 2^31 leaves
  const double leaves = std::ldexp(1.0, 31);
  double pairs_of_equal = 0.0;  // of inner nodes
  for (int i = 0; i < 31; ++i) pairs_of_equal += std::ldexp(1.0, 2 * i);
  CHECK_NEAR(matrix(subtree(1.0), forest, false)[0], pairs_of_equal, kTolerance);
  const double inner = leaves - 1;
  const double k =
      matrix(partial_tree(1.0, 1e-30), forest, false)[0];  // labels are all that counts
  CHECK_NEAR(k, 1e-30 * (leaves + inner) * (leaves + inner), kTolerance);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(large_values_normalised),
      TEST(large_values_are_an_error),
      TEST(the_largest_doubles_are_not_an_error),
      TEST(overflow_names_the_trees),
      TEST(small_values_beside_large_ones),
      TEST(self_kernels_do_not_overflow),
      TEST(large_partial_trees),
      TEST(bounded_subsequences_of_wide_trees),
      TEST(tiny_decays_normalised),
      TEST(tiny_decays_not_normalised),
      TEST(decays_of_zero),
      TEST(too_many_occurrences),
      TEST(many_occurrences),
  });
}
