// Computed rows of a kernel matrix, as many as fit into memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/packed_rows.hpp"
#include "rows/row_source.hpp"

namespace filbert {

class RowCache {
 public:
  // Throws OutOfMemory if not even a few rows fit.
  RowCache(RowSource& source, std::uint64_t max_bytes);

  std::size_t n_trees() const { return rows_.n(); }
  std::size_t capacity() const { return capacity_; }  // in rows, at most n_trees
  std::size_t batch() const { return batch_; }        // rows that may be computed at a time
  std::size_t size() const { return rows_.size(); }
  std::uint64_t n_computed() const { return n_computed_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  RowSource& source() const { return source_; }
  const PackedRows& rows() const { return rows_; }

  // Computes missing rows, at most `batch`. If there is no room for them, rows that are not marked
  // in `in_use` (by tree) are removed first, the least recently used ones before the others.
  void fetch(std::span<const std::uint32_t> wanted, const std::vector<bool>& in_use, int n_threads,
             const Watch& watch);

  // Computes all missing rows. All rows have to fit.
  void complete(int n_threads, const Watch& watch);

  // Where the cache is, and the way back there, for a cache of the same source: `restore` removes
  // all rows and orders the trees, `append` adds the rows of the next places, values by tree. Both
  // throw std::invalid_argument for what cannot be of such a cache.
  std::span<const std::uint64_t> last_used() const { return last_used_; }  // by tree
  std::uint64_t n_removed() const { return n_removed_; }
  void restore(std::span<const std::uint32_t> order, std::span<const std::uint64_t> last_used);
  void append(std::span<const std::uint32_t> trees, std::span<const double* const> values);

  // Marks the row as just used.
  void touch(std::uint32_t tree) { last_used_[tree] = ++clock_; }

 private:
  void make_room(std::size_t n_more, const std::vector<bool>& in_use);
  void count(std::span<const std::uint32_t> computed, std::uint64_t scratch_bytes);

  RowSource& source_;
  std::size_t batch_;
  std::size_t capacity_;
  PackedRows rows_;
  std::vector<std::uint64_t> last_used_;  // by tree
  std::uint64_t clock_ = 0;
  std::uint64_t n_computed_ = 0;
  std::uint64_t n_removed_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace filbert
