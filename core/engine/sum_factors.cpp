#include "engine/sum_factors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace filbert {

SumFactors::SumFactors(std::vector<SumTerm> terms) : terms_(std::move(terms)) {
  if (terms_.empty()) throw std::invalid_argument("a sum needs a term");
  const std::size_t n = terms_.front().scale.size();
  self.assign(n, 0.0);
  diagonal.assign(n, 0.0);
  for (const SumTerm& term : terms_) add_term(term);
}

void SumFactors::add_term(const SumTerm& term) {
  const std::size_t n = n_trees();
  const TreeFactors& f = *term.factors;
  if (term.scale.size() != n || f.n_trees() != n * term.coefficients.size()) {
    throw std::invalid_argument("the terms of a sum need the same examples");
  }
  const std::size_t first_part = parts_.size();
  for (std::size_t p = 0; p < term.coefficients.size(); ++p) {
    Part part{&f, std::vector<double>(n), p * n, n_columns_};
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = term.scale[i] * term.coefficients[p];
      part.scale[i] = scale * f.scale[p * n + i];
      diagonal[i] += scale * scale * f.diagonal[p * n + i];
    }
    parts_.push_back(std::move(part));
  }
  add_selves(term, first_part);
  n_columns_ += f.mass.size();
  n_entries_ += f.columns.size();
}

// K(i, i) of one row is known; of several it takes the kernels between them.
void SumFactors::add_selves(const SumTerm& term, std::size_t first_part) {
  const std::size_t n = n_trees();
  const TreeFactors& f = *term.factors;
  if (term.coefficients.size() == 1) {
    const double square = term.coefficients[0] * term.coefficients[0];
    for (std::size_t i = 0; i < n; ++i)
      self[i] += square * term.scale[i] * term.scale[i] * f.self[i];
    return;
  }
  std::vector<double> z(f.mass.size(), 0.0);
  const std::span<const Part> rows = std::span(parts_).subspan(first_part);
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0.0;
    for (const Part& row : rows) f.add(i + row.first_row, row.scale[i], z.data());
    for (const Part& row : rows) {
      square += row.scale[i] * f.dot(i + row.first_row, z.data());
      const double scale = term.scale[i] * term.coefficients[row.first_row / n];
      square += scale * scale * f.diagonal[i + row.first_row];
    }
    for (const Part& row : rows) {
      for (const std::uint32_t column : f.columns_of(i + row.first_row)) z[column] = 0.0;
    }
    self[i] += std::max(0.0, square);  // rows that cancel leave rounding
  }
}

}  // namespace filbert
