// By the multinomial theorem the kernel is a sum over products of up to `degree` features,
//
//   (gamma x . y + coef0)^d = sum_e  d! / (e_1! e_2! ... (d - |e|)!)  gamma^|e| coef0^(d - |e|) x^e
//   y^e
//
// and a product is a column. Most features have one value only, such as 1: then x^2 is x but for a
// factor, and the products of the same features are one column with the sum of their masses.
//
// Columns are found depth first, as sets are in mining: the rows that have a product are gone
// through for the features that they have after it. What a single row has is in its diagonal, and
// so is all that is made with it. Products that the same rows have are one column.

#include "engine/vector_factors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "engine/frequency_class.hpp"
#include "engine/set_keys.hpp"

namespace filbert {

namespace {

constexpr std::size_t kPart = 8192;  // rows to a task
constexpr double kTooLarge = 1e300;

double power(double base, std::uint32_t exponent) {
  double product = 1.0;
  for (std::uint32_t k = 0; k < exponent; ++k) product *= base;
  return product;
}

// The features that several rows have, the rare ones first: where a product begins with its rarest
// feature, few rows are gone through.
struct SharedFeatures {
  struct Feature {
    double value = 0.0;   // of the first row that has it
    bool varies = false;  // another row has another value
    std::uint32_t count = 0;
  };
  struct Entry {
    std::uint32_t feature;
    double value;  // 1 where the feature has one value only
  };

  std::vector<Feature> features;
  std::vector<std::uint64_t> begin;  // by row
  std::vector<Entry> entries;        // of a row, by feature
  bool any_varies = false;

  explicit SharedFeatures(const SparseRows& rows, const StopToken& token) {
    std::vector<std::uint32_t> number(rows.features.size());
    std::vector<Feature> all = all_features(rows, number, token);
    const std::vector<std::uint32_t> rank = ranked(all);
    begin.assign(1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % kPart == 0) token.check();
      for (auto k = rows.begin[i]; k < rows.begin[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Feature& feature = all[number[at]];
        if (feature.count < 2) continue;
        entries.push_back({rank[number[at]], feature.varies ? rows.values[at] : 1.0});
      }
      std::sort(entries.begin() + static_cast<std::ptrdiff_t>(begin.back()), entries.end(),
                [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
      begin.push_back(entries.size());
    }
  }

  std::span<const Entry> of_row(std::size_t i) const {
    return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
  }

 private:
  // Numbered in the order in which they are met.
  static std::vector<Feature> all_features(const SparseRows& rows,
                                           std::vector<std::uint32_t>& number,
                                           const StopToken& token) {
    std::vector<Feature> all;
    ScratchMap<std::uint64_t, std::uint32_t> numbers;  // from 1
    for (std::size_t k = 0; k < rows.features.size(); ++k) {
      if (k % kPart == 0) token.check();
      std::uint32_t& known = numbers.at(static_cast<std::uint64_t>(rows.features[k]));
      if (known == 0) {
        all.push_back({rows.values[k]});
        known = static_cast<std::uint32_t>(all.size());
      }
      number[k] = known - 1;
      Feature& feature = all[number[k]];
      ++feature.count;
      feature.varies = feature.varies || rows.values[k] != feature.value;
    }
    return all;
  }

  std::vector<std::uint32_t> ranked(const std::vector<Feature>& all) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t f = 0; f < all.size(); ++f) {
      if (all[f].count > 1) order.push_back(f);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all[a].count < all[b].count; });
    std::vector<std::uint32_t> rank(all.size(), kNone);
    for (const std::uint32_t f : order) {
      rank[f] = static_cast<std::uint32_t>(features.size());
      features.push_back(all[f]);
      any_varies = any_varies || all[f].varies;
    }
    return rank;
  }
};

// Polynomials in t up to the degree: coefficient m of a product's is the mass of its monomials of
// m factors, but for what is left to coef0. A feature of one value v makes exp(gamma v^2 t) - 1 of
// it, for it may be there 1, 2, ... times; one with values is there once more each time.
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

  // With a feature more, which is there `times` already.
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

// Columns with the rows that have them, ascending.
struct Columns {
  std::vector<double> mass;
  std::vector<std::uint64_t> hash;  // of the rows and values
  std::vector<std::uint64_t> begin{0};
  LargeArray<std::uint32_t> rows;
  LargeArray<double> values;  // or empty: all are 1

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

bool same_rows(const Columns& a, std::size_t i, const Columns& b, std::size_t j) {
  return std::ranges::equal(a.rows_of(i), b.rows_of(j)) &&
         std::ranges::equal(a.values_of(i), b.values_of(j));
}

// All columns whose products begin with some of the features.
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
    std::uint32_t last;  // where in the row the last feature is
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

