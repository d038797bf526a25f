// The factors of local patterns: a column is a pattern that several trees have.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "factors/tree_factors.hpp"
#include "patterns/pattern_spec.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Throws OutOfMemory if the factors take more than max_bytes.
TreeFactors pattern_factors(const PatternSpec& spec, Trees trees, bool normalize,
                            std::uint64_t max_bytes, int n_threads, const Watch& watch);

}  // namespace filbert
