#include "learn/svm/row_cache.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/errors.hpp"
#include "base/show_bytes.hpp"

namespace filbert {

namespace {

constexpr std::size_t kFewest = 8;  // rows that a descent needs to make progress
constexpr std::size_t kLargestBatch = 256;

// The memory of the first rows, packed.
std::uint64_t bytes_of(std::size_t n_rows, std::size_t n) {
  return sizeof(double) * (n_rows * n - n_rows * (n_rows - (n_rows > 0)) / 2);
}

// Rows are computed in full before they are packed: an eighth of the memory is reserved for that.
std::size_t rows_at_a_time(std::size_t n, std::uint64_t max_bytes) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, n * sizeof(double));
  return std::clamp<std::size_t>(max_bytes / 8 / row_bytes, 1, kLargestBatch);
}

std::size_t rows_that_fit(std::size_t n, std::size_t batch, std::uint64_t max_bytes) {
  const std::uint64_t scratch = batch * n * sizeof(double);
  std::size_t fit = 0, too_many = n + 1;
  while (fit + 1 < too_many) {
    const std::size_t n_rows = (fit + too_many) / 2;
    (bytes_of(n_rows, n) + scratch <= max_bytes ? fit : too_many) = n_rows;
  }
  const std::size_t fewest = std::min(n, kFewest);
  if (fit >= fewest) return fit;
  const std::uint64_t needed = bytes_of(fewest, n) + scratch;
  throw OutOfMemory("rows of the kernel matrix of " + std::to_string(n) + " distinct trees take " +
                        show_bytes(static_cast<double>(n * sizeof(double))) +
                        " each, and some of them are needed at a time, " +
                        show_bytes(static_cast<double>(needed)) + ", but at most " +
                        show_bytes(static_cast<double>(max_bytes)) + " are allowed",
                    needed);
}

}  // namespace

RowCache::RowCache(RowSource& source, std::uint64_t max_bytes)
    : source_(source),
      batch_(rows_at_a_time(source.n_trees(), max_bytes)),
      capacity_(rows_that_fit(source.n_trees(), batch_, max_bytes)),
      rows_(source.n_trees()),
      last_used_(source.n_trees(), 0) {}

void RowCache::make_room(std::size_t n_more, const std::vector<bool>& in_use) {
  if (size() + n_more <= capacity_) return;
  const std::span<const std::uint32_t> there = rows_.trees().first(size());
  std::vector<std::uint32_t> order(there.begin(), there.end());
  const auto n_out = static_cast<std::ptrdiff_t>(size() + n_more - capacity_);
  std::nth_element(order.begin(), order.begin() + (n_out - 1), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     if (in_use[a] != in_use[b]) return static_cast<bool>(in_use[b]);
                     if (last_used_[a] != last_used_[b]) return last_used_[a] < last_used_[b];
                     return a < b;
                   });
  order.resize(static_cast<std::size_t>(n_out));
  std::sort(order.begin(), order.end());
  for (const std::uint32_t tree : order) rows_.remove(tree);
  n_removed_ += order.size();
}

void RowCache::count(std::span<const std::uint32_t> computed, std::uint64_t scratch_bytes) {
  for (const std::uint32_t tree : computed) touch(tree);
  n_computed_ += computed.size();
  peak_bytes_ = std::max(peak_bytes_, bytes_of(size(), n_trees()) + scratch_bytes);
}

namespace {

std::vector<double*> pointers_to(const std::vector<PackedRows::Row>& rows) {
  std::vector<double*> pointers;
  for (const auto& row : rows) pointers.push_back(row.get());
  return pointers;
}

}  // namespace

void RowCache::fetch(std::span<const std::uint32_t> wanted, const std::vector<bool>& in_use,
                     int n_threads, const Watch& watch) {
  if (wanted.empty()) return;
  make_room(wanted.size(), in_use);
  std::vector<PackedRows::Row> computed;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    computed.push_back(std::make_unique_for_overwrite<double[]>(n_trees()));
  }
  source_.rows(wanted, pointers_to(computed), n_threads, watch);
  const std::vector<double*> values = pointers_to(computed);
  rows_.append(wanted, std::vector<const double*>(values.begin(), values.end()));
  count(wanted, wanted.size() * n_trees() * sizeof(double));
}

void RowCache::complete(int n_threads, const Watch& watch) {
  const std::span<const std::uint32_t> missing = rows_.trees().subspan(size());
  if (missing.empty()) return;
  std::vector<PackedRows::Row> computed;
  for (std::size_t k = 0; k < missing.size(); ++k) {
    computed.push_back(std::make_unique_for_overwrite<double[]>(missing.size() - k));
  }
  source_.block(missing, pointers_to(computed), n_threads, watch);
  rows_.append_rest(std::move(computed));
  count(missing, 0);
}

void RowCache::restore(std::span<const std::uint32_t> order,
                       std::span<const std::uint64_t> last_used) {
  std::vector<bool> found(n_trees(), false);
  for (const std::uint32_t tree : order) {
    if (tree >= n_trees() || found[tree]) throw std::invalid_argument("not an order of the trees");
    found[tree] = true;
  }
  if (order.size() != n_trees() || last_used.size() != n_trees()) {
    throw std::invalid_argument("the order of other trees");
  }
  rows_ = PackedRows(std::vector<std::uint32_t>(order.begin(), order.end()));
  last_used_.assign(last_used.begin(), last_used.end());
  clock_ = last_used_.empty() ? 0 : *std::max_element(last_used_.begin(), last_used_.end());
}

void RowCache::append(std::span<const std::uint32_t> trees, std::span<const double* const> values) {
  const auto next = rows_.trees().subspan(size());
  if (trees.size() > next.size() || size() + trees.size() > capacity_ ||
      !std::equal(trees.begin(), trees.end(), next.begin())) {
    throw std::invalid_argument("these rows are not the next ones");
  }
  rows_.append(trees, values);
  peak_bytes_ = std::max(peak_bytes_, bytes_of(size(), n_trees()));
}

}  // namespace filbert
