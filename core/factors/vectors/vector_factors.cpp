// By the multinomial theorem the kernel is a sum over products of up to `degree` features,
//
//   (gamma x . y + coef0)^d
//       = sum_e  d! / (e_1! e_2! ... (d - |e|)!)  gamma^|e| coef0^(d - |e|) x^e y^e
//
// and a product is a column. Most features have only one value, such as 1. Then x^2 is x up to a
// factor, and the products of the same features are one column with the sum of their masses.
//
// Columns are found depth first, as in frequent itemset mining: the search reads the rows that have
// a product for the features that follow it. Products of a single row, and all their extensions,
// are in its diagonal. Products that the same rows have are one column.

#include "factors/vectors/vector_factors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/id_table.hpp"
#include "base/power.hpp"
#include "base/show_bytes.hpp"
#include "factors/frequency_class.hpp"
#include "factors/vectors/product_columns.hpp"
#include "factors/vectors/shared_features.hpp"

namespace filbert {

namespace {

constexpr std::size_t kPart = 8192;  // rows per task
constexpr double kTooLarge = 1e300;

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
  // The power is taken after all are known: if values are divided by norms, only ratios matter, and
  // the largest is scaled to 1.
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

  // The number of products of up to `degree` of a row's features. Features with one value occur at
  // most once each.
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
                            " vectors and would take " + show_bytes(bytes) + ", but at most " +
                            show_bytes(static_cast<double>(max_bytes_)) + " are allowed",
                        bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0});
    }
    out.peak_bytes = static_cast<std::uint64_t>(bytes);
  }

  // Two digits suffice.
  static std::string shown(double x) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), x < 1e6 ? "%.0f" : "%.1e", x);
    return text.data();
  }

  // Tasks are ranges of first features; their columns are concatenated in the order of the tasks.
  void find_columns() {
    list_rows_by_feature();
    const std::vector<std::uint32_t> task_begin = tasks();
    parts_.resize(task_begin.size());  // and one more for the constant
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

  // The first features of each task, with about the same number of rows per task.
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

  // Merges equal columns of different tasks.
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
          part.mass[c] = 0.0;  // it is already there
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

  // The part that is not in shared columns belongs to the row's diagonal.
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
