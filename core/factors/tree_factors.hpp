// The factors of the kernel between trees: with x the counts of a tree's fragments by class,
//
//   K(i, j) = scale_i scale_j sum_t mass_t x_it x_jt + [i = j] diagonal_i
//
// Columns that the same trees have equally often are merged, and fragments of a single tree are in
// its diagonal: a tree has only the columns that it shares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_array.hpp"
#include "factors/factors.hpp"
#include "forest/dag.hpp"

namespace filbert {

// The sum of weights[column] over some columns. Four sums at a time: one addition need not wait for
// the one before it.
inline double sum_of(std::span<const std::uint32_t> columns, const double* weights) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  std::size_t k = 0;
  for (; k + 4 <= columns.size(); k += 4) {
    a += weights[columns[k]];
    b += weights[columns[k + 1]];
    c += weights[columns[k + 2]];
    d += weights[columns[k + 3]];
  }
  for (; k < columns.size(); ++k) a += weights[columns[k]];
  return (a + b) + (c + d);
}

// The same of value * weights[column], with a value for each column.
inline double sum_of(std::span<const std::uint32_t> columns, const double* values,
                     const double* weights) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  std::size_t k = 0;
  for (; k + 4 <= columns.size(); k += 4) {
    a += values[k] * weights[columns[k]];
    b += values[k + 1] * weights[columns[k + 1]];
    c += values[k + 2] * weights[columns[k + 2]];
    d += values[k + 3] * weights[columns[k + 3]];
  }
  for (; k < columns.size(); ++k) a += values[k] * weights[columns[k]];
  return (a + b) + (c + d);
}

struct TreeFactors {
  std::vector<std::uint64_t> begin;   // one more entry than there are trees
  LargeArray<std::uint32_t> columns;  // of a tree, with repetition; frequent columns are small
  // Most values are 1. Columns with other values come last in a tree; their values are here.
  std::vector<std::uint64_t> value_begin;  // one more entry than there are trees
  LargeArray<double> values;
  std::vector<double> mass;      // by column
  std::vector<double> scale;     // by tree: 1 over its norm, or 1; 0 if it has no fragment
  std::vector<double> diagonal;  // by tree
  std::vector<double> self;      // by tree: K(i, i)
  std::vector<Wide> norm;        // by tree, if the values contain it and `scale` does not
  // If light fragments were dropped. By tree: for all trees i != j, what the factors give lacks at
  // most sqrt(lost[i] lost[j]) of K(i, j). K(i, i) is exact.
  std::vector<double> lost;
  // Beside them: the sum over all trees j of what K(i, j) lacks is at most lost_rows[i], by the
  // weights of the trees (OperatorOptions::row_weights).
  std::vector<double> lost_rows;
  // If the factors of the nodes were kept. By their feature, then by node for its residual: the
  // column, or kNone if it belongs to one tree or to none.
  std::vector<std::uint32_t> column_of;
  bool only_lacks = true;        // K(i, j) is never below what the factors give
  std::uint64_t peak_bytes = 0;  // during assembly

  std::size_t n_trees() const { return begin.size() - 1; }
  std::span<const std::uint32_t> columns_of(std::size_t tree) const {
    return {columns.data() + begin[tree], begin[tree + 1] - begin[tree]};
  }

  // Prefetches a tree's columns before they are needed.
  void prefetch(std::size_t tree) const {
    const std::uint32_t* const first = columns.data() + begin[tree];
    for (std::size_t k = 0; k < 64; k += 16) __builtin_prefetch(first + k);
  }

  // visit(column) for columns of value 1, visit(column, value) for the others.
  template <class Visit>
  void for_each(std::size_t tree, const Visit& visit) const {
    const std::uint32_t* const last = columns.data() + begin[tree + 1];
    const std::uint32_t* const ones_end =
        values.empty() ? last : last - (value_begin[tree + 1] - value_begin[tree]);
    const std::uint32_t* column = columns.data() + begin[tree];
    for (; column != ones_end; ++column) visit(*column);
    if (column == last) return;
    const double* value = values.data() + value_begin[tree];
    for (; column != last; ++column) visit(*column, *value++);
  }

  // sum over a tree's columns of value * weight
  double dot(std::size_t tree, const double* weights) const {
    const std::span<const std::uint32_t> all = columns_of(tree);
    if (values.empty()) return sum_of(all, weights);
    const std::size_t n_values = value_begin[tree + 1] - value_begin[tree];
    return sum_of(all.first(all.size() - n_values), weights) +
           sum_of(all.last(n_values), values.data() + value_begin[tree], weights);
  }

  // weights += factor * mass * value over a tree's columns
  void add(std::size_t tree, double factor, double* weights) const {
    for_each(tree, [&](std::uint32_t column, auto... value) {
      weights[column] += ((factor * mass[column]) * ... * value);
    });
  }
};

struct AssemblyOptions {
  bool include_leaves = false;
  bool normalize = true;
  std::uint64_t max_bytes = ~std::uint64_t{0};
  bool keep_factors = false;               // otherwise their memory is freed on the way
  std::vector<std::uint8_t> counted = {};  // by node: whether it is a root of fragments; empty: all
  // By tree: the exact K(i, i), if light fragments were dropped; not normalised.
  std::vector<double> selves = {};
};

// Throws KernelOverflow if values that are not normalised are beyond double, and OutOfMemory if the
// factors of the trees would exceed max_bytes.
template <class Real>
TreeFactors assemble(Factors<Real>&& factors, const Dag& dag, std::span<const NodeId> roots,
                     const AssemblyOptions& options, int n_threads, const Watch& watch);

}  // namespace filbert
