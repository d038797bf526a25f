// What a polynomial kernel is of: sparse vectors, and its parameters.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace filbert