  // A product of `size` factors, the last of which is there `times`.
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

  // The places by their next feature, of those that several rows have.
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
      count = size > 0 ? n + 1 : 0;  // where its next place is, from 1
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

class VectorFactors {
 public:
  VectorFactors(const SparseRows& rows, const PolynomialSpec& spec, std::uint64_t max_bytes,
                int n_threads, const Watch& watch)
      : rows_(rows),
        spec_(spec),
        max_bytes_(max_bytes),
        n_threads_(std::max(1, n_threads)),
        watch_(watch) {}

  TreeFactors run() {
    TreeFactors out;
    find_selves(out);
    const auto steps = static_cast<double>(rows_.features.size());
    parallel_for(1, threads_for(100.0 * steps, 1), watch_,
                 [&](std::size_t, int, const StopToken& token) {
                   x_ = std::make_unique<SharedFeatures>(rows_, token);
                 });
    check_memory(out);
    find_columns();
    parallel_for(1, threads_for(100.0 * n_entries_, 1), watch_,
                 [&](std::size_t, int, const StopToken& token) { merge_columns(token); });
    number_columns(out);
    list_by_row(out);
    finish_rows(out);
    return out;
  }

 private:
  // The power is left until all are known: where it is divided by norms, only ratios matter, and
  // the largest is made 1.
  void find_selves(TreeFactors& out) {
    out.self.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double square = 0.0;
      for (auto k = rows_.begin[i]; k < rows_.begin[i + 1]; ++k) {
        const double value = rows_.values[static_cast<std::size_t>(k)];
        square += value * value;
      }
      out.self[i] = spec_.gamma * square + spec_.coef0;
    }
    const auto largest = std::max_element(out.self.begin(), out.self.end());
    if (spec_.normalize && largest != out.self.end() && *largest > 0.0 && *largest < kTooLarge) {
      const double most = *largest;
      spec_.gamma /= most;
      spec_.coef0 /= most;
      for (double& self : out.self) self /= most;
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      out.self[i] = power(out.self[i], spec_.degree);
      if (!(out.self[i] < kTooLarge)) {
        throw KernelOverflow("the kernel value of vector " + std::to_string(i) +
                             " with itself is beyond the range of float64");
      }
    }
  }

  // Products of up to `degree` of a row's features: those with one value at most once each.
  static double n_products(std::size_t n_fixed, std::size_t n_varying, std::uint32_t degree) {
    std::vector<double> ways(degree + 1, 0.0);  // by number of factors
    ways[0] = 1.0;
    for (std::size_t f = 0; f < n_fixed; ++f) {
      for (std::uint32_t m = degree; m > 0; --m) ways[m] += ways[m - 1];
    }
    for (std::size_t f = 0; f < n_varying; ++f) {
      for (std::uint32_t m = 1; m <= degree; ++m) ways[m] += ways[m - 1];
    }
    return std::accumulate(ways.begin(), ways.end(), 0.0);
  }

