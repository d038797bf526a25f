// File formats with one labelled example per line: the positions of the label, the tree and the
// features in a line. src/filbert/read supports the same formats. It reads the lines that are
// unusual and reports what is wrong with them.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace filbert {

// Columns between tabs, numbered from 0 or, if negative, from the end.
struct TsvFormat {
  std::int64_t label = 0;
  std::int64_t tree = 1;
  std::uint64_t n_columns = 2;  // 0: any number
  bool number_labels = false;   // whether only numbers are usual labels
};

// `label |BT| tree |ET| features |EV|`, with one tree and at most one vector.
struct SvmlightTkFormat {};

using LineFormat = std::variant<TsvFormat, SvmlightTkFormat>;

enum class LineKind { example, nothing, unusual };

struct LineParts {
  LineKind kind = LineKind::unusual;
  std::string_view label;  // including blanks around it
  std::string_view tree;
  std::string_view features;  // `number:value` and blanks; may be empty
};

// Splits a line without its line end. LineKind::nothing means a blank line or a comment.
LineParts split_line(const LineFormat& format, std::string_view line);

// Whether a label is any text, or a number if the format wants numbers, as SVM-light-TK does.
bool is_usual_label(const LineFormat& format, std::string_view label);

}  // namespace filbert
