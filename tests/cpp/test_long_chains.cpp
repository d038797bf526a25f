// Tests the method of subset trees for long chains: against the reference on small trees, which
// never use it otherwise, and in closed form on long chains.
#include <numeric>

#include "check.hpp"
#include "kernels/node_classes.hpp"
#include "reference_kernels.hpp"
#include "rows/long_chains.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-11;

// Mostly nodes with one child, some branches.
Tree chain_like(std::mt19937& random, int depth) {
  Tree tree{std::string(1, static_cast<char>('A' + below(random, 2))), {}};
  if (depth <= 1) return tree;
  const std::uint32_t n_children = below(random, 8) == 0 ? 2 : 1;
  for (std::uint32_t i = 0; i < n_children; ++i) {
    tree.children.push_back(chain_like(random, depth - 1 - static_cast<int>(below(random, 2))));
  }
  return tree;
}

void check_pairs(const SomeKernel& spec, const std::vector<Tree>& trees_a, const Forest& a,
                 const std::vector<Tree>& trees_b, const Forest& b) {
  const NodeClasses classes = classify(spec, *a.dag, a.roots, *b.dag, b.roots);
  const Occurrences xa = count_occurrences(*a.dag, a.roots, classes.rows);
  const Occurrences xb = count_occurrences(*b.dag, b.roots, classes.columns());
  for (std::size_t i = 0; i < trees_a.size(); ++i) {
    for (std::size_t j = 0; j < trees_b.size(); ++j) {
      const CountedTree ti{*a.dag, xa.nodes_of(i), xa.counts_of(i), classes.rows};
      const CountedTree tj{*b.dag, xb.nodes_of(j), xb.counts_of(j), classes.columns()};
      const double actual = KernelSpec(spec)->sum_of_chains(ti, tj, StopToken{}).to_double();
      CHECK_NEAR(actual, reference_kernel(spec, trees_a[i], trees_b[j]), kTolerance);
    }
  }
}

void small_trees() {
  std::mt19937 random(1);
  std::vector<Tree> trees, others = random_trees(2, 20, 4, 2);
  for (int i = 0; i < 40; ++i) trees.push_back(chain_like(random, 1 + i % 14));
  const Forest a = forest_of(trees);
  const Forest b = forest_of(others);
  for (const double decay : {0.0, 1e-3, 0.4, 1.0}) {
    for (const bool leaves : {false, true}) {
      const SomeKernel spec = subset_tree(decay, leaves);
      check_pairs(spec, trees, a, trees, a);
      check_pairs(spec, trees, a, others, b);
      check_pairs(spec, others, b, trees, a);
    }
  }
}

// --- chains of n nodes with label A over a leaf a

std::string chain(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += "(A ";
  return text.append("a").append(n, ')');
}

// At decay 1, Delta of nodes i and j steps above the leaf: i where i = j, else min(i, j) - 1.
double chain_kernel(double n, double m) {
  if (n < m) std::swap(n, m);
  const double sum_of_min = m * (m + 1) * (2 * m + 1) / 6 + (n - m) * m * (m + 1) / 2;
  return sum_of_min - n * m + m;
}

void long_chains_in_closed_form() {
  const std::vector<std::size_t> lengths{20000, 18000, 5, 20001, 300};
  std::string text;
  for (const std::size_t n : lengths) text += chain(n) + "\n";
  const Forest forest = read(text);
  const std::size_t n = lengths.size();
  const std::vector<double> within = matrix(subset_tree(1.0), forest, false);
  const std::vector<double> normalised = matrix(subset_tree(1.0), forest, true);
  const std::vector<double> between = matrix(subset_tree(1.0), forest, read(text), false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto value = [](std::size_t x, std::size_t y) {
        return chain_kernel(static_cast<double>(x), static_cast<double>(y));
      };
      const double expected = value(lengths[i], lengths[j]);
      const double norm =
          std::sqrt(value(lengths[i], lengths[i])) * std::sqrt(value(lengths[j], lengths[j]));
      CHECK_NEAR(within[i * n + j], expected, kTolerance);
      CHECK_NEAR(between[i * n + j], expected, kTolerance);
      CHECK_NEAR(normalised[i * n + j], expected / norm, kTolerance);
    }
  }
}

// Where no two productions are equal, rows of Delta are one entry wide and any depth will do.
void deep_trees_with_many_labels() {
  constexpr std::size_t kDepth = 100000;
  DagBuilder builder;
  NodeId top = builder.leaf(builder.label("leaf"));
  for (std::size_t i = 0; i < kDepth; ++i) {
    top = builder.node(builder.label(std::to_string(i)), std::vector<NodeId>{top});
  }
  const Forest forest{builder.finish(), {top}};
  const double n = static_cast<double>(kDepth);
  CHECK_NEAR(matrix(subset_tree(1.0), forest, false)[0], n * (n + 1) / 2, kTolerance);
  CHECK_NEAR(matrix(subtree(1.0), forest, false)[0], n, kTolerance);
  CHECK_NEAR(matrix(partial_tree(1.0, 1.0), forest, false)[0], (n + 1) * (n + 2) / 2, kTolerance);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(small_trees),
      TEST(long_chains_in_closed_form),
      TEST(deep_trees_with_many_labels),
  });
}
