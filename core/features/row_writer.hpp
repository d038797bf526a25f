// Sparse rows that threads write in any order, into one array.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/show_bytes.hpp"
#include "features/feature_rows.hpp"

namespace filbert {

struct FeatureEntry {
  std::uint32_t column;
  double value;
};

// Sorts a few entries of a row by column: by digits, the last one first.
template <class Entry, class ColumnOf>
void sort_by_column(std::vector<Entry>& entries, std::vector<Entry>& scratch,
                    const ColumnOf& column_of) {
  constexpr std::uint32_t kBits = 7;
  std::uint32_t all_bits = 0;
  for (const Entry& entry : entries) all_bits |= column_of(entry);
  scratch.resize(entries.size());
  for (std::uint32_t shift = 0; shift < 32 && all_bits >> shift != 0; shift += kBits) {
    std::array<std::uint32_t, (1u << kBits) + 1> begin{};
    const auto digit = [&](const Entry& entry) {
      return column_of(entry) >> shift & ((1u << kBits) - 1);
    };
    for (const Entry& entry : entries) ++begin[digit(entry) + 1];
    for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
    for (const Entry& entry : entries) scratch[begin[digit(entry)]++] = entry;
    entries.swap(scratch);
  }
}

// The entries of one row, in any order at first. A thread uses one for all its rows.
class RowEntries {
 public:
  void clear() { entries_.clear(); }
  void add(std::size_t column, double value) {
    entries_.push_back({static_cast<std::uint32_t>(column), value});
  }
  std::span<const FeatureEntry> all() const { return entries_; }

  // Sorts by column and adds the entries of one column.
  void merge() {
    sort_by_column(entries_, scratch_, [](const FeatureEntry& entry) { return entry.column; });
    std::size_t n = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      if (n > 0 && entries_[n - 1].column == entries_[k].column) {
        entries_[n - 1].value += entries_[k].value;
      } else {
        entries_[n++] = entries_[k];
      }
    }
    entries_.resize(n);
  }

 private:
  std::vector<FeatureEntry> entries_, scratch_;
};

class RowWriter {
 public:
  // most(row): the maximum number of entries of a row.
  template <class Most>
  RowWriter(std::size_t n_rows, std::uint64_t max_bytes, const Most& most) : sizes_(n_rows) {
    rows_.begin.reserve(n_rows + 1);
    rows_.begin.push_back(0);
    for (std::size_t i = 0; i < n_rows; ++i) rows_.begin.push_back(rows_.begin.back() + most(i));
    const std::uint64_t bytes = rows_.begin.back() * (sizeof(double) + sizeof(std::uint32_t));
    if (bytes > max_bytes) {
      throw OutOfMemory("the features of " + std::to_string(n_rows) + " examples may take " +
                            show_bytes(static_cast<double>(bytes)) + ", but at most " +
                            show_bytes(static_cast<double>(max_bytes)) + " are allowed",
                        bytes);
    }
    rows_.columns.resize(rows_.begin.back());
    rows_.values.resize(rows_.begin.back());
  }

  // Each row is written once: fill(put) calls put(column, value) in the order of columns.
  template <class Fill>
  void write(std::size_t row, const Fill& fill) {
    std::uint64_t at = rows_.begin[row];
    std::uint32_t* const columns = rows_.columns.data();
    double* const values = rows_.values.data();
    fill([&](std::size_t column, double value) {
      if (value == 0.0) return;
      columns[at] = static_cast<std::uint32_t>(column);
      values[at++] = value;
    });
    sizes_[row] = at - rows_.begin[row];
  }

  // Moves the rows together.
  KernelFeatures finish() && {
    std::uint64_t end = 0;
    for (std::size_t row = 0; row < sizes_.size(); ++row) {
      const std::uint64_t from = std::exchange(rows_.begin[row], end);
      std::copy_n(rows_.columns.data() + from, sizes_[row], rows_.columns.data() + end);
      std::copy_n(rows_.values.data() + from, sizes_[row], rows_.values.data() + end);
      end += sizes_[row];
    }
    rows_.begin.back() = end;
    rows_.columns.resize(end);
    rows_.values.resize(end);
    rows_.columns.shrink();
    rows_.values.shrink();
    return std::move(rows_);
  }

 private:
  KernelFeatures rows_;  // each row begins where it would if all were of the maximum size
  std::vector<std::uint64_t> sizes_;
};

// Entries are numbered as signed 32-bit numbers in sparse matrices of other libraries.
inline void check_number_of_columns(std::uint64_t n) {
  if (n >= std::uint64_t{1} << 31) {
    throw CapacityError("there are " + std::to_string(n) + " features, 2^31 or more");
  }
}

}  // namespace filbert
