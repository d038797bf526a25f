// The factors of (gamma x . y + coef0)^degree between sparse vectors: the linear kernel and the
// polynomial ones, written out in products of features. They have the form of trees' factors, so
// that whatever learns from those learns from these.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "engine/tree_factors.hpp"

namespace filbert {

// Rows of a sparse matrix. A row's features ascend; no value is 0.
struct SparseRows {
  std::span<const std::int64_t> begin;  // by row, one more than there are
  std::span<const std::int64_t> features;
  std::span<const double> values;

  std::size_t size() const { return begin.size() - 1; }
};

struct PolynomialSpec {
  std::uint32_t degree = 1;
  double gamma = 1.0;
  double coef0 = 0.0;
  bool normalize = true;
};

// Throws OutOfMemory, before anything is computed, where the products may take more than max_bytes;
// KernelOverflow where the kernel of a row with itself leaves double.
TreeFactors vector_factors(const SparseRows& rows, const PolynomialSpec& spec,
                           std::uint64_t max_bytes, int n_threads, const Watch& watch);

}  // namespace filbert
