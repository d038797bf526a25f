// What the factors of every kernel have to be: Delta, the same for any number of threads, and
// within their limits.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "check.hpp"
#include "reference_factors.hpp"

namespace filbert {

inline constexpr double kTolerance = 1e-12;
// As learners have it; hardly any; none, which closes every block by pairs; and no end.
inline constexpr double kBudgets[] = {1.0, 0.3, 0.0, 1e9};

inline std::vector<std::vector<Tree>> some_forests() {
  std::vector<std::vector<Tree>> forests{{{"A", {}}}, random_trees(1, 1, 5), {}};
  for (unsigned seed = 2; seed < 7; ++seed) forests.push_back(random_trees(seed, 12, 4, 3));
  for (unsigned seed = 7; seed < 9; ++seed) forests.push_back(random_trees(seed, 8, 3, 6));
  for (unsigned seed = 9; seed < 13; ++seed) forests.push_back(near_duplicates(seed, 10, 5));
  return forests;
}

// `delta` is that of all pairs of distinct nodes, by rows.
template <class Real>
void check_factors(const SomeKernel& spec, const Dag& dag, const std::vector<double>& delta,
                   double budget, int n_threads) {
  const Factors<Real> factors = factorized<Real>(spec, dag, budget, n_threads);
  CHECK_EQUAL(factors.begin.size(), dag.size() + 1);
  const std::vector<double> actual = multiplied(factors);
  CHECK_EQUAL(actual.size(), delta.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK_NEAR(actual[i], delta[i], kTolerance);
  for (NodeId u = 0; u < dag.size(); ++u) {
    CHECK_NEAR(plain(factors.self[u]), delta[u * dag.size() + u], kTolerance);
  }
}

inline void check_all_budgets(const SomeKernel& spec, const Dag& dag) {
  const std::vector<double> delta = reference_delta(spec, dag);
  for (const double budget : kBudgets) check_factors<double>(spec, dag, delta, budget, 1);
  check_factors<double>(spec, dag, delta, 1.0, 3);
  for (const double budget : {1e9, 0.0}) check_factors<Wide>(spec, dag, delta, budget, 2);
}

inline void check_all_forests(const std::vector<SomeKernel>& specs) {
  for (const std::vector<Tree>& trees : some_forests()) {
    const Forest forest = forest_of(trees);
    for (const SomeKernel& spec : specs) check_all_budgets(spec, *forest.dag);
  }
}

// A column is shared by two nodes at least and has mass and values, of which the largest is 1; rows
// ascend; both lists say the same.
inline void check_columns(const Factors<double>& factors) {
  const auto at = [](const auto& values, std::size_t k) {
    return values.size() == 0 ? 1.0 : values.data()[k];
  };
  std::vector<std::vector<std::pair<NodeId, double>>> sets(factors.mass.size());
  for (NodeId u = 0; u < factors.residual.size(); ++u) {
    const auto features = factors.features_of(u);
    CHECK(std::is_sorted(features.begin(), features.end()));
    CHECK(std::adjacent_find(features.begin(), features.end()) == features.end());
    for (std::size_t i = 0; i < features.size(); ++i) {
      sets[features[i]].emplace_back(u, at(factors.values, factors.begin[u] + i));
    }
  }
  for (std::uint32_t t = 0; t < sets.size(); ++t) {
    CHECK(sets[t].size() >= 2);
    std::vector<std::pair<NodeId, double>> listed;
    double most = 0.0;
    for (std::size_t k = factors.set_begin[t]; k < factors.set_begin[t + 1]; ++k) {
      listed.emplace_back(factors.nodes[k], at(factors.set_values, k));
      CHECK(listed.back().second > 0.0);
      most = std::max(most, listed.back().second);
    }
    CHECK_EQUAL(most, 1.0);
    std::sort(listed.begin(), listed.end());
    CHECK(listed == sets[t]);
    CHECK(factors.mass[t] > 0.0);
  }
  for (const double r : factors.residual) CHECK(r >= 0.0);
}

template <class Real>
void check_same(const Factors<Real>& a, const Factors<Real>& b) {
  const auto same = [](const std::vector<Real>& x, const std::vector<Real>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Real& p, const Real& q) { return plain(p) == plain(q); });
  };
  CHECK(a.begin == b.begin);
  CHECK(a.features == b.features);
  CHECK(same(a.values, b.values));
  CHECK(a.set_begin == b.set_begin);
  CHECK(a.nodes == b.nodes);
  CHECK(same(a.mass, b.mass));
  CHECK(same(a.residual, b.residual));
  CHECK_EQUAL(a.n_rounds, b.n_rounds);
  CHECK_EQUAL(a.n_blocks_by_pairs, b.n_blocks_by_pairs);
}

template <class Real>
void check_threads(const SomeKernel& spec, const Dag& dag, double budget) {
  const auto one = factorized<Real>(spec, dag, budget, 1);
  for (const int n : {2, 3, 8}) check_same(one, factorized<Real>(spec, dag, budget, n));
}

inline void check_limit_of_memory(const SomeKernel& spec, const Dag& dag) {
  for (const double budget : {1.0, 0.0}) {
    const auto error =
        check::caught<OutOfMemory>([&] { factorize<double>(spec, dag, {budget, 1000}, 2, {}); });
    CHECK(error && error->bytes > 1000);
    factorize<double>(spec, dag, {budget, 1u << 30}, 2, {});
  }
}

// The same limit holds or does not, whatever the number of threads.
inline void check_limit_of_work(const SomeKernel& spec, const Dag& dag) {
  for (const double budget : {1.0, 0.0}) {
    const auto within = [&](double max_work, int n_threads) {
      const FactorLimits limits{budget, ~std::uint64_t{0}, max_work};
      return !check::caught<WorkExceeded>(
          [&] { factorize<double>(spec, dag, limits, n_threads, {}); });
    };
    double most = 1000.0;
    CHECK(!within(most, 1));
    while (most < 1e15 && !within(most, 1)) most *= 2.0;  // a low limit ends the work early
    CHECK(most < 1e15);
    double least = 0.5 * most;
    while (most - least > 1.0) {
      const double middle = std::floor(0.5 * (least + most));
      (within(middle, 1) ? most : least) = middle;
    }
    for (const int n_threads : {1, 2, 5}) {
      CHECK(within(most, n_threads));
      CHECK(!within(most - 1.0, n_threads));
    }
  }
}

// Of a forest that takes seconds: given up at the first look.
inline void check_interrupt(const SomeKernel& spec, const Dag& dag) {
  struct Interrupt {};
  for (const int n_threads : {1, 3}) {
    int looks = 0;
    const Watch watch = [&](std::size_t, std::size_t) {
      ++looks;
      throw Interrupt{};
    };
    CHECK_THROWS(Interrupt, factorize<double>(spec, dag, {1e6}, n_threads, watch));
    CHECK_EQUAL(looks, 1);
  }
}

}  // namespace filbert
