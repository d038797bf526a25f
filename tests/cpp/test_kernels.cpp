// Tests the values of the kernels against the reference on random small trees.
#include "base/errors.hpp"
#include "check.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

void check_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], expected[i], kTolerance);
}

void between_forests_built_apart() {
  const std::vector<Tree> few = random_trees(1, 10, 3, 4);
  const std::vector<Tree> more = random_trees(2, 17, 3, 5);
  const Forest a = forest_of(few);
  const Forest b = forest_of(more);
  for (const SomeKernel& spec : many_specs()) {
    for (const bool normalize : {false, true}) {
      check_near(matrix(spec, a, b, normalize), reference_matrix(spec, few, more, normalize));
      check_near(matrix(spec, b, a, normalize), reference_matrix(spec, more, few, normalize));
    }
  }
}

// Fewer trees with more nodes: then the classes are numbered by the other side.
void few_large_trees_with_many_small_ones() {
  const std::vector<Tree> large = random_trees(3, 5, 6, 3);
  const std::vector<Tree> small = random_trees(4, 20, 2, 3);
  const Forest a = forest_of(large);
  const Forest b = forest_of(small);
  CHECK(a.dag->size() > b.dag->size());
  for (const SomeKernel& spec : some_specs()) {
    check_near(matrix(spec, a, b, true), reference_matrix(spec, large, small, true));
    check_near(matrix(spec, b, a, false), reference_matrix(spec, small, large, false));
  }
}

void within_one_forest() {
  const std::vector<Tree> trees = random_trees(5, 19, 3, 5);
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : many_specs()) {
    const std::vector<double> expected = reference_matrix(spec, trees, trees);
    check_near(matrix(spec, forest, false), expected);
    check_near(matrix(spec, forest, forest, false), expected);
    const std::vector<double> norms = reference_norms(spec, trees);
    check_near(matrix(spec, forest, true), normalized(expected, norms, norms));
    check_near(matrix(spec, forest, forest, true), normalized(expected, norms, norms));
  }
}

void self_kernels_are_the_diagonal() {
  const std::vector<Tree> trees = random_trees(6, 150, 3, 4);
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : some_specs()) {
    const std::vector<Wide> selves = self_kernels(spec, trees_of(forest), 2, {});
    CHECK_EQUAL(selves.size(), trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const double expected = reference_kernel(spec, trees[i], trees[i]);
      CHECK_NEAR(selves[i].to_double(), expected, kTolerance);
    }
  }
}

void parts_of_one_forest() {
  const std::vector<Tree> trees = random_trees(7, 30, 3);
  const Forest all = forest_of(trees);
  const Forest a{all.dag, {all.roots.begin(), all.roots.begin() + 11}};
  const Forest b{all.dag, {all.roots.begin() + 7, all.roots.end()}};
  const std::vector<Tree> trees_a(trees.begin(), trees.begin() + 11);
  const std::vector<Tree> trees_b(trees.begin() + 7, trees.end());
  for (const SomeKernel& spec : some_specs()) {
    check_near(matrix(spec, a, b, true), reference_matrix(spec, trees_a, trees_b, true));
  }
}

void equal_trees_have_equal_rows() {
  std::vector<Tree> trees = random_trees(8, 12, 3);
  trees.insert(trees.end(), {trees[3], trees[3], trees[0]});
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : some_specs()) {
    check_near(matrix(spec, forest, true), reference_matrix(spec, trees, trees, true));
  }
}

// A matrix that is symmetric and has ones on its diagonal, to the last bit.
void symmetry_is_exact() {
  const Forest forest = forest_of(random_trees(9, 60, 4));
  const std::size_t n = forest.roots.size();
  for (const SomeKernel& spec : some_specs()) {
    const std::vector<double> k = matrix(spec, forest, true);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) CHECK_EQUAL(k[i * n + j], k[j * n + i]);
      const bool empty = forest.dag->is_leaf(forest.roots[i]) && k[i * n + i] == 0.0;
      CHECK(k[i * n + i] == 1.0 || empty);
    }
  }
}

// A leaf alone has no subset trees: its self-kernel is zero, and so is all of its row.
void trees_without_fragments() {
  const std::vector<Tree> trees{{"A", {}}, {"A", {{"A", {}}}}, {"B", {}}};
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : {subtree(0.4), subset_tree(0.4)}) {
    const std::vector<double> expected{0, 0, 0, 0, 1, 0, 0, 0, 0};
    CHECK(matrix(spec, forest, true) == expected);
    CHECK(matrix(spec, forest, forest, true) == expected);
    CHECK(self_kernels(spec, trees_of(forest), 1, {})[0].is_zero());
  }
}

void forests_with_nothing_in_common() {
  const Forest a = read("(A (B b)) (B a)");
  const Forest b = read("(X (Y y)) (Y x) (Z z z)");
  for (const SomeKernel& spec : some_specs()) {
    CHECK(matrix(spec, a, b, true) == std::vector<double>(6, 0.0));
    CHECK(matrix(spec, b, a, false) == std::vector<double>(6, 0.0));
  }
}

