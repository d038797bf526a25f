// The factors of known examples as arrays, for files and copies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "factors/tree_factors.hpp"

namespace filbert {

// All that features need. The arrays are those of TreeFactors.
struct FactorArrays {
  std::span<const std::uint64_t> begin;
  std::span<const std::uint32_t> columns;
  std::span<const std::uint64_t> value_begin;
  std::span<const double> values;
  std::span<const double> mass;
  std::span<const double> scale;
  std::span<const double> diagonal;
  std::span<const double> self;
  std::span<const double> lost;
};

FactorArrays factor_arrays(const TreeFactors& factors);

// Everything is checked. Throws std::invalid_argument if the arrays are not those of factors.
TreeFactors factors_from(const FactorArrays& arrays);

}  // namespace filbert
