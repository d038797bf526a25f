// The factors of a few examples that a solver visits many times. They are smaller than the same
// rows among all examples, because the other examples no longer tell columns apart:
//
// - a column that only one of the examples has needs no entry, only its sum for that example;
// - columns that the same examples have become one column.
//
// What remains lies close together and stays in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/set_keys.hpp"
#include "factors/sum_factors.hpp"

namespace filbert {

// Examples are numbered by their position in the list of examples.
template <class F>
class CondensedFactors {
 public:
  explicit CondensedFactors(const F& factors) : f_(factors), number_(factors.n_columns(), kNone) {}

  // Takes the examples, and w as z.
  void start(std::span<const std::uint32_t> examples, const double* z) {
    examples_ = examples;
    find_columns();
    merge_columns(z);
    list_entries(z);
    for (const Column& column : columns_) number_[column.original] = kNone;
  }

  void prefetch(std::size_t k) const {
    const std::uint32_t* const first = entries_.data() + begin_[k];
    for (std::size_t e = 0; e < 64; e += 16) __builtin_prefetch(first + e);
  }

  double diagonal(std::size_t k) const { return alone_[k].diagonal; }
  double self(std::size_t k) const { return alone_[k].self; }

  // The product of example k and w, without what k alone has among all examples.
  double dot(std::size_t k) const {
    const std::span own(entries_.data() + begin_[k], begin_[k + 1] - begin_[k]);
    if (f_.has_values()) {
      return sum_of(own, values_.data() + begin_[k], z_.data()) + alone_[k].dot;
    }
    return sum_of(own, z_.data()) * alone_[k].scale + alone_[k].dot;
  }

  // w += weight * example k
  void add(std::size_t k, double weight) {
    alone_[k].dot += weight * alone_[k].square;
    if (f_.has_values()) {
      for (std::size_t e = begin_[k]; e < begin_[k + 1]; ++e) {
        z_[entries_[e]] += weight * values_[e] * mass_[entries_[e]];
      }
      return;
    }
    weight *= alone_[k].scale;
    for (std::size_t e = begin_[k]; e < begin_[k + 1]; ++e) {
      z_[entries_[e]] += weight * mass_[entries_[e]];
    }
  }

 private:
  struct Column {
    SetKey key;  // of the examples that have it, with their values
    std::size_t original;
    std::uint32_t first, last;  // examples
    std::uint32_t number;       // after merging; kNone: only one example has it
    double mass;
    double total = 0.0;   // of its values in its only example
    bool listed = false;  // the first of its number
  };

  // What concerns one example only.
  struct Alone {
    double diagonal, self;
    double scale;         // the value of all its entries, if the factors have no values
    double dot = 0.0;     // with w, of the columns that no other of the examples has
    double square = 0.0;  // of these columns
  };

  // All columns of the examples, and for each example its columns.
  void find_columns() {
    columns_.clear();
    entries_.clear();
    values_.clear();
    begin_.assign(1, 0);
    alone_.clear();
    for (std::uint32_t k = 0; k < examples_.size(); ++k) {
      if (k + kAhead < examples_.size()) f_.prefetch(examples_[k + kAhead]);
      alone_.push_back({f_.diagonal[examples_[k]], f_.self[examples_[k]], 0.0});
      const SetKey key = set_key(k);
      f_.for_each(examples_[k], [&](std::size_t original, double value, const double& mass) {
        std::uint32_t& number = number_[original];
        if (number == kNone) {
          number = static_cast<std::uint32_t>(columns_.size());
          columns_.push_back({{}, original, k, k, kNone, mass});
        }
        Column& column = columns_[number];
        column.key += f_.has_values() ? with_value(key, value) : key;
        column.last = k;
        entries_.push_back(number);
        if (f_.has_values()) values_.push_back(value);
        alone_.back().scale = value;
      });
      begin_.push_back(entries_.size());
    }
  }

  // Columns of several examples get numbers; columns of the same examples get the same number.
  void merge_columns(const double* z) {
    z_.clear();
    mass_.clear();
    number_of_key_.clear();
    number_of_key_.reserve(columns_.size());
    for (Column& column : columns_) {
      if (column.first == column.last) continue;
      std::uint32_t& known = number_of_key_.at(column.key);
      if (known == 0) {
        z_.push_back(0.0);
        mass_.push_back(0.0);
        known = static_cast<std::uint32_t>(z_.size());
        column.listed = true;
      }
      column.number = known - 1;
      z_[column.number] += z[column.original];
      mass_[column.number] += column.mass;
    }
  }

  // Keeps one entry of merged columns.
  void list_entries(const double* z) {
    std::size_t to = 0;
    std::size_t from = 0;
    for (std::size_t k = 0; k < examples_.size(); ++k) {
      const std::size_t end = begin_[k + 1];
      for (; from < end; ++from) {
        Column& column = columns_[entries_[from]];
        const double value = f_.has_values() ? values_[from] : alone_[k].scale;
        if (column.number == kNone) {
          alone_[k].dot += value * z[column.original];
          alone_[k].square += (2.0 * column.total + value) * value * column.mass;
          column.total += value;
        } else if (column.listed) {
          if (f_.has_values()) values_[to] = value;
          entries_[to++] = column.number;
        }
      }
      begin_[k + 1] = to;
    }
    entries_.resize(to);
  }

  static constexpr std::size_t kAhead = 4;

  const F& f_;
  std::span<const std::uint32_t> examples_;
  std::vector<std::uint32_t> number_;  // by column of the factors; kNone except for those met
  std::vector<Column> columns_;        // by number
  ScratchMap<SetKey, std::uint32_t> number_of_key_;

  std::vector<Alone> alone_;        // by example
  std::vector<std::size_t> begin_;  // one more entry than there are examples
  std::vector<std::uint32_t> entries_;
  std::vector<double> values_;  // beside them, if the factors have values
  std::vector<double> z_, mass_;
};

}  // namespace filbert
