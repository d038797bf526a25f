#include "forest/line_format.hpp"

#include <algorithm>

#include "forest/feature_text.hpp"

namespace filbert {

namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpace) == text.npos; }

std::string_view before(std::string_view text, std::string_view mark) {
  return text.substr(0, text.find(mark));
}

// The field with this number, counted from 0. The line must have it.
std::string_view field(std::string_view line, std::int64_t number) {
  for (; number > 0; --number) line.remove_prefix(line.find('\t') + 1);
  return before(line, "\t");
}

LineParts split(const TsvFormat& format, std::string_view line) {
  if (is_blank(line)) return {LineKind::nothing, {}, {}, {}};
  const std::int64_t n = std::count(line.begin(), line.end(), '\t') + 1;
  if (format.n_columns != 0 && static_cast<std::uint64_t>(n) != format.n_columns) return {};
  const std::int64_t label = format.label < 0 ? n + format.label : format.label;
  const std::int64_t tree = format.tree < 0 ? n + format.tree : format.tree;
  if (label < 0 || label >= n || tree < 0 || tree >= n) return {};
  return {LineKind::example, field(line, label), field(line, tree), {}};
}

bool is_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return false;
  double value = 0.0;
  return read_finite(text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin), value);
}

LineParts split(const SvmlightTkFormat&, std::string_view line) {
  constexpr std::string_view begin = "|BT|", end = "|ET|", next_vector = "|BV|";
  const std::size_t first = line.find_first_not_of(kSpace);
  if (first == line.npos || line[first] == '#') return {LineKind::nothing, {}, {}, {}};
  const std::size_t tree_begin = line.find(begin);
  if (tree_begin == line.npos) return {};
  const std::string_view body = line.substr(tree_begin + begin.size());
  const std::size_t tree_end = body.find(end);
  if (tree_end == body.npos) return {};
  const std::string_view tree = body.substr(0, tree_end);
  const std::string_view features = before(before(body.substr(tree_end + end.size()), "#"), "|EV|");
  if (tree.find(begin) != tree.npos || features.find(next_vector) != features.npos) return {};
  return {LineKind::example, line.substr(0, tree_begin), tree, features};
}

}  // namespace

bool is_usual_label(const LineFormat& format, std::string_view label) {
  const TsvFormat* const tsv = std::get_if<TsvFormat>(&format);
  return (tsv != nullptr && !tsv->number_labels) || is_number(label);
}

LineParts split_line(const LineFormat& format, std::string_view line) {
  return std::visit([&](const auto& chosen) { return split(chosen, line); }, format);
}

}  // namespace filbert
