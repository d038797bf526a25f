// Products of features: their weights in a polynomial kernel, and the rows that have them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "base/large_array.hpp"
#include "base/parallel.hpp"
#include "base/power.hpp"
#include "factors/vectors/shared_features.hpp"
#include "factors/vectors/sparse_rows.hpp"

namespace filbert {

// Polynomials in t up to the degree: coefficient m of a product's polynomial is the mass of its
// monomials of m factors, without the part of coef0. A feature of one value v multiplies it by
// exp(gamma v^2 t) - 1, because it may occur 1, 2, ... times; a feature with several values is
// added once at a time.
class Masses {
 public:
  explicit Masses(const PolynomialSpec& spec) : gamma_(spec.gamma), rest_(spec.degree + 1) {
    double falling = 1.0;  // d! / (d - m)!
    for (std::uint32_t m = 0; m <= spec.degree; ++m) {
      rest_[m] = falling * power(spec.coef0, spec.degree - m);
      falling *= spec.degree - m;
    }
  }

  using Powers = std::vector<double>;

  Powers none() const {
    Powers one(rest_.size(), 0.0);
    one[0] = 1.0;
    return one;
  }

  // Adds a feature that already occurs `times` times.
  Powers with(const Powers& p, const SharedFeatures::Feature& feature, std::uint32_t times) const {
    Powers product(p.size(), 0.0);
    double factor = 1.0;
    for (std::size_t m = 1; m < p.size(); ++m) {
      factor *= feature.varies ? gamma_ / (times + 1.0)
                               : gamma_ * feature.value * feature.value / static_cast<double>(m);
      for (std::size_t k = 0; k + m < p.size(); ++k) product[k + m] += factor * p[k];
      if (feature.varies) break;
    }
    return product;
  }

  double mass(const Powers& p) const {
    return std::inner_product(p.begin(), p.end(), rest_.begin(), 0.0);
  }

 private:
  double gamma_;
  std::vector<double> rest_;
};

// Columns with the rows that have them, in ascending order.
struct Columns {
  std::vector<double> mass;
  std::vector<std::uint64_t> hash;  // of the rows and values
  std::vector<std::uint64_t> begin{0};
  LargeArray<std::uint32_t> rows;
  LargeArray<double> values;  // empty: all are 1

  std::size_t size() const { return mass.size(); }
  std::span<const std::uint32_t> rows_of(std::size_t c) const {
    return {rows.data() + begin[c], begin[c + 1] - begin[c]};
  }
  std::span<const double> values_of(std::size_t c) const {
    if (values.empty()) return {};
    return {values.data() + begin[c], begin[c + 1] - begin[c]};
  }

  void add(std::uint32_t row, double value, bool with_values) {
    rows.push_back(row);
    if (with_values) values.push_back(value);
  }
  void end_column(double of_column) {
    mass.push_back(of_column);
    hash.push_back(0);
    begin.push_back(rows.size());
    for (const std::uint32_t row : rows_of(size() - 1)) hash.back() += spread(row);
    for (const double value : values_of(size() - 1)) {
      hash.back() = mix(hash.back() ^ std::bit_cast<std::uint64_t>(value), kHashA);
    }
  }
  void drop_last() {
    mass.pop_back();
    hash.pop_back();
    begin.pop_back();
    rows.resize(begin.back());
    if (!values.empty()) values.resize(begin.back());
  }
};

inline bool same_rows(const Columns& a, std::size_t i, const Columns& b, std::size_t j) {
  return std::ranges::equal(a.rows_of(i), b.rows_of(j)) &&
         std::ranges::equal(a.values_of(i), b.values_of(j));
}

// Finds all columns whose products begin with some of the features.
class ColumnSearch {
 public:
  ColumnSearch(const SharedFeatures& x, const PolynomialSpec& spec)
      : x_(x), degree_(spec.degree), masses_(spec), counts_(x.features.size(), 0), of_(degree_) {}

  void begin_task() { known_ = IdTable(); }