  void check_memory(TreeFactors& out) const {
    double n = 0.0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto entries = x_->of_row(i);
      const auto n_varying = static_cast<std::size_t>(std::count_if(
          entries.begin(), entries.end(),
          [&](const SharedFeatures::Entry& entry) { return x_->features[entry.feature].varies; }));
      n += n_products(entries.size() - n_varying, n_varying, spec_.degree);
    }
    const double bytes = n * (x_->any_varies ? 24.0 : 8.0);  // by column, then by row
    if (bytes > static_cast<double>(max_bytes_)) {
      throw OutOfMemory("products of up to " + std::to_string(spec_.degree) + " features are " +
                            shown(n) + " for the " + std::to_string(rows_.size()) +
                            " vectors and would take " + shown(bytes / 1048576.0) +
                            " MiB, but at most " + std::to_string(max_bytes_ >> 20) +
                            " MiB are allowed",
                        bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0});
    }
    out.peak_bytes = static_cast<std::uint64_t>(bytes);
  }

  // Two digits will do.
  static std::string shown(double x) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), x < 1e6 ? "%.0f" : "%.1e", x);
    return text.data();
  }

  // Tasks are ranges of first features, and what they find is put together in their order.
  void find_columns() {
    list_rows_by_feature();
    const std::vector<std::uint32_t> task_begin = tasks();
    parts_.resize(task_begin.size());  // and one for the constant
    std::vector<std::unique_ptr<ColumnSearch>> searches(static_cast<std::size_t>(n_threads_));
    const int n_threads = threads_for(20.0 * n_entries_, n_threads_);
    parallel_for(task_begin.size() - 1, n_threads, watch_,
                 [&](std::size_t task, int worker, const StopToken& token) {
                   auto& search = searches[static_cast<std::size_t>(worker)];
                   if (!search) search = std::make_unique<ColumnSearch>(*x_, spec_);
                   search->begin_task();
                   for (std::uint32_t f = task_begin[task]; f < task_begin[task + 1]; ++f) {
                     search->run(f, rows_of(f), parts_[task], token);
                   }
                 });
    add_constant(parts_.back());
  }

  void list_rows_by_feature() {
    feature_begin_.assign(x_->features.size() + 1, 0);
    for (const SharedFeatures::Entry& entry : x_->entries) ++feature_begin_[entry.feature + 1];
    std::partial_sum(feature_begin_.begin(), feature_begin_.end(), feature_begin_.begin());
    std::vector<std::uint64_t> next(feature_begin_.begin(), feature_begin_.end() - 1);
    feature_rows_.resize(x_->entries.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const SharedFeatures::Entry& entry : x_->of_row(i)) {
        feature_rows_[next[entry.feature]++] = static_cast<std::uint32_t>(i);
      }
    }
    n_entries_ = static_cast<double>(x_->entries.size()) * spec_.degree;
  }

  std::span<const std::uint32_t> rows_of(std::uint32_t feature) const {
    const std::uint64_t begin = feature_begin_[feature];
    return std::span(feature_rows_).subspan(begin, feature_begin_[feature + 1] - begin);
  }

  // First features for each task, of about as many rows.
  std::vector<std::uint32_t> tasks() const {
    constexpr std::uint64_t kRows = 1 << 16;
    std::vector<std::uint32_t> begin{0};
    for (std::uint32_t f = 1; f < x_->features.size(); ++f) {
      if (feature_begin_[f] - feature_begin_[begin.back()] > kRows) begin.push_back(f);
    }
    begin.push_back(static_cast<std::uint32_t>(x_->features.size()));
    return begin;
  }

  // The product of no features.
  void add_constant(Columns& columns) const {
    const Masses masses(spec_);
    const double mass = masses.mass(masses.none());
    if (mass == 0.0 || rows_.size() < 2) return;
    for (std::uint32_t i = 0; i < rows_.size(); ++i) columns.add(i, 1.0, x_->any_varies);
    columns.end_column(mass);
  }

  // Tasks do not know of each other's columns.
  void merge_columns(const StopToken& token) {
    IdTable known;
    std::vector<std::pair<Columns*, std::uint32_t>> of;  // by id
    for (Columns& part : parts_) {
      for (std::uint32_t c = 0; c < part.size(); ++c) {
        if (of.size() >= kNone) throw CapacityError("there are 2^32 products of features or more");
        if (c % 1024 == 0) token.check();
        const auto id = static_cast<std::uint32_t>(of.size());
        const std::uint32_t first = known.find_or_insert(
            part.hash[c],
            [&](std::uint32_t other) {
              return same_rows(*of[other].first, of[other].second, part, c);
            },
            [&] { return id; });
        if (first == id) {
          of.emplace_back(&part, c);
        } else {
          of[first].first->mass[of[first].second] += part.mass[c];
          part.mass[c] = 0.0;  // it is there already
        }
      }
    }
  }

  // visit(column, its part, its place there), in the order of discovery.
  template <class Visit>
  void for_each_column(const Visit& visit) const {
    std::size_t column = 0;
    for (const Columns& part : parts_) {
      for (std::size_t c = 0; c < part.size(); ++c) {
        if (part.mass[c] > 0.0) visit(column++, part, c);
      }
    }
  }

  void number_columns(TreeFactors& out) {
    std::array<std::uint64_t, kFrequencyClasses + 1> begin{};
    const auto class_of = [](const Columns& part, std::size_t c) {
      return frequency_class(static_cast<double>(part.rows_of(c).size()));
    };
    for_each_column(
        [&](std::size_t, const Columns& part, std::size_t c) { ++begin[class_of(part, c) + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    out.mass.resize(begin.back());
    rank_.resize(begin.back());
    for_each_column([&](std::size_t column, const Columns& part, std::size_t c) {
      rank_[column] = static_cast<std::uint32_t>(begin[class_of(part, c)]++);
      out.mass[rank_[column]] = part.mass[c];
    });
  }

  // visit(row, rank, value) for all entries.
  template <class Visit>
  void for_each_entry(const StopToken& token, const Visit& visit) const {
    for_each_column([&](std::size_t column, const Columns& part, std::size_t c) {
      if (column % 1024 == 0) token.check();
      for (std::uint64_t k = part.begin[c]; k < part.begin[c + 1]; ++k) {
        visit(part.rows[k], rank_[column], part.values.empty() ? 1.0 : part.values[k]);
      }
    });
  }

  void list_by_row(TreeFactors& out) {
    const std::size_t n = rows_.size();
    out.begin.assign(n + 1, 0);
    out.value_begin.assign(n + 1, 0);
    parallel_for(1, threads_for(n_entries_, 1), watch_,
                 [&](std::size_t, int, const StopToken& token) {
                   for_each_entry(token, [&](std::uint32_t row, std::uint32_t, double value) {
                     ++out.begin[row + 1];
                     out.value_begin[row + 1] += value != 1.0;
                   });
                 });
    std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
    std::partial_sum(out.value_begin.begin(), out.value_begin.end(), out.value_begin.begin());
    out.columns.resize(out.begin.back());
    out.values.resize(out.value_begin.back());
    parallel_for(1, threads_for(n_entries_, 1), watch_,
                 [&](std::size_t, int, const StopToken& token) { fill(out, token); });
    parts_.clear();
  }

  void fill(TreeFactors& out, const StopToken& token) const {
    std::vector<std::uint64_t> next(out.begin.begin(), out.begin.end() - 1);
    std::vector<std::uint64_t> next_value(out.value_begin.begin(), out.value_begin.end() - 1);
    for_each_entry(token, [&](std::uint32_t row, std::uint32_t rank, double value) {
      if (value == 1.0) {
        out.columns[next[row]++] = rank;
      } else {
        const std::uint64_t left = out.value_begin[row + 1] - next_value[row];
        out.columns[out.begin[row + 1] - left] = rank;
        out.values[next_value[row]++] = value;
      }
    });
  }

  // What is not in shared columns is a row's own.
  void finish_rows(TreeFactors& out) const {
    constexpr double kRounding = 1e-13;
    const std::size_t n = rows_.size();
    out.scale.assign(n, 1.0);
    out.diagonal.assign(n, 0.0);
    const int n_threads = threads_for(static_cast<double>(out.columns.size()), n_threads_);
    parallel_for((n + kPart - 1) / kPart, n_threads, watch_,
                 [&](std::size_t part, int, const StopToken& token) {
                   token.check();
                   for (std::size_t i = part * kPart; i < std::min(n, (part + 1) * kPart); ++i) {
                     double shared = 0.0;
                     out.for_each(i, [&](std::uint32_t column, auto... value) {
                       shared += ((out.mass[column] * ... * value) * ... * value);
                     });
                     const double self = out.self[i];
                     const double own = self - shared;
                     out.diagonal[i] = own > kRounding * self ? own : 0.0;
                     if (!spec_.normalize) continue;
                     out.scale[i] = self > 0.0 ? 1.0 / std::sqrt(self) : 0.0;
                     out.diagonal[i] = self > 0.0 ? out.diagonal[i] / self : 0.0;
                     out.self[i] = self > 0.0 ? 1.0 : 0.0;
                   }
                 });
  }

  const SparseRows& rows_;
  PolynomialSpec spec_;
  std::uint64_t max_bytes_;
  int n_threads_;
  const Watch& watch_;

  std::unique_ptr<SharedFeatures> x_;
  std::vector<std::uint64_t> feature_begin_;
  std::vector<std::uint32_t> feature_rows_;
  double n_entries_ = 0.0;
  std::vector<Columns> parts_;
  std::vector<std::uint32_t> rank_;
};

}  // namespace

TreeFactors vector_factors(const SparseRows& rows, const PolynomialSpec& spec,
                           std::uint64_t max_bytes, int n_threads, const Watch& watch) {
  return VectorFactors(rows, spec, max_bytes, n_threads, watch).run();
}

}  // namespace filbert
