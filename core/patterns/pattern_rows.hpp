// Trees as sparse rows over patterns, whose products are the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "patterns/pattern_table.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Compressed rows. Within a row the patterns ascend.
struct PatternRows {
  std::vector<std::int64_t> begin{0};
  std::vector<PatternId> patterns;
  std::vector<double> values;
};

// Adds the patterns of the trees to the table.
PatternRows pattern_rows(PatternTable& table, Trees trees, bool normalize, int n_threads,
                         const Watch& watch);

// Leaves out patterns that the table does not have. They count in the norms.
PatternRows known_pattern_rows(const PatternTable& table, Trees trees, bool normalize,
                               int n_threads, const Watch& watch);

// How often the trees have each pattern of the table.
std::vector<double> pattern_counts(const PatternTable& table, Trees trees, int n_threads,
                                   const Watch& watch);

// The kernel of each tree with itself.
std::vector<double> pattern_selves(const PatternSpec& spec, Trees trees, int n_threads,
                                   const Watch& watch);

}  // namespace filbert
