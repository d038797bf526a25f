// Tests models that grow against the kernels themselves: weighted sums of kernels whose support
// vectors are added one by one, from forests that were built separately.
#include "base/errors.hpp"
#include "check.hpp"
#include "learn/perceptron/growing_term.hpp"
#include "learn/perceptron/perceptron.hpp"
#include "reference_kernels.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-10;

std::vector<SomeKernel> specs() {
  SomeKernel gaps = partial_tree(0.4, 0.6);
  gaps.penalty = Penalty::gaps;
  SomeKernel short_ones = partial_tree(0.5, 0.4);
  short_ones.max_subsequence = 2;
  return {
      subtree(0.4), subset_tree(0.4, false), subset_tree(0.7, true), partial_tree(0.4, 0.4), gaps,
      short_ones};
}

// Each tree in a forest of its own, or all of them in one, with other trees around.
std::vector<ExamplePart> parts_of(const std::vector<Tree>& trees, bool apart) {
  std::vector<ExamplePart> parts;
  if (apart) {
    for (const Tree& tree : trees) {
      const Forest forest = forest_of({tree});
      parts.push_back({forest.dag, forest.roots, {}, {}, {}});
    }
    return parts;
  }
  std::vector<Tree> more = random_trees(9, 10, 4, 3);
  more.insert(more.end(), trees.rbegin(), trees.rend());
  const Forest forest = forest_of(more);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    parts.push_back({forest.dag, {forest.roots[more.size() - 1 - i]}, {}, {}, {}});
  }
  return parts;
}

// By tree: scores by both columns after each support vector, and the kernel with itself.
struct Scored {
  std::vector<double> values;
  std::uint64_t n_nodes = 0;
};

Scored grow(const SomeKernel& spec, const std::vector<Tree>& trees, bool apart) {
  const std::vector<ExamplePart> parts = parts_of(trees, apart);
  const auto term = growing_trees(spec, 2);
  const auto scratch = term->scratch();
  Scored scored;
  for (std::uint32_t i = 0; i < trees.size(); ++i) {
    scratch->begin_part();
    std::vector<double> out(2, 0.0);
    const std::uint64_t n_nodes = term->n_nodes();
    term->score(parts[i], 0, 1.0, *scratch, out, StopToken());
    CHECK_EQUAL(term->n_nodes(), n_nodes);
    scored.values.insert(scored.values.end(), out.begin(), out.end());
    scored.values.push_back(term->selves(parts[i], 1, {}).front());
    const std::vector<double> weights{i % 2 == 0 ? 1.0 : -1.0, 0.5 * i};
    term->add(parts[i], 0, i, weights, *scratch);
  }
  scored.n_nodes = term->n_nodes();
  const SupportTrees support = term->support_trees();
  const Forest wanted = forest_of(trees);
  CHECK(written(*support.dag, support.roots) == written(*wanted.dag, wanted.roots));
  return scored;
}

void trees_that_come_one_by_one() {
  const std::vector<Tree> trees = random_trees(1, 30, 4, 3);
  for (const SomeKernel& spec : specs()) {
    const std::vector<double> k = reference_matrix(spec, trees, trees, false);
    const Scored scored = grow(spec, trees, true);
    for (std::size_t x = 0; x < trees.size(); ++x) {
      double sums[2] = {};
      double size = 1.0;
      for (std::size_t i = 0; i < x; ++i) {
        const double value = k[i * trees.size() + x];
        sums[0] += i % 2 == 0 ? value : -value;
        sums[1] += 0.5 * static_cast<double>(i) * value;
        size += static_cast<double>(i) * value;
      }
      const double self = k[x * trees.size() + x];
      CHECK(std::fabs(scored.values[3 * x] - sums[0]) <= kTolerance * size);
      CHECK(std::fabs(scored.values[3 * x + 1] - sums[1]) <= kTolerance * size);
      CHECK(std::fabs(scored.values[3 * x + 2] - self) <= kTolerance * self);
    }
    CHECK_EQUAL(scored.n_nodes, forest_of(trees).dag->size());
  }
}

