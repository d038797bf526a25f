// The factors of Delta for subset trees.
#pragma once

#include "factors/factors.hpp"
#include "kernels/subset_tree.hpp"

namespace filbert {

bool subset_fits_double(const SubsetTree& kernel, const Dag& dag);

template <class Real>
Factors<Real> subset_factors(const SubsetTree& kernel, const FactorTask& task);

}  // namespace filbert
