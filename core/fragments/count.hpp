// Trees as sparse vectors of fragments (Pighin & Moschitti 2010, Eq. 5).
#pragma once

#include <cstdint>
#include <vector>

#include "fragments/node_matches.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Compressed rows, one per tree; within a row the fragments ascend.
struct FragmentRows {
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> fragments;
  std::vector<double> values;
};

// Counts how often each fragment occurs in each tree.
FragmentRows count_fragments(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                             int n_threads, const Watch& watch);

// The trees in the kernel's space: the weights of the occurrences, divided by the tree's norm if
// `normalize` is set.
FragmentRows fragment_features(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                               bool normalize, int n_threads, const Watch& watch);

}  // namespace filbert
