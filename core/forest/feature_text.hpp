// Sparse vectors in the SVM-light format, `7:0.5 12:1`, as rows of a matrix.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace filbert {

inline constexpr std::string_view kSpace = " \t\n\r\v\f";

// Compressed rows. Within a row the columns ascend.
struct FeatureRows {
  std::vector<std::int64_t> row_begin = {0};  // one more entry than there are rows
  std::vector<std::int32_t> columns;          // from 0; the text counts from 1
  std::vector<double> values;

  // Reads one more row. Returns false if the text is not in the usual form, either because it is
  // wrong or because it is rare. The row is then incomplete.
  bool add(std::string_view text);

  void append(const FeatureRows& other);
};

// The whole text as a number that is finite, as numbers are mostly written.
bool read_finite(std::string_view text, double& value);

}  // namespace filbert
