// A copy of the factors of some examples, small enough for the processor's caches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/set_keys.hpp"

namespace filbert {

// Q_kl = y_k y_l (K_kl + intercept) of the chosen examples, as Q = A M A^T + diag(own). Only
// columns that at least two of these examples share are kept, and numbered anew. The others are in
// `own`. Columns that the same examples have with the same values become one. The first entries of
// an example have the same value, which is stored once. For most kernels these are all entries; for
// the others values of the rest are beside their columns.
class CompactFactors {
 public:
  // F is SingleFactors or SumFactors.
  template <class F>
  CompactFactors(const F& factors, std::span<const std::uint32_t> examples,
                 std::span<const std::int8_t> y, bool intercept, const StopToken& token) {
    const std::vector<std::uint32_t> place = number_columns(factors, examples);
    for (const std::uint32_t i : examples) {
      if (own.size() % 512 == 0) token.check();
      own.push_back(factors.diagonal[i]);
      constant_.push_back(intercept ? y[i] : 0.0);
      examples_.push_back({columns_.size(), columns_.size(), values_.size(), 0.0});
      factors.for_each(i, [&](std::size_t column, double value, double mass) {
        if (place[column] == kSingle) {
          own.back() += mass * value * value;
        } else if (place[column] != kMerged) {
          append(place[column], y[i] * value);
        }
      });
      finish();
    }
    examples_.push_back({columns_.size(), columns_.size(), values_.size(), 0.0});
  }

  std::size_t size() const { return own.size(); }
  std::size_t n_columns() const { return mass_.size(); }  // with that of the intercept, the last

