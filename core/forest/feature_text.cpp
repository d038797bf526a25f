#include "forest/feature_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace filbert {

namespace {

constexpr std::size_t kDigits = 10;  // in the largest number

// Reads a text that consists only of digits.
bool read_number(std::string_view text, std::int64_t& number) {
  if (text.empty() || text.size() > kDigits || text[0] < '0' || text[0] > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool read_finite(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool FeatureRows::add(std::string_view text) {
  std::int64_t previous = 0;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpace, begin)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t colon = item.find(':');
    if (colon == item.npos) return false;
    std::int64_t number = 0;
    double value = 0.0;
    if (!read_number(item.substr(0, colon), number) ||
        !read_finite(item.substr(colon + 1), value)) {
      return false;
    }
    if (number <= previous || number > std::numeric_limits<std::int32_t>::max()) return false;
    previous = number;
    columns.push_back(static_cast<std::int32_t>(number - 1));
    values.push_back(value);
    begin = end;
  }
  row_begin.push_back(static_cast<std::int64_t>(columns.size()));
  return true;
}

void FeatureRows::append(const FeatureRows& other) {
  const std::int64_t before = row_begin.back();
  for (std::size_t i = 1; i < other.row_begin.size(); ++i) {
    row_begin.push_back(before + other.row_begin[i]);
  }
  columns.insert(columns.end(), other.columns.begin(), other.columns.end());
  values.insert(values.end(), other.values.begin(), other.values.end());
}

}  // namespace filbert
