// Tests the features of trees: their products are the kernel, for known and for new trees.
#include <algorithm>
#include <cmath>
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

// Factors whose columns have these entries, by tree.
TreeFactors with_entries(const std::vector<std::vector<double>>& trees) {
  TreeFactors factors;
  factors.begin.push_back(0);
  factors.value_begin.push_back(0);
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  for (const std::vector<double>& entries : trees) {
    double self = 0.0;
    for (std::uint32_t c = 0; c < entries.size(); ++c) {
      if (entries[c] == 0.0) continue;
      columns.push_back(c);
      values.push_back(entries[c]);
      self += entries[c] * entries[c];
    }
    factors.begin.push_back(columns.size());
    factors.value_begin.push_back(values.size());
    factors.self.push_back(self);
  }
  factors.columns.resize(columns.size());
  std::copy(columns.begin(), columns.end(), factors.columns.data());
  factors.values.resize(values.size());
  std::copy(values.begin(), values.end(), factors.values.data());
  factors.mass.assign(trees.front().size(), 1.0);
  factors.scale.assign(trees.size(), 1.0);
  factors.diagonal.assign(trees.size(), 0.0);
  return factors;
}

// Columns whose directions are so near to each other that they have the same hash.
void columns_with_the_same_hash_are_told_apart() {
  const TreeFactors known =
      with_entries({{1.0, 1.0, 1.0, 1e-10, 2e-9}, {1.0, 1.0 + 1e-9, 1.0 - 1e-9, 1.0, 1.0}});
  const TreeFactors alone = without_multiples(known, 2, {});
  CHECK(alone.mass == known.mass);
  const TreeFactors joint = with_entries({{1e-9, 0.5, 2.0, 1.0, 3.0},
                                          {0.5, 0.5 * (1.0 - 1e-9), 2.0, 1.0 + 1e-9, 3e10},
                                          {1.0, 2.0, 3.0, 4.0, 5.0}});
  const ColumnMatches found = match_columns({known, joint, 2, 3}, 2, {});
  const std::vector<std::uint32_t> expected = {4, 2, 0, 1, 3};
  for (std::size_t c = 0; c < expected.size(); ++c) {
    CHECK(found.of[c].kind == ColumnMatch::Kind::kShared && found.of[c].at == expected[c]);
  }
}

// What is small for the known trees may be all that a new tree has.
void a_small_entry_without_a_match_is_noticed() {
  const TreeFactors known = with_entries({{1.0, 1e-7}, {1.0, 1e-7}});
  const TreeFactors joint = with_entries({{1.0, 1e-7}, {1.0, 1.1e-7}, {0.0, 1.0}});
  CHECK_THROWS(InvalidForest, match_columns({known, joint, 2, 3}, 1, {}));
  // Both are small: the products lack nothing that could be seen.
  const TreeFactors noise = with_entries({{1.0, 1e-7}, {1.0, 1.1e-7}, {1.0, 1e-7}});
  CHECK(match_columns({known, noise, 2, 3}, 1, {}).of[1].kind == ColumnMatch::Kind::kLost);
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
      TEST(columns_with_the_same_hash_are_told_apart),
      TEST(a_small_entry_without_a_match_is_noticed),
      TEST(arrays_are_checked),
      TEST(too_little_memory),
  });
}
