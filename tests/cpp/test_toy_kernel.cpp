// Kernels that only this test has run through the core: the seam for new kernels is all they need.
#include <stdexcept>

#include "catalogue/slot_kernel.hpp"
#include "check.hpp"
#include "factors/factors.hpp"
#include "kernels/chosen_symbols.hpp"
#include "learn/perceptron/growing_term.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"
#include "scoring/operator.hpp"
#include "scoring/row_scorer.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

using Delta = double (*)(const Tree&, const Tree&);

double naive_kernel(Delta delta_of, const Tree& a, const Tree& b) {
  std::vector<const Tree*> nodes_a, nodes_b;
  list_nodes(a, nodes_a);
  list_nodes(b, nodes_b);
  long double sum = 0.0L;
  for (const Tree* u : nodes_a) {
    for (const Tree* v : nodes_b) sum += delta_of(*u, *v);
  }
  return static_cast<double>(sum);
}

std::vector<double> naive_matrix(Delta delta_of, const std::vector<Tree>& a,
                                 const std::vector<Tree>& b) {
  std::vector<double> k;
  for (const Tree& s : a) {
    for (const Tree& t : b) k.push_back(naive_kernel(delta_of, s, t));
  }
  return k;
}

void check_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  CHECK_EQUAL(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], expected[i], kTolerance);
}

std::vector<double> matrix_of(const KernelSpec& spec, const Forest& a, const Forest& b) {
  std::vector<double> out(a.roots.size() * b.roots.size(), kUnwritten);
  kernel_matrix(spec, trees_of(a), trees_of(b), false, 2, {}, out.data());
  return out;
}

// ------------------------------------------------------------------------------ a formula
//
// Subset trees in which a place where a fragment ends counts half, wherever the children match: a
// formula of the family that multiplies over slots. It needs nothing else.

struct HalfTree {
  double decay = 0.4;
  static constexpr bool include_leaves = false;
  static constexpr Matching matching = Matching::production;
  static constexpr double leaf = 0.5;

  template <class Real>
  Real bare() const {
    return Real(decay);
  }
  template <class Real>
  static Real factor(const Real& child) {
    return Real(0.5) + child;
  }
};

double naive_half(const Tree& u, const Tree& v) {
  if (!same_production(u, v)) return 0.0;
  double delta = 0.4;
  for (std::size_t j = 0; j < u.children.size(); ++j) {
    const bool match = same_production(u.children[j], v.children[j]);
    if (match) delta *= 0.5 + naive_half(u.children[j], v.children[j]);
  }
  return delta;
}

KernelSpec half_tree() { return {std::make_shared<SlotKernel<HalfTree>>(HalfTree()), nullptr}; }

void a_formula_gives_kernel_matrices() {
  const std::vector<Tree> few = random_trees(1, 12, 4, 3);
  const std::vector<Tree> more = random_trees(2, 20, 4, 4);
  const Forest a = forest_of(few);
  const Forest b = forest_of(more);
  check_near(matrix_of(half_tree(), a, b), naive_matrix(naive_half, few, more));
  check_near(matrix_of(half_tree(), b, a), naive_matrix(naive_half, more, few));
  std::vector<double> within(few.size() * few.size(), kUnwritten);
  cheapest_kernel_matrix(half_tree(), trees_of(a), false, 2, {}, within.data());
  check_near(within, naive_matrix(naive_half, few, few));
}

void a_formula_gives_self_kernels() {
  const std::vector<Tree> trees = random_trees(3, 30, 4, 3);
  const std::vector<Wide> selves = self_kernels(half_tree(), trees_of(forest_of(trees)), 1, {});
  for (std::size_t i = 0; i < trees.size(); ++i) {
    CHECK_NEAR(selves[i].to_double(), naive_kernel(naive_half, trees[i], trees[i]), kTolerance);
  }
}

// By rows against the support vectors, and by the DAG of a model that grows.
void a_formula_gives_scores() {
  const std::vector<Tree> support = random_trees(4, 15, 4, 3);
  const std::vector<Tree> queries = random_trees(5, 10, 4, 3);
  const Forest known = forest_of(support);
  const Forest asked = forest_of(queries);
  std::vector<double> coef;
  for (std::size_t i = 0; i < support.size(); ++i) coef.push_back(i % 3 - 0.7);
  const std::vector<double> k = naive_matrix(naive_half, queries, support);
  std::vector<double> expected(queries.size(), 0.0);
  for (std::size_t i = 0; i < k.size(); ++i) {
    expected[i / support.size()] += coef[i % support.size()] * k[i];
  }
  const RowScorer scorer(half_tree(), known.dag, known.roots, coef, 1, false, 1, {});
  check_near(scorer.scores(trees_of(asked), 1, {}), expected);

  const std::unique_ptr<GrowingTerm> term = growing_trees(half_tree(), 1);
  const auto scratch = term->scratch();
  const ExamplePart known_part{known.dag, known.roots, {}, {}, {}};
  const ExamplePart asked_part{asked.dag, asked.roots, {}, {}, {}};
  scratch->begin_part();
  for (std::uint32_t i = 0; i < support.size(); ++i) {
    term->add(known_part, i, i, {&coef[i], 1}, *scratch);
  }
  scratch->begin_part();
  std::vector<double> scores(queries.size(), 0.0);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    term->score(asked_part, i, 1.0, *scratch, {&scores[i], 1}, StopToken());
  }
  check_near(scores, expected);
}