  void run(std::uint32_t feature, std::span<const std::uint32_t> rows, Columns& out,
           const StopToken& token) {
    std::vector<Place>& places = of_[0].places;
    places.clear();
    for (const std::uint32_t row : rows) {
      const std::span<const SharedFeatures::Entry> entries = x_.of_row(row);
      const auto at = std::lower_bound(
          entries.begin(), entries.end(), feature,
          [](const SharedFeatures::Entry& entry, std::uint32_t f) { return entry.feature < f; });
      places.push_back({row, static_cast<std::uint32_t>(at - entries.begin()), at->value});
    }
    const Masses::Powers powers = masses_.with(masses_.none(), x_.features[feature], 0);
    visit(1, places, feature, 1, powers, out, token);
  }

 private:
  struct Place {
    std::uint32_t row;
    std::uint32_t last;  // the position of the last feature in the row
    double value;
  };
  struct Group {
    std::uint32_t feature;
    std::size_t begin, end;
  };
  struct Level {
    std::vector<Place> places;
    std::vector<Group> groups;
  };

  // Visits a product of `size` factors, the last of which occurs `times` times.
  void visit(std::uint32_t size, std::span<const Place> places, std::uint32_t last,
             std::uint32_t times, const Masses::Powers& powers, Columns& out,
             const StopToken& token) {
    token.check();
    const double mass = masses_.mass(powers);
    if (mass > 0.0) list(places, mass, out);
    if (size == degree_) return;
    Level& level = of_[size];
    split(places, last, level);
    for (const Group& group : level.groups) {
      const std::uint32_t again = group.feature == last ? times : 0;
      visit(size + 1, std::span(level.places).subspan(group.begin, group.end - group.begin),
            group.feature, again + 1, masses_.with(powers, x_.features[group.feature], again), out,
            token);
    }
  }

  // Products that the same rows have, with the same values, are one column.
  void list(std::span<const Place> places, double mass, Columns& out) {
    for (const Place& place : places) out.add(place.row, place.value, x_.any_varies);
    out.end_column(mass);
    const auto last = static_cast<std::uint32_t>(out.size() - 1);
    const std::uint32_t column = known_.find_or_insert(
        out.hash[last], [&](std::uint32_t c) { return same_rows(out, c, out, last); },
        [&] { return last; });
    if (column == last) return;
    out.mass[column] += mass;
    out.drop_last();
  }

  // Splits the places by their next feature, among the features that several rows have.
  void split(std::span<const Place> places, std::uint32_t last, Level& level) {
    const bool again = x_.features[last].varies;
    const auto for_each_next = [&](const auto& next) {
      for (const Place& place : places) {
        const std::span<const SharedFeatures::Entry> entries = x_.of_row(place.row);
        for (std::uint32_t q = place.last + (again ? 0 : 1); q < entries.size(); ++q) {
          next(place, q, entries[q]);
        }
      }
    };
    level.groups.clear();
    for_each_next([&](const Place&, std::uint32_t, const SharedFeatures::Entry& entry) {
      if (counts_[entry.feature]++ == 0) level.groups.push_back({entry.feature, 0, 0});
    });
    std::size_t n = 0;
    std::size_t n_groups = 0;
    for (const Group& group : level.groups) {
      std::uint64_t& count = counts_[group.feature];
      const std::uint64_t size = count > 1 ? count : 0;
      if (size > 0) level.groups[n_groups++] = {group.feature, n, n + size};
      count = size > 0 ? n + 1 : 0;  // the position of its next place, from 1
      n += size;
    }
    level.groups.resize(n_groups);
    level.places.resize(n);
    for_each_next([&](const Place& place, std::uint32_t q, const SharedFeatures::Entry& entry) {
      std::uint64_t& next = counts_[entry.feature];
      if (next > 0) level.places[next++ - 1] = {place.row, q, place.value * entry.value};
    });
    for (const Group& group : level.groups) counts_[group.feature] = 0;
  }

  const SharedFeatures& x_;
  std::uint32_t degree_;
  Masses masses_;
  std::vector<std::uint64_t> counts_;  // by feature; all 0 between calls
  std::vector<Level> of_;              // by size of a product
  IdTable known_;                      // columns of this task
};

}  // namespace filbert
