// Tests scores that are computed by rows of Delta against the reference, and the contributions of
// nodes to these scores.
#include "check.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"
#include "scoring/row_scorer.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-10;
constexpr std::size_t kColumns = 3;

std::vector<double> coefficients(std::size_t n) {
  std::mt19937 random(7);
  std::vector<double> coef(kColumns * n);
  for (double& value : coef) value = below(random, 2001) / 1000.0 - 1.0;
  return coef;
}

RowScorer scorer_of(const SomeKernel& spec, const Forest& support, bool normalize) {
  return RowScorer(spec, support.dag, support.roots, coefficients(support.roots.size()), kColumns,
                   normalize, 1, {});
}

void check_scores(const SomeKernel& spec, const std::vector<Tree>& known,
                  const std::vector<Tree>& trees, bool normalize) {
  const Forest support = forest_of(known);
  const Forest forest = forest_of(trees);
  const std::vector<double> coef = coefficients(known.size());
  const RowScorer scorer = scorer_of(spec, support, normalize);
  const std::vector<double> scores = scorer.scores({*forest.dag, forest.roots}, 1, {});
  CHECK(scores == scorer.scores({*forest.dag, forest.roots}, 3, {}));
  const auto value = [&](const Tree& a, const Tree& b) { return reference_kernel(spec, a, b); };
  for (std::size_t i = 0; i < trees.size(); ++i) {
    double expected[kColumns] = {};
    double size = 0.0;
    for (std::size_t j = 0; j < known.size(); ++j) {
      double kernel = value(trees[i], known[j]);
      if (normalize && kernel != 0.0) {
        kernel /= std::sqrt(value(trees[i], trees[i])) * std::sqrt(value(known[j], known[j]));
      }
      size += kernel;
      for (std::size_t c = 0; c < kColumns; ++c) expected[c] += coef[c * known.size() + j] * kernel;
    }
    for (std::size_t c = 0; c < kColumns; ++c) {
      CHECK(std::fabs(scores[i * kColumns + c] - expected[c]) <= kTolerance * size);
    }
  }
  const NodeContributions parts = scorer.contributions({*forest.dag, forest.roots}, 1, {});
  std::vector<double> sums(scores.size(), 0.0);
  for (std::size_t e = 0; e < parts.nodes.size(); ++e) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      sums[parts.trees[e] * kColumns + c] += parts.counts[e] * parts.values[e * kColumns + c];
    }
  }
  CHECK(sums == scores);  // added up in the same order
}

void random_forests() {
  const std::vector<Tree> known = random_trees(1, 30, 5);
  const std::vector<Tree> trees = random_trees(2, 30, 5);
  for (const bool normalize : {false, true}) {
    for (const double decay : {1e-3, 0.4, 1.0}) {
      check_scores(subset_tree(decay, false), known, trees, normalize);
      check_scores(subset_tree(decay, true), known, trees, normalize);
      check_scores(subtree(decay), known, trees, normalize);
    }
  }
}

// The scorer keeps memory for rows from tree to tree: it must be as good as new for each.
void trees_one_after_another() {
  const Forest support = forest_of(random_trees(3, 100, 6));
  const Forest forest = forest_of(random_trees(4, 100, 6));
  const RowScorer scorer = scorer_of(subset_tree(0.4), support, true);
  const std::vector<double> together = scorer.scores({*forest.dag, forest.roots}, 1, {});
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (std::size_t i = forest.roots.size(); i-- > 0;) {
      const std::span<const NodeId> root(&forest.roots[i], 1);
      const std::vector<double> alone = scorer.scores({*forest.dag, root}, 1, {});
      for (std::size_t c = 0; c < kColumns; ++c) CHECK(alone[c] == together[i * kColumns + c]);
    }
  }
}

// At decay 1 the self-kernel of this tree is far beyond double.
void wide_range() {
  std::string text;
  for (const int n : {1100, 1060, 3}) {
    text += "(S";
    for (int i = 0; i < n; ++i) text += " (A (B b) (C c))";
    text += ")\n";
  }
  const Forest forest = read(text);
  const SomeKernel spec = subset_tree(1.0);
  const std::vector<double> K = matrix(spec, forest, true);
  const std::vector<double> coef = coefficients(3);
  const std::vector<double> scores =
      scorer_of(spec, forest, true).scores({*forest.dag, forest.roots}, 2, {});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      double expected = 0.0;
      for (std::size_t j = 0; j < 3; ++j) expected += coef[c * 3 + j] * K[i * 3 + j];
      CHECK(std::fabs(scores[i * kColumns + c] - expected) <= kTolerance);
    }
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(random_forests),
      TEST(trees_one_after_another),
      TEST(wide_range),
  });
}
