// Factors of trees or vectors without what they were made of.
#pragma once

#include <memory>

#include "factors/tree_factors.hpp"

namespace filbert {

struct StoredFactors {
  std::shared_ptr<const TreeFactors> factors;
};

}  // namespace filbert
