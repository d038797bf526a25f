// Sparse vectors as SVM-light writes them, `7:0.5 12:1`, as the rows of a matrix.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace filbert {

// Compressed rows; within a row the columns ascend.
struct FeatureRows {
  std::vector<std::int64_t> row_begin = {0};  // one more than there are rows
  std::vector<std::int32_t> columns;          // from 0, where the text counts from 1
  std::vector<double> values;

  // Reads one row more. False where the text is not as usual, be it wrong or only rare: the row is
  // unfinished then.
  bool add(std::string_view text);

  void append(const FeatureRows& other);
};

// The whole text as a number that is finite, as numbers are mostly written.
bool read_finite(std::string_view text, double& value);

}  // namespace filbert
