// Tests the features of trees: their products are the kernel, for known and for new trees.
#include <limits>
#include <map>
#include <stdexcept>

#include "features/match_columns.hpp"
#include "features/new_rows.hpp"
#include "features/stored_factors.hpp"
#include "reference_factors.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;
constexpr std::size_t kKnown = 9;

SumFactors factors_of(const SomeKernel& spec, const std::vector<Tree>& trees) {
  const Forest forest = forest_of(trees);
  const FactorLimits limits{std::numeric_limits<double>::infinity()};
  const TreeFactors factors =
      assemble(factorize<double>(spec, *forest.dag, limits, 1, {}), *forest.dag, forest.roots,
               {KernelSpec(spec)->counts_leaves(), true}, 1, {});
  return SumFactors(trees.size(),
                    {{std::make_shared<TreeFactors>(without_multiples(factors, 1, {})),
                      std::vector<double>(trees.size(), 1.0)}});
}

double product(const KernelFeatures& a, std::size_t i, const KernelFeatures& b, std::size_t j) {
  std::map<std::uint32_t, double> row;
  for (std::uint64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) row[a.columns[k]] = a.values[k];
  double sum = 0.0;
  for (std::uint64_t k = b.begin[j]; k < b.begin[j + 1]; ++k) {
    if (row.contains(b.columns[k])) sum += row[b.columns[k]] * b.values[k];
  }
  return sum;
}

double normalized(const SomeKernel& spec, const Tree& a, const Tree& b) {
  const double norms = std::sqrt(reference_kernel(spec, a, a) * reference_kernel(spec, b, b));
  return norms > 0.0 ? reference_kernel(spec, a, b) / norms : 0.0;
}

template <class Check>
void for_each_case(const Check& check_case) {
  for (const char* name : {"subtree", "subset_tree", "partial_tree"}) {
    for (unsigned seed = 1; seed < 6; ++seed) {
      SomeKernel spec;
      spec.name = name;
      check_case(spec, near_duplicates(seed, kKnown + 6, 3));
    }
  }
}

void products_are_kernels() {
  for_each_case([](const SomeKernel& spec, const std::vector<Tree>& trees) {
    const std::vector<Tree> known(trees.begin(), trees.begin() + kKnown);
    const SumFactors factors = factors_of(spec, known);
    const KernelFeatures a = feature_rows(factors, {}, 2, {});
    for (std::size_t i = 0; i < kKnown; ++i) {
      for (std::size_t j = 0; j < kKnown; ++j) {
        CHECK_NEAR(product(a, i, a, j), normalized(spec, known[i], known[j]), kTolerance);
      }
    }
    const NewRows b = new_rows(factors, factors_of(spec, trees), {}, 2, {});
    for (std::size_t y = 0; y + kKnown < trees.size(); ++y) {
      for (std::size_t j = 0; j < kKnown; ++j) {
        const double expected = normalized(spec, trees[kKnown + y], known[j]);
        CHECK_NEAR(product(b.rows, y, a, j), expected, kTolerance);
      }
    }
  });
}

void other_trees_do_not_match() {
  const SumFactors known = factors_of({}, near_duplicates(1, 6, 3));
  const SumFactors other = factors_of({}, near_duplicates(2, 9, 3));
  CHECK_THROWS(InvalidForest, new_rows(known, other, {}, 1, {}));
  CHECK_THROWS(std::invalid_argument, new_rows(other, known, {}, 1, {}));
}

void arrays_are_checked() {
  const SumFactors sum = factors_of({}, near_duplicates(1, 6, 3));
  const TreeFactors& factors = *sum.terms().front().factors;
  const TreeFactors again = factors_from(factor_arrays(factors));
  CHECK(again.columns == factors.columns && again.mass == factors.mass);
  FactorArrays damaged = factor_arrays(factors);
  damaged.mass = damaged.mass.first(damaged.mass.size() - 1);
  CHECK_THROWS(std::invalid_argument, factors_from(damaged));
  damaged = factor_arrays(factors);
  damaged.begin = damaged.begin.first(2);
  CHECK_THROWS(std::invalid_argument, factors_from(damaged));
}

void too_little_memory() {
  const SumFactors known = factors_of({}, near_duplicates(1, 6, 3));
  CHECK_THROWS(OutOfMemory, feature_rows(known, {true, 10}, 1, {}));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(products_are_kernels),
      TEST(other_trees_do_not_match),
      TEST(arrays_are_checked),
      TEST(too_little_memory),
  });
}
