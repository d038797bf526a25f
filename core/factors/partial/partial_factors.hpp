// The factors of Delta for partial trees.
#pragma once

#include "factors/factors.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

bool partial_fits_double(const PartialTree& kernel, const FactorTask& task);

// Throws TooExpensive if a single pair of nodes would take more than kernel.max_steps.
template <class Real>
Factors<Real> partial_factors(const PartialTree& kernel, const FactorTask& task);

}  // namespace filbert
