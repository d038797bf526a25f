// The features of examples as sparse rows whose products are the kernel. With x the counts of an
// example's fragments by class,
//
//   A(i, t) = scale_i sqrt(mass_t) x_it,   A(i, T + i) = sqrt(diagonal_i)   =>   A A^T = K
//
// The last columns, one for each example, are what the example alone has.
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_array.hpp"
#include "base/parallel.hpp"
#include "factors/sum_factors.hpp"

namespace filbert {

struct KernelFeatures {
  std::vector<std::uint64_t> begin;   // one more entry than there are rows
  LargeArray<std::uint32_t> columns;  // of a row: ascending, below 2^31
  LargeArray<double> values;
};

struct FeatureOptions {
  bool own_columns = true;  // for what one example alone has
  std::uint64_t max_bytes = ~std::uint64_t{0};
};

// The factors must not have blocks that were closed by pairs: their masses may be negative. Throws
// std::invalid_argument if a diagonal is, OutOfMemory if the rows would exceed max_bytes, and
// CapacityError if there are 2^31 columns or more.
KernelFeatures feature_rows(const SumFactors& factors, const FeatureOptions& options, int n_threads,
                            const Watch& watch);

}  // namespace filbert
