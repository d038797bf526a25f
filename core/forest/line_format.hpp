// Files of labelled examples, one a line: where in a line its label, its tree and its features
// are. The formats
// are those of src/filbert/read, which reads whatever is unusual and says what is wrong with it.
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
};

// `label |BT| tree |ET| features |EV|`, with one tree and at most one vector.
struct SvmlightTkFormat {};

using LineFormat = std::variant<TsvFormat, SvmlightTkFormat>;

enum class LineKind { example, nothing, unusual };

struct LineParts {
  LineKind kind = LineKind::unusual;
  std::string_view label;  // as it stands there, blanks around it included
  std::string_view tree;
  std::string_view features;  // `number:value` and blanks; empty where there are none
};

// A line comes without its end. Nothing: it is blank, or a comment.
LineParts split_line(const LineFormat& format, std::string_view line);

// Whether a label is any text, or the number that SVM-light-TK has.
bool is_usual_label(const LineFormat& format, std::string_view label);

}  // namespace filbert
