#include "rows/entries.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "rows/matrix.hpp"

namespace filbert {

Norms norms_of(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch) {
  Norms norms;
  for (const Wide& self : self_kernels(spec, trees, n_threads, watch)) {
    norms.wide.push_back(sqrt(self));
    const double narrow = norms.wide.back().to_double();
    norms.inverse.push_back(1.0 / narrow);
    const bool representable = self.is_zero() || (narrow < 1e150 && narrow > 1e-150);
    norms.all_narrow = norms.all_narrow && representable;
  }
  return norms;
}

std::vector<double> diagonal(std::span<const Wide> selves, bool normalize) {
  std::vector<double> values;
  for (const Wide& self : selves) {
    values.push_back(normalize ? (self.is_zero() ? 0.0 : 1.0) : self.to_double());
  }
  return values;
}

double Entries::wide(std::size_t i, std::size_t j, double value) const {
  if (!std::isfinite(value)) return 0.0;  // overwritten later: the tile is computed again as Wide
  return (*this)(i, j, Wide(value));
}

double Entries::operator()(std::size_t i, std::size_t j, const Wide& value) const {
  // Rounding could bring the value above 1, which Cauchy-Schwarz excludes.
  if (a_ != nullptr) return std::min(1.0, ratio(value, a_->wide[i], b_->wide[j]));
  const double narrow = value.to_double();
  if (!std::isfinite(narrow)) {
    throw KernelOverflow("the kernel value of trees " + std::to_string(i) + " and " +
                         std::to_string(j) + " is beyond the range of float64");
  }
  return narrow;
}

}  // namespace filbert
