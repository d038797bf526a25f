#include "features/stored_factors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace filbert {

namespace {

bool are_begins(std::span<const std::uint64_t> begin, std::size_t n_rows, std::size_t n_entries) {
  return begin.size() == n_rows + 1 && begin.front() == 0 && begin.back() == n_entries &&
         std::is_sorted(begin.begin(), begin.end());
}

bool are_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool are_right(const FactorArrays& a) {
  const std::size_t n = a.scale.size();
  if (!are_begins(a.begin, n, a.columns.size())) return false;
  if (!are_begins(a.value_begin, n, a.values.size())) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (a.value_begin[i + 1] - a.value_begin[i] > a.begin[i + 1] - a.begin[i]) return false;
  }
  const auto is_column = [&](std::uint32_t column) { return column < a.mass.size(); };
  return std::all_of(a.columns.begin(), a.columns.end(), is_column) && a.diagonal.size() == n &&
         a.self.size() == n && (a.lost.empty() || a.lost.size() == n) && are_finite(a.values) &&
         are_finite(a.mass) && are_finite(a.scale) && are_finite(a.diagonal) &&
         are_finite(a.self) && are_finite(a.lost);
}

template <class T>
LargeArray<T> copy_of(std::span<const T> values) {
  LargeArray<T> copy;
  copy.resize(values.size());
  std::copy(values.begin(), values.end(), copy.begin());
  return copy;
}

}  // namespace

FactorArrays factor_arrays(const TreeFactors& f) {
  return {f.begin,       {f.columns.data(), f.columns.size()},
          f.value_begin, {f.values.data(), f.values.size()},
          f.mass,        f.scale,
          f.diagonal,    f.self,
          f.lost};
}

TreeFactors factors_from(const FactorArrays& a) {
  if (!are_right(a)) throw std::invalid_argument("the arrays are not those of factors");
  TreeFactors f;
  f.begin.assign(a.begin.begin(), a.begin.end());
  f.columns = copy_of(a.columns);
  f.value_begin.assign(a.value_begin.begin(), a.value_begin.end());
  f.values = copy_of(a.values);
  f.mass.assign(a.mass.begin(), a.mass.end());
  f.scale.assign(a.scale.begin(), a.scale.end());
  f.diagonal.assign(a.diagonal.begin(), a.diagonal.end());
  f.self.assign(a.self.begin(), a.self.end());
  f.lost.assign(a.lost.begin(), a.lost.end());
  return f;
}

}  // namespace filbert
