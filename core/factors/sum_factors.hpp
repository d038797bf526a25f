// The factors of a sum of kernels over the same n examples. With F_k the factors of term k,
//
//   K(i, j) = sum_k sum_pq scale_k[p n + i] scale_k[q n + j] F_k(p n + i, q n + j)
//
// Most terms have one tree or vector per example. In other terms an example has several, numbered p
// = 0, 1, ..., and its features are the sum of theirs, with scales such as +1 and -1 for two trees
// that are compared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "factors/tree_factors.hpp"

namespace filbert {

struct SumTerm {
  std::shared_ptr<const TreeFactors> factors;
  std::vector<double> scale;  // by tree of the factors
};

// The interface that learners need, for any factors:
//
//   n_trees, n_columns, n_entries      examples; the size of z, which stands for w; work of a pass
//   dot(i, z)                          the product of example i and w, without what i alone has
//   add(i, weight, z)                  w += weight * example i, again without what i alone has
//   diagonal[i], self[i]               what example i alone has, and K(i, i)
class SumFactors {
 public:
  // Throws std::invalid_argument if the number of trees of a term is not a multiple of n_examples.
  SumFactors(std::size_t n_examples, std::vector<SumTerm> terms);

  std::size_t n_trees() const { return self.size(); }
  std::size_t n_columns() const { return n_columns_; }
  std::uint64_t n_entries() const { return n_entries_; }
  // The terms; their columns come one after the other.
  std::span<const SumTerm> terms() const { return terms_; }
  // Of one example.
  std::uint64_t n_entries_of(std::size_t i) const {
    std::uint64_t n = 0;
    for (const Part& part : parts_) n += part.factors->columns_of(i + part.first_row).size();
    return n;
  }

  void prefetch(std::size_t i) const {
    for (const Part& part : parts_) part.factors->prefetch(i + part.first_row);
  }

  double dot(std::size_t i, const double* z) const {
    double sum = 0.0;
    for (const Part& part : parts_) {
      sum += part.scale[i] * part.factors->dot(i + part.first_row, z + part.first_column);
    }
    return sum;
  }

  void add(std::size_t i, double weight, double* z) const {
    for (const Part& part : parts_) {
      part.factors->add(i + part.first_row, weight * part.scale[i], z + part.first_column);
    }
  }

  // Whether the entries of an example may have different values.
  bool has_values() const { return parts_.size() != 1 || !parts_.front().factors->values.empty(); }

  // visit(column, value, mass) for all entries of an example
  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    for (const Part& part : parts_) {
      const TreeFactors& f = *part.factors;
      f.for_each(i + part.first_row, [&](std::uint32_t column, auto... value) {
        visit(part.first_column + column, (part.scale[i] * ... * value), f.mass[column]);
      });
    }
  }

  std::vector<double> self;
  std::vector<double> diagonal;
  // As in TreeFactors. If an example has several trees, K(i, i) lacks at most lost[i].
  std::vector<double> lost, lost_rows;
  bool only_lacks = true;

 private:
  // One tree of all examples in one term.
  struct Part {
    const TreeFactors* factors;
    std::vector<double> scale;  // by example, with the norm
    std::size_t first_row;
    std::size_t first_column;  // in z
  };

  void add_term(const SumTerm& term);
  void add_selves(const SumTerm& term, std::size_t first_part);
  void add_losses(const SumTerm& term);

  std::vector<SumTerm> terms_;  // keeps the factors alive
  std::vector<Part> parts_;
  std::size_t n_columns_ = 0;
  std::uint64_t n_entries_ = 0;
};

// The same interface for one kernel, without a copy.
class SingleFactors {
 public:
  explicit SingleFactors(const TreeFactors& factors)
      : self(factors.self), diagonal(factors.diagonal), f_(factors) {}

  std::size_t n_trees() const { return f_.n_trees(); }
  std::size_t n_columns() const { return f_.mass.size(); }
  std::uint64_t n_entries() const { return f_.columns.size(); }

  void prefetch(std::size_t i) const { f_.prefetch(i); }
  double dot(std::size_t i, const double* z) const { return f_.scale[i] * f_.dot(i, z); }
  void add(std::size_t i, double weight, double* z) const { f_.add(i, weight * f_.scale[i], z); }

  bool has_values() const { return !f_.values.empty(); }

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    f_.for_each(i, [&](std::uint32_t column, auto... value) {
      visit(column, (f_.scale[i] * ... * value), f_.mass[column]);
    });
  }

  std::span<const double> self;
  std::span<const double> diagonal;

 private:
  const TreeFactors& f_;
};

}  // namespace filbert