void the_same_bits_from_any_forest() {
  const std::vector<Tree> trees = random_trees(2, 30, 4, 3);
  for (const SomeKernel& spec : specs()) {
    const Scored apart = grow(spec, trees, true);
    const Scored together = grow(spec, trees, false);
    CHECK(apart.values == together.values);
    CHECK_EQUAL(apart.n_nodes, together.n_nodes);
  }
}

// Nodes too wide for each other are refused before anything is learnt.
void wide_nodes() {
  SomeKernel spec = partial_tree(0.4, 0.4);
  spec.max_steps = 12.0;
  const Forest three = read("(a b b b)");
  const Forest four = read("(a b b b b)");
  const auto term = growing_trees(spec, 2);
  CHECK_EQUAL(term->selves({three.dag, three.roots, {}, {}, {}}, 1, {}).size(), 1u);
  const ExamplePart wider{four.dag, four.roots, {}, {}, {}};
  CHECK_THROWS(TooExpensive, term->selves(wider, 1, {}));
}

// ------------------------------------------------------------------------------ vectors

struct Rows {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> features;
  std::vector<double> values;

  ExamplePart part() const { return {nullptr, {}, begin, features, values}; }
  double product(std::size_t a, std::size_t b) const {
    double sum = 0.0;
    for (std::uint64_t i = begin[a]; i < begin[a + 1]; ++i) {
      for (std::uint64_t j = begin[b]; j < begin[b + 1]; ++j) {
        if (features[i] == features[j]) sum += values[i] * values[j];
      }
    }
    return sum;
  }
};

Rows random_rows(std::size_t n) {
  std::mt19937 random(3);
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t feature = below(random, 4) * 100'000;
    for (std::uint32_t k = below(random, 5); k > 0; --k) {
      rows.features.push_back(feature);
      rows.values.push_back(below(random, 9) / 4.0 - 1.0);
      feature += 1 + below(random, 3);
    }
    rows.begin.push_back(rows.features.size());
  }
  return rows;
}

void vectors_that_come_one_by_one() {
  const Rows rows = random_rows(60);
  const auto value = [&](const VectorSpec& spec, std::size_t a, std::size_t b) {
    const double product = rows.product(a, b);
    if (spec.kernel == VectorKernel::linear) return product;
    if (spec.kernel == VectorKernel::polynomial) {
      return std::pow(spec.gamma * product + spec.coef0, spec.degree);
    }
    return std::exp(-spec.gamma * (rows.product(a, a) + rows.product(b, b) - 2.0 * product));
  };
  for (const VectorSpec& spec : {VectorSpec{VectorKernel::linear, 1, 1.0, 0.0},
                                 VectorSpec{VectorKernel::polynomial, 3, 0.5, 1.0},
                                 VectorSpec{VectorKernel::polynomial, 4, 1.0, 0.0},
                                 VectorSpec{VectorKernel::rbf, 1, 0.3, 0.0}}) {
    const auto term = growing_vectors(spec, 2);
    const auto scratch = term->scratch();
    for (std::uint32_t x = 0; x < 60; ++x) {
      std::vector<double> out(2, 0.0);
      term->score(rows.part(), x, 2.0, *scratch, out, StopToken());
      double sums[2] = {};
      double size = 1.0;
      for (std::uint32_t i = 0; i < x; ++i) {
        sums[0] += 2.0 * (i % 3 - 1.0) * value(spec, i, x);
        sums[1] += i * value(spec, i, x);
        size += 2.0 * i * std::fabs(value(spec, i, x));
      }
      for (std::size_t c = 0; c < 2; ++c) CHECK(std::fabs(out[c] - sums[c]) <= kTolerance * size);
      // In two steps, as updates come.
      term->add(rows.part(), x, x, std::vector<double>{x % 3 - 1.0, 0.25 * x}, *scratch);
      term->add(rows.part(), x, x, std::vector<double>{0.0, 0.25 * x}, *scratch);
    }
    const SupportVectors kept = term->support_vectors();
    CHECK(kept.begin == rows.begin && kept.features == rows.features && kept.values == rows.values);
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({TEST(trees_that_come_one_by_one), TEST(the_same_bits_from_any_forest),
                     TEST(wide_nodes), TEST(vectors_that_come_one_by_one)});
}
