#include "factors/sum_factors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace filbert {

SumFactors::SumFactors(std::size_t n_examples, std::vector<SumTerm> terms)
    : self(n_examples, 0.0), diagonal(n_examples, 0.0), terms_(std::move(terms)) {
  for (const SumTerm& term : terms_) add_term(term);
}

void SumFactors::add_term(const SumTerm& term) {
  const std::size_t n = n_trees();
  const TreeFactors& f = *term.factors;
  const bool fits = n == 0 ? f.n_trees() == 0 : f.n_trees() > 0 && f.n_trees() % n == 0;
  if (!fits || term.scale.size() != f.n_trees()) {
    throw std::invalid_argument("the terms of a sum need the same examples");
  }
  const std::size_t first_part = parts_.size();
  for (std::size_t first = 0; first < f.n_trees(); first += n) {
    Part part{&f, std::vector<double>(n), first, n_columns_};
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = term.scale[first + i];
      part.scale[i] = scale * f.scale[first + i];
      diagonal[i] += scale * scale * f.diagonal[first + i];
    }
    parts_.push_back(std::move(part));
  }
  add_selves(term, first_part);
  if (!f.lost.empty()) add_losses(term);
  n_columns_ += f.mass.size();
  n_entries_ += f.columns.size();
}

// K(i, i) of one tree is known; for several trees it needs the kernels between them.
void SumFactors::add_selves(const SumTerm& term, std::size_t first_part) {
  const std::size_t n = n_trees();
  const TreeFactors& f = *term.factors;
  const std::span<const Part> parts = std::span(parts_).subspan(first_part);
  if (parts.size() <= 1) {
    for (std::size_t i = 0; i < n; ++i) self[i] += term.scale[i] * term.scale[i] * f.self[i];
    return;
  }
  std::vector<double> z(f.mass.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0.0;
    for (const Part& part : parts) f.add(i + part.first_row, part.scale[i], z.data());
    for (const Part& part : parts) {
      const std::size_t tree = i + part.first_row;
      square += part.scale[i] * f.dot(tree, z.data());
      square += term.scale[tree] * term.scale[tree] * f.diagonal[tree];
    }
    for (const Part& part : parts) {
      for (const std::uint32_t column : f.columns_of(i + part.first_row)) z[column] = 0.0;
    }
    self[i] += std::max(0.0, square);  // trees that cancel out leave rounding errors
  }
}

// The roots of the losses of an example's trees add up (by the triangle inequality), and the losses
// of terms (by the inequality of Cauchy and Schwarz). The kernels between trees with scales of
// different signs are subtracted.
void SumFactors::add_losses(const SumTerm& term) {
  const std::size_t n = n_trees();
  const TreeFactors& f = *term.factors;
  lost.resize(n, 0.0);
  lost_rows.resize(n, 0.0);
  double largest = 0.0;
  for (const double scale : term.scale) largest = std::max(largest, std::fabs(scale));
  only_lacks = only_lacks && f.only_lacks && f.n_trees() == n;
  for (std::size_t i = 0; i < n; ++i) {
    double root = 0.0;
    for (std::size_t tree = i; tree < f.n_trees(); tree += n) {
      root += std::fabs(term.scale[tree]) * std::sqrt(f.lost[tree]);
      lost_rows[i] += std::fabs(term.scale[tree]) * largest * f.lost_rows[tree];
    }
    lost[i] += root * root;
    only_lacks = only_lacks && term.scale[i] >= 0.0;
  }
}

}  // namespace filbert