void no_trees() {
  const Forest some = forest_of(random_trees(10, 20, 3));
  const Forest none{DagBuilder().finish(), {}};
  const Forest none_of_some{some.dag, {}};
  for (const SomeKernel& spec : some_specs()) {
    for (const bool normalize : {false, true}) {
      CHECK(matrix(spec, none, normalize).empty());
      CHECK(matrix(spec, none_of_some, normalize).empty());
      CHECK(matrix(spec, none, some, normalize).empty());
      CHECK(matrix(spec, some, none, normalize).empty());
      CHECK(matrix(spec, none, none, normalize).empty());
    }
    CHECK(self_kernels(spec, trees_of(none), 3, {}).empty());
  }
}

// --- partial trees that would take too long

Forest two_stars(std::size_t n, std::size_t m) {
  DagBuilder builder;
  std::vector<NodeId> leaves;
  for (std::size_t i = 0; i < std::max(n, m); ++i) {
    leaves.push_back(builder.leaf(builder.label(std::to_string(i % 10))));
  }
  const LabelId star = builder.label("star");
  const NodeId a = builder.node(star, std::span(leaves).first(n));
  const NodeId b = builder.node(star, std::span(leaves).first(m));
  return {builder.finish(), {a, b}};
}

void check_steps_of(std::size_t n, std::size_t m, std::uint32_t max_subsequence, double steps) {
  const Forest stars = two_stars(n, m);
  const Forest a{stars.dag, {stars.roots[0]}};
  const Forest b{stars.dag, {stars.roots[1]}};
  SomeKernel spec = partial_tree(0.4, 0.4, Penalty::span, max_subsequence);
  spec.max_steps = steps;
  CHECK(std::isfinite(matrix(spec, a, b, false)[0]));
  spec.max_steps = steps - 1;
  const auto error = check::caught<TooExpensive>([&] { matrix(spec, a, b, false); });
  CHECK(error.has_value());
  if (!error) return;
  CHECK_EQUAL(error->steps, steps);
  CHECK(std::string(error->what()).find("'star'") != std::string::npos);
}

void too_many_steps() {
  check_steps_of(20, 50, 0, 1000.0);
  check_steps_of(50, 20, 0, 1000.0);
  check_steps_of(20, 50, 3, 3000.0);
  check_steps_of(20, 50, 20, 1000.0);
  check_steps_of(20, 50, 1, 100.0);  // ten different children on each side
}

// Labels are numbered differently in forests built apart; the error must still name the right one.
void the_expensive_label_is_named() {
  const Forest small = read("(star a b c)");
  const Forest large = read("(x (y z)) (y u v w) (star a b c)");
  SomeKernel spec = partial_tree(0.4, 0.4);
  spec.max_steps = 8;
  for (const auto& [a, b] : {std::pair(small, large), std::pair(large, small)}) {
    const auto error =
        check::caught<TooExpensive>([&, &x = a, &y = b] { matrix(spec, x, y, false); });
    CHECK(error && std::string(error->what()).find("'star'") != std::string::npos);
  }
}

void steps_matter_to_partial_trees_alone() {
  const Forest stars = two_stars(20, 50);
  for (SomeKernel spec : some_specs()) {
    spec.max_steps = 1.0;
    if (spec.name == "partial_tree") {
      CHECK_THROWS(TooExpensive, matrix(spec, stars, true));
      CHECK_THROWS(TooExpensive, self_kernels(spec, trees_of(stars), 1, {}));
    } else {
      CHECK_EQUAL(matrix(spec, stars, true)[3], 1.0);
    }
  }
}

bool is_label(std::string_view text) {
  LabelTable labels;
  try {
    labels.intern(text);
    return true;
  } catch (const InvalidLabel&) {
    return false;
  }
}

// The message quotes the label, and stays UTF-8 however long the label is.
void messages_are_utf8() {
  for (std::size_t n = 0; n < 4; ++n) {
    Tree star{std::string(n, 'x'), {{"a", {}}, {"b", {}}}};
    for (int i = 0; i < 30; ++i) star.label += "\xE6\x9C\xA8";
    const Forest forest = forest_of({star});
    SomeKernel spec = partial_tree(0.4, 0.4);
    spec.max_steps = 3;
    const auto error = check::caught<TooExpensive>([&] { matrix(spec, forest, false); });
    CHECK(error && is_label(error->what()));
  }
}

// --- interruption

struct Interrupt {};

void a_watch_can_interrupt() {
  const Forest stars = two_stars(20000, 20000);
  const Watch watch = [](std::size_t, std::size_t) { throw Interrupt{}; };
  for (const std::uint32_t longest : {0, 2}) {
    const SomeKernel spec = partial_tree(0.4, 0.4, Penalty::span, longest);
    double out[4];
    CHECK_THROWS(Interrupt, kernel_matrix(spec, trees_of(stars), true, 2, watch, out));
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(between_forests_built_apart),
      TEST(few_large_trees_with_many_small_ones),
      TEST(within_one_forest),
      TEST(self_kernels_are_the_diagonal),
      TEST(parts_of_one_forest),
      TEST(equal_trees_have_equal_rows),
      TEST(symmetry_is_exact),
      TEST(trees_without_fragments),
      TEST(forests_with_nothing_in_common),
      TEST(no_trees),
      TEST(too_many_steps),
      TEST(the_expensive_label_is_named),
      TEST(steps_matter_to_partial_trees_alone),
      TEST(messages_are_utf8),
      TEST(a_watch_can_interrupt),
  });
}
