// The factors of (gamma x . y + coef0)^degree between sparse vectors: the linear kernel and the
// polynomial ones, written out in products of features. They have the form of trees' factors, so
// that whatever learns from those learns from these.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "factors/tree_factors.hpp"
#include "factors/vectors/sparse_rows.hpp"

namespace filbert {

// Throws OutOfMemory, before anything is computed, where the products may take more than max_bytes;
// KernelOverflow where the kernel of a row with itself leaves double.
TreeFactors vector_factors(const SparseRows& rows, const PolynomialSpec& spec,
                           std::uint64_t max_bytes, int n_threads, const Watch& watch);

}  // namespace filbert
