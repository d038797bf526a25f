#include "features/feature_rows.hpp"

#include <cmath>
#include <stdexcept>

#include "features/row_writer.hpp"

namespace filbert {

namespace {

// The shared columns of any factors.
class AnyRows {
 public:
  explicit AnyRows(const SumFactors& factors) : factors_(factors) {}

  template <class Put>
  void list(std::size_t i, const Put& put) {
    entries_.clear();
    factors_.for_each(i, [&](std::size_t column, double value, double mass) {
      if (mass > 0.0) entries_.add(column, value * std::sqrt(mass));
    });
    entries_.merge();
    for (const FeatureEntry& entry : entries_.all()) put(entry.column, entry.value);
  }

 private:
  const SumFactors& factors_;
  RowEntries entries_;
};

// Those of a single kernel without values: columns are counted.
class CountedRows {
 public:
  explicit CountedRows(const SumTerm& term) : f_(*term.factors), scale_(term.scale) {}

  template <class Put>
  void list(std::size_t i, const Put& put) {
    const std::span<const std::uint32_t> columns = f_.columns_of(i);
    columns_.assign(columns.begin(), columns.end());
    sort_by_column(columns_, scratch_, [](std::uint32_t column) { return column; });
    const double scale = scale_[i] * f_.scale[i];
    for (std::size_t k = 0, next = 0; k < columns_.size(); k = next) {
      while (next < columns_.size() && columns_[next] == columns_[k]) ++next;
      const double root = std::sqrt(std::max(0.0, f_.mass[columns_[k]]));
      put(columns_[k], static_cast<double>(next - k) * scale * root);
    }
  }

 private:
  const TreeFactors& f_;
  const std::vector<double>& scale_;
  std::vector<std::uint32_t> columns_, scratch_;
};

double own_entry(const SumFactors& factors, std::size_t i) {
  constexpr double kRounding = 1e-9;
  const double own = factors.diagonal[i];
  if (own < -kRounding * factors.self[i]) {
    throw std::invalid_argument("factors with negative masses are no features");
  }
  return std::sqrt(std::max(0.0, own));
}

template <class MakeRows>
KernelFeatures list_rows(const SumFactors& factors, const FeatureOptions& options, int n_threads,
                         const Watch& watch, const MakeRows& make_rows) {
  constexpr std::size_t kPart = 4096;  // examples per task
  const std::size_t n = factors.n_trees();
  const std::size_t one = options.own_columns ? 1 : 0;
  check_number_of_columns(factors.n_columns() + one * n);
  RowWriter writer(n, options.max_bytes,
                   [&](std::size_t i) { return factors.n_entries_of(i) + one; });
  n_threads = threads_for(20.0 * static_cast<double>(factors.n_entries() + n), n_threads);
  parallel_for((n + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int, const StopToken& token) {
                 auto rows = make_rows();
                 for (std::size_t i = part * kPart; i < std::min(n, (part + 1) * kPart); ++i) {
                   if (i % 64 == 0) token.check();
                   writer.write(i, [&](const auto& put) {
                     rows.list(i, put);
                     if (options.own_columns) put(factors.n_columns() + i, own_entry(factors, i));
                   });
                 }
               });
  return std::move(writer).finish();
}

}  // namespace

KernelFeatures feature_rows(const SumFactors& factors, const FeatureOptions& options, int n_threads,
                            const Watch& watch) {
  if (factors.has_values()) {
    return list_rows(factors, options, n_threads, watch, [&] { return AnyRows(factors); });
  }
  return list_rows(factors, options, n_threads, watch,
                   [&] { return CountedRows(factors.terms().front()); });
}

}  // namespace filbert
