// The factors of (gamma x . y + coef0)^degree between sparse vectors: the linear and the polynomial
// kernels, expanded into products of features. They have the same form as the factors of trees, so
// every learner on factors works with them.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "factors/tree_factors.hpp"
#include "factors/vectors/sparse_rows.hpp"

namespace filbert {

// Throws OutOfMemory, before anything is computed, if the products may take more than max_bytes,
// and KernelOverflow if the kernel of a row with itself is beyond double.
TreeFactors vector_factors(const SparseRows& rows, const PolynomialSpec& spec,
                           std::uint64_t max_bytes, int n_threads, const Watch& watch);

}  // namespace filbert