  // The product of row k of A and z.
  double dot(std::size_t k, const double* z) const {
    const Example& e = examples_[k];
    const std::size_t end = examples_[k + 1].begin;
    // Several sums, so that an addition need not wait for the one before it.
    double equal[kLanes] = {}, others[kLanes] = {};
    std::size_t c = e.begin;
    for (; c < e.others; c += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) equal[lane] += z[columns_[c + lane]];
    }
    const double* value = values_.data() + e.values;
    for (; c < end; c += kLanes, value += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        others[lane] += value[lane] * z[columns_[c + lane]];
      }
    }
    return constant_[k] * z[constant_column()] + e.value * total(equal) + total(others);
  }

  // z += M A^T e_k weight
  void add(std::size_t k, double weight, double* z) const {
    for_each(k, weight,
             [&](std::size_t column, double value) { z[column] += value * mass_[column]; });
  }

  // z = M A^T weights, with weights for the examples `some`. Returns weights' A M A^T weights.
  double sum(std::span<const std::uint32_t> some, const std::vector<double>& weights,
             std::vector<double>& z) const {
    z.assign(n_columns(), 0.0);
    for (std::size_t a = 0; a < some.size(); ++a) {
      for_each(some[a], weights[a], [&](std::size_t column, double value) { z[column] += value; });
    }
    double square = 0.0;
    for (std::size_t t = 0; t < z.size(); ++t) {
      const double without_mass = z[t];
      z[t] *= mass_[t];
      square += z[t] * without_mass;
    }
    return square;
  }

  // visit(column, weight * value) for the entries of an example.
  template <class Visit>
  void for_each(std::size_t k, double weight, const Visit& visit) const {
    visit(constant_column(), weight * constant_[k]);
    const Example& e = examples_[k];
    const std::size_t end = examples_[k + 1].begin;
    std::size_t c = e.begin;
    for (const double value = weight * e.value; c < e.others; c += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) visit(columns_[c + lane], value);
    }
    const double* value = values_.data() + e.values;
    for (; c < end; c += kLanes, value += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        visit(columns_[c + lane], weight * value[lane]);
      }
    }
  }

  double mass(std::size_t column) const { return mass_[column]; }

  // The square of row k of A under M. z is zero before and after.
  double square(std::size_t k, std::vector<double>& z) const {
    add(k, 1.0, z.data());
    const double both = dot(k, z.data());
    for_each(k, 1.0, [&](std::size_t column, double) { z[column] = 0.0; });
    return both;
  }

  // By example: equal keys for equal entries, apart from the sign y.
  std::vector<SetKey> keys(std::span<const std::uint32_t> examples,
                           std::span<const std::int8_t> y) const {
    std::vector<SetKey> keys(size());
    for (std::size_t k = 0; k < size(); ++k) {
      for_each(k, y[examples[k]], [&](std::size_t column, double value) {
        if (value != 0.0 && column >= kEmpty) keys[k] += with_value(set_key(column), value);
      });
    }
    return keys;
  }

  std::vector<double> own;  // by example: what it shares with no other

 private:
  struct Example {
    std::size_t begin;   // in columns_
    std::size_t others;  // in columns_: entries with values of their own
    std::size_t values;  // in values_
    double value;        // of the entries before the others
  };
  // Entries come in groups of kLanes, because loops with a rest are slow if they are short. A group
  // is filled up with empty columns, whose mass is 0.
  static constexpr std::size_t kLanes = 4;
  static constexpr std::uint32_t kEmpty = kLanes - 1;
  static double total(const double (&sums)[kLanes]) {
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kSingle = kNone - 1;
  static constexpr std::uint32_t kMerged = kNone - 2;

  struct Column {
    SetKey key;  // of the examples that have it, with their values
    double mass;
    std::uint32_t n_entries = 0;
  };

  // The new number of each column; kSingle, or kMerged if it is part of an earlier column.
  template <class F>
  std::vector<std::uint32_t> number_columns(const F& factors,
                                            std::span<const std::uint32_t> examples) {
    std::vector<std::uint32_t> place(factors.n_columns(), kNone);  // first in `columns`
    std::vector<Column> columns;
    std::uint32_t k = 0;
    for (const std::uint32_t i : examples) {
      const SetKey key = set_key(k++);
      factors.for_each(i, [&](std::size_t original, double value, double mass) {
        if (place[original] == kNone) {
          place[original] = static_cast<std::uint32_t>(columns.size());
          columns.push_back({{}, mass});
        }
        Column& column = columns[place[original]];
        column.key += factors.has_values() ? with_value(key, value) : key;
        ++column.n_entries;
      });
    }
    const std::vector<std::uint32_t> number = merge_columns(columns);
    std::size_t n_entries = kLanes * examples.size();  // some to fill up
    for (std::size_t t = 0; t < columns.size(); ++t) {
      if (number[t] != kSingle && number[t] != kMerged) n_entries += columns[t].n_entries;
    }
    columns_.reserve(n_entries);
    if (factors.has_values()) values_.reserve(n_entries);
    for (std::uint32_t& at : place) at = at == kNone ? kSingle : number[at];
    return place;
  }

  std::vector<std::uint32_t> merge_columns(const std::vector<Column>& columns) {
    std::vector<std::uint32_t> number;
    mass_.assign(kEmpty, 0.0);
    ScratchMap<SetKey, std::uint32_t> number_of_key;  // plus 1
    for (const Column& column : columns) {
      if (column.n_entries == 1) {
        number.push_back(kSingle);
        continue;
      }
      std::uint32_t& known = number_of_key.at(column.key);
      number.push_back(known == 0 ? static_cast<std::uint32_t>(mass_.size()) : kMerged);
      if (known == 0) {
        mass_.push_back(0.0);
        known = static_cast<std::uint32_t>(mass_.size());
      }
      mass_[known - 1] += column.mass;
    }
    mass_.push_back(1.0);  // of the intercept
    return number;
  }

  void append(std::uint32_t column, double value) {
    Example& e = examples_.back();
    if (columns_.size() == e.begin) e.value = value;
    const bool is_first_other = values_.size() == e.values && value != e.value;
    if (is_first_other) finish();
    if (is_first_other || values_.size() > e.values) values_.push_back(value);
    columns_.push_back(column);
  }

  // Fills the last lanes of the equal entries, or of the others.
  void finish() {
    Example& e = examples_.back();
    for (std::uint32_t n = 0; columns_.size() % kLanes != 0; ++n) columns_.push_back(n);
    if (values_.size() == e.values) {
      e.others = columns_.size();
    } else {
      values_.resize(e.values + columns_.size() - e.others, 0.0);
    }
  }

  std::size_t constant_column() const { return mass_.size() - 1; }

  std::vector<double> constant_;   // by example: y, or 0 without an intercept
  std::vector<Example> examples_;  // and one more
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;  // of the others
  std::vector<double> mass_;    // by column
};

}  // namespace filbert
