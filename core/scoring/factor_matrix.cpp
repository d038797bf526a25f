// Kernel matrices through the factors: the kernel of two trees is a sum over the columns that they
// share, so each tree adds its columns' masses to the other trees that have these columns.

#include <algorithm>
#include <numeric>

#include "base/errors.hpp"
#include "base/mirror.hpp"
#include "forest/align.hpp"
#include "kernels/chosen_symbols.hpp"
#include "rows/matrix.hpp"
#include "scoring/operator.hpp"

namespace filbert {

namespace {

// Measured on parse trees, markup, sessions, glycans and code: factorising a tree takes as long as
// 175 to 270 pairs of trees. Above that, the matrix takes a third of the time or less.
constexpr double kPairsToATree = 300.0;

bool factors_are_cheaper(const KernelSpec& spec, double n_trees, double n_pairs) {
  return spec->has_cheap_factors() && n_pairs > kPairsToATree * n_trees;
}

// The trees that have each column, in ascending order, with their values.
struct ColumnTrees {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> trees;
  std::vector<double> values;  // empty: all are 1

  ColumnTrees(const TreeFactors& f, std::size_t first, std::size_t last)
      : begin(f.mass.size() + 1, 0) {
    const std::uint64_t from = f.begin[first];
    const std::uint64_t to = f.begin[last];
    for (std::uint64_t k = from; k < to; ++k) ++begin[f.columns[k] + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    trees.resize(to - from);
    if (!f.values.empty()) values.resize(to - from);
    std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
    for (std::size_t i = first; i < last; ++i) {
      f.for_each(i, [&](std::uint32_t column, auto... value) {
        const std::uint64_t at = fill[column]++;
        trees[at] = static_cast<std::uint32_t>(i - first);
        if (!values.empty()) values[at] = (1.0 * ... * value);
      });
    }
  }
};

// Row i against the first `n` trees of the columns.
void add_row(const TreeFactors& f, std::size_t i, const ColumnTrees& columns, std::size_t n,
             double* row) {
  std::fill_n(row, n, 0.0);
  f.for_each(i, [&](std::uint32_t t, auto... of_tree) {
    const double mass = (f.mass[t] * ... * of_tree);
    const auto begin = columns.trees.begin() + static_cast<std::ptrdiff_t>(columns.begin[t]);
    const auto end = columns.trees.begin() + static_cast<std::ptrdiff_t>(columns.begin[t + 1]);
    if (columns.values.empty()) {
      for (auto j = begin; j != end && *j < n; ++j) row[*j] += mass;
    } else {
      const double* value = columns.values.data() + columns.begin[t];
      for (auto j = begin; j != end && *j < n; ++j) row[*j] += mass * *value++;
    }
  });
}

template <class Row>
void for_each_row(std::size_t n, int n_threads, const Watch& watch, const Row& row) {
  constexpr std::size_t kRows = 16;
  parallel_for((n + kRows - 1) / kRows, n_threads, watch,
               [&](std::size_t part, int, const StopToken& token) {
                 for (std::size_t i = part * kRows; i < std::min(n, (part + 1) * kRows); ++i) {
                   token.check();
                   row(i);
                 }
               });
}

void matrix_within(const TreeFactors& f, int n_threads, const Watch& watch, double* out) {
  const std::size_t n = f.n_trees();
  const ColumnTrees columns(f, 0, n);
  for_each_row(n, n_threads, watch, [&](std::size_t i) {
    double* const row = out + i * n;
    add_row(f, i, columns, i, row);
    for (std::size_t j = 0; j < i; ++j) row[j] *= f.scale[i] * f.scale[j];
    row[i] = f.self[i];
  });
  mirror(Half::left, n, out, n_threads, watch);
}

// The matrix between the first n_a trees and the others.
void matrix_between(const TreeFactors& f, std::size_t n_a, int n_threads, const Watch& watch,
                    double* out) {
  const std::size_t n_b = f.n_trees() - n_a;
  const ColumnTrees columns(f, n_a, f.n_trees());
  for_each_row(n_a, n_threads, watch, [&](std::size_t i) {
    double* const row = out + i * n_b;
    add_row(f, i, columns, n_b, row);
    for (std::size_t j = 0; j < n_b; ++j) row[j] *= f.scale[i] * f.scale[n_a + j];
  });
}

// Factors must not take much more memory than the matrix. If a value is beyond double, the
// computation by pairs finds out which.
template <class Make>
bool tried(std::size_t n_values, const Make& make) {
  const std::uint64_t max_bytes = std::max<std::uint64_t>(1 << 30, n_values * sizeof(double));
  try {
    make(max_bytes);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  } catch (const KernelOverflow&) {
    return false;
  }
}

TreeFactors factors_of(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                       bool normalize, std::uint64_t max_bytes, int n_threads, const Watch& watch) {
  const AssemblyOptions options{spec->counts_leaves(), normalize, max_bytes, false,
                                counted_nodes(spec, dag)};
  FactorLimits limits{FactorLimits{}.budget, max_bytes};
  limits.any_order = true;
  if (fits_double(spec, dag, limits, n_threads, watch)) {
    return assemble(factorize<double>(spec, dag, limits, n_threads, watch), dag, roots, options,
                    n_threads, watch);
  }
  return assemble(factorize<Wide>(spec, dag, limits, n_threads, watch), dag, roots, options,
                  n_threads, watch);
}

}  // namespace

void cheapest_kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                            const Watch& watch, double* out) {
  const auto n = static_cast<double>(a.size());
  const bool done =
      factors_are_cheaper(spec, n, 0.5 * n * n) && tried(a.size() * a.size(), [&](auto max_bytes) {
        matrix_within(factors_of(spec, a.dag, a.roots, normalize, max_bytes, n_threads, watch),
                      n_threads, watch, out);
      });
  if (!done) kernel_matrix(spec, a, normalize, n_threads, watch, out);
}

void cheapest_kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                            const Watch& watch, double* out) {
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const bool done =
      factors_are_cheaper(spec, n_a + n_b, n_a * n_b) &&
      tried(a.size() * b.size(), [&](auto max_bytes) {
        std::vector<NodeId> roots_a(a.roots.begin(), a.roots.end());
        std::vector<NodeId> roots_b(b.roots.begin(), b.roots.end());
        const std::shared_ptr<const Dag> both = merge(a.dag, roots_a, b.dag, roots_b);
        roots_a.insert(roots_a.end(), roots_b.begin(), roots_b.end());
        matrix_between(factors_of(spec, *both, roots_a, normalize, max_bytes, n_threads, watch),
                       a.size(), n_threads, watch, out);
      });
  if (!done) kernel_matrix(spec, a, b, normalize, n_threads, watch, out);
}

}  // namespace filbert
