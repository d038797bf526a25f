#include "learn/row_cache.hpp"

#include <algorithm>
#include <string>

#include "base/errors.hpp"

namespace filbert {

namespace {

constexpr std::size_t kFewest = 8;  // rows, for a descent that gets anywhere

std::size_t rows_that_fit(std::size_t n, std::uint64_t max_bytes) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, n * sizeof(double));
  const std::size_t fit = std::min<std::uint64_t>(n, max_bytes / row_bytes);
  if (fit >= std::min(n, kFewest)) return fit;
  const std::uint64_t needed = std::min(n, kFewest) * row_bytes;
  throw OutOfMemory("rows of the kernel matrix of " + std::to_string(n) + " distinct trees take " +
                        std::to_string(row_bytes) +
                        " bytes each, and some of them are needed at a time, " +
                        std::to_string(needed) + " bytes, but at most " +
                        std::to_string(max_bytes) + " bytes are allowed",
                    needed);
}

}  // namespace

RowCache::RowCache(RowSource& source, std::uint64_t max_bytes)
    : source_(source),
      capacity_(rows_that_fit(source.n_trees(), max_bytes)),
      rows_(source.n_trees()),
      last_used_(source.n_trees(), 0) {}

void RowCache::make_room(std::size_t n_more, const std::vector<bool>& in_use) {
  if (n_rows_ + n_more <= capacity_) return;
  std::vector<std::uint32_t> order;
  for (std::uint32_t tree = 0; tree < rows_.size(); ++tree) {
    if (rows_[tree]) order.push_back(tree);
  }
  const std::size_t n_out = n_rows_ + n_more - capacity_;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_out - 1),
                   order.end(), [&](std::uint32_t a, std::uint32_t b) {
                     if (in_use[a] != in_use[b]) return static_cast<bool>(in_use[b]);
                     if (last_used_[a] != last_used_[b]) return last_used_[a] < last_used_[b];
                     return a < b;
                   });
  for (std::size_t k = 0; k < n_out; ++k) spare_.push_back(std::move(rows_[order[k]]));
  n_rows_ -= n_out;
}

std::vector<RowCache::Row> RowCache::new_rows(std::size_t n) {
  std::vector<Row> made;
  while (made.size() < n) {
    if (spare_.empty()) {
      made.push_back(std::make_unique_for_overwrite<double[]>(rows_.size()));
    } else {
      made.push_back(std::move(spare_.back()));
      spare_.pop_back();
    }
  }
  return made;
}

void RowCache::keep(std::span<const std::uint32_t> trees, std::vector<Row> computed) {
  for (std::size_t k = 0; k < trees.size(); ++k) {
    rows_[trees[k]] = std::move(computed[k]);
    touch(trees[k]);
  }
  n_rows_ += trees.size();
  n_computed_ += trees.size();
  peak_rows_ = std::max(peak_rows_, n_rows_);
}

namespace {

template <class Rows>
std::vector<double*> pointers_to(const Rows& rows) {
  std::vector<double*> pointers;
  for (const auto& row : rows) pointers.push_back(row.get());
  return pointers;
}

}  // namespace

void RowCache::fetch(std::span<const std::uint32_t> wanted, const std::vector<bool>& in_use,
                     int n_threads, const Watch& watch) {
  if (wanted.empty()) return;
  make_room(wanted.size(), in_use);
  std::vector<Row> computed = new_rows(wanted.size());
  source_.rows(wanted, pointers_to(computed), n_threads, watch);
  keep(wanted, std::move(computed));
}

void RowCache::complete(int n_threads, const Watch& watch) {
  std::vector<std::uint32_t> known, missing;
  for (std::uint32_t tree = 0; tree < rows_.size(); ++tree) {
    (rows_[tree] ? known : missing).push_back(tree);
  }
  if (missing.empty()) return;
  std::vector<Row> computed = new_rows(missing.size());
  source_.block(missing, pointers_to(computed), n_threads, watch);
  // What the others have is there already, the other way round.
  constexpr std::size_t kAtATime = 16;
  for (std::size_t first = 0; first < missing.size(); first += kAtATime) {
    const std::size_t last = std::min(first + kAtATime, missing.size());
    for (const std::uint32_t tree : known) {
      const double* const row = rows_[tree].get();
      for (std::size_t k = first; k < last; ++k) computed[k][tree] = row[missing[k]];
    }
  }
  keep(missing, std::move(computed));
}

}  // namespace filbert