// Large trees of which few nodes are chosen go from these downwards.
void a_formula_gives_approximate_kernels() {
  const std::string many = [] {
    std::string text = "(S (A (B b) (C c))";
    for (int i = 0; i < 700; ++i) text += " (D d)";
    return text + ")\n";
  }();
  const Forest forest = read(many + many);
  KernelSpec spec = half_tree();
  const std::vector<std::vector<std::string>> symbols{{"A"}};
  spec.chosen = std::make_shared<ChosenSymbols>(SymbolKind::label, symbols);
  check_near(matrix_of(spec, forest, forest), std::vector<double>(4, 0.4 * 0.9 * 0.9));
}

void what_a_formula_lacks_is_refused() {
  const Forest forest = forest_of(random_trees(6, 3, 3));
  const FactorLimits limits;
  CHECK_THROWS(std::invalid_argument, factorize<double>(half_tree(), *forest.dag, limits, 1, {}));
}

// ------------------------------------------------------------------------------ a kernel
//
// Pairs of nodes with equal labels: no formula of any family, with factors of its own.

template <class Real>
class LabelRows final : public RowRecursion<Real> {
 public:
  explicit LabelRows(const RowSide& side) : class_of_(side.class_of) {}
  void compute(NodeId u, const ColumnTile& tile, const Real* const*, const StopToken&,
               Real* out) override {
    std::fill_n(out, tile.width(class_of_[u]), Real(1.0));
  }

 private:
  std::span<const std::uint32_t> class_of_;
};

class LabelDag final : public DagRecursion {
 public:
  void compute(const KernelDag::List& list, const TreeNodes&, std::uint32_t, const DagRow*,
               const StopToken&, double* out) override {
    std::fill_n(out, list.size(), 1.0);
  }
};

class LabelKernel final : public TreeKernel {
 public:
  Matching matching() const override { return Matching::label; }
  bool counts_leaves() const override { return true; }
  double least_delta() const override { return 1.0; }
  std::unique_ptr<RowRecursion<double>> row_recursion(const RowSide& side,
                                                      As<double>) const override {
    return std::make_unique<LabelRows<double>>(side);
  }
  std::unique_ptr<RowRecursion<Wide>> row_recursion(const RowSide& side, As<Wide>) const override {
    return std::make_unique<LabelRows<Wide>>(side);
  }
  std::unique_ptr<DagRecursion> dag_recursion() const override {
    return std::make_unique<LabelDag>();
  }
  bool fits_double(const FactorTask&) const override { return true; }
  // A feature for each label that several nodes have.
  void factorize(const FactorTask& task, Factors<double>& out) const override {
    std::vector<std::vector<NodeId>> nodes(task.dag.labels().size());
    for (NodeId u = 0; u < task.dag.size(); ++u) nodes[task.dag.label(u)].push_back(u);
    out.set_begin.assign(1, 0);
    out.self.assign(task.dag.size(), 1.0);
    out.residual.assign(task.dag.size(), 0.0);
    for (const std::vector<NodeId>& members : nodes) {
      if (members.size() == 1) out.residual[members[0]] = 1.0;
      if (members.size() < 2) continue;
      for (const NodeId u : members) out.nodes.push_back(u);
      out.set_begin.push_back(out.nodes.size());
      out.mass.push_back(1.0);
    }
  }
};

double naive_label(const Tree& u, const Tree& v) { return u.label == v.label ? 1.0 : 0.0; }

void a_kernel_gives_matrices_and_factors() {
  const KernelSpec spec{std::make_shared<LabelKernel>(), nullptr};
  const std::vector<Tree> trees = random_trees(7, 25, 4, 3);
  const Forest forest = forest_of(trees);
  const std::size_t n = trees.size();
  const std::vector<double> expected = naive_matrix(naive_label, trees, trees);
  check_near(matrix_of(spec, forest, forest), expected);
  OperatorOptions options;
  options.normalize = false;
  const KernelOperator factors(spec, forest.dag, forest.roots, options, 1, {});
  std::vector<double> ones(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) ones[i * n + i] = 1.0;
  check_near(factors.scores(ones, n, 1, {}), expected);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(a_formula_gives_kernel_matrices),
      TEST(a_formula_gives_self_kernels),
      TEST(a_formula_gives_scores),
      TEST(a_formula_gives_approximate_kernels),
      TEST(what_a_formula_lacks_is_refused),
      TEST(a_kernel_gives_matrices_and_factors),
  });
}
