// Where training on rows is between two steps, beside the dual variables, the places of the
// problems and the cache. From here it goes on as if it had not paused.
#pragma once

#include <cstdint>
#include <vector>

namespace filbert {

struct RowState {
  bool pauses = false;        // whether to pause after each step
  bool has_new_rows = false;  // and goes on with a descent
  // By problem: the decision values by tree, and the intercept. None if training begins.
  std::vector<std::vector<double>> values;
  std::uint64_t n_batches = 0;  // of rows, so far
};

}  // namespace filbert
