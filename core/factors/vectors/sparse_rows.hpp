// The input of a polynomial kernel: sparse vectors, and its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace filbert {

// Rows of a sparse matrix. A row's features ascend; no value is 0.
struct SparseRows {
  std::span<const std::int64_t> begin;  // one more entry than there are rows
  std::span<const std::int64_t> features;
  std::span<const double> values;

  std::size_t size() const { return begin.size() - 1; }

  // Whether rows begin and end at valid positions, and features ascend.
  bool is_well_formed() const {
    if (begin.empty() || begin[0] != 0 || features.size() != values.size()) return false;
    if (begin.back() != static_cast<std::int64_t>(features.size())) return false;
    bool ordered = true;
    for (std::size_t i = 0; i < size(); ++i) ordered = ordered && begin[i] <= begin[i + 1];
    for (std::size_t i = 0; ordered && i < size(); ++i) {
      for (auto k = begin[i] + 1; k < begin[i + 1]; ++k) {
        ordered = ordered && features[k - 1] < features[k];
      }
    }
    return ordered;
  }
};

struct PolynomialSpec {
  std::uint32_t degree = 1;
  double gamma = 1.0;
  double coef0 = 0.0;
  bool normalize = true;
};

}  // namespace filbert
