#include "learn/svm/packed_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace filbert {

PackedRows::PackedRows(std::size_t n) : place_of_(n), tree_at_(n) {
  std::iota(place_of_.begin(), place_of_.end(), 0u);
  std::iota(tree_at_.begin(), tree_at_.end(), 0u);
}

PackedRows::PackedRows(std::vector<std::uint32_t> order)
    : place_of_(order.size()), tree_at_(std::move(order)) {
  for (std::uint32_t p = 0; p < tree_at_.size(); ++p) place_of_[tree_at_[p]] = p;
}

// ------------------------------------------------------------------------------ sums

namespace {

constexpr std::size_t kRowsPerLook = 64;  // between checks of the token

// The sum of weight times entry over the rows' places, in a row whose first place is `first`.
double dot(const double* row, std::size_t first, std::span<const PackedRows::Weighted> rows) {
  double sums[4] = {0.0, 0.0, 0.0, 0.0};  // so that an addition need not wait for the previous one
  std::size_t k = 0;
  for (; k + 4 <= rows.size(); k += 4) {
    for (std::size_t s = 0; s < 4; ++s) {
      sums[s] += rows[k + s].weight * row[rows[k + s].place - first];
    }
  }
  for (; k < rows.size(); ++k) sums[0] += rows[k].weight * row[rows[k].place - first];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void PackedRows::add_to(std::span<double> sums, std::span<const Weighted> rows,
                        const StopToken& token) const {
  const auto add = [&](const Weighted& row, std::size_t begin, std::size_t end) {
    const double* const values = rows_[row.place].get();
    for (std::size_t q = begin; q < end; ++q) sums[q] += row.weight * values[q - row.place];
  };
  // Entries from the rows' own places on, four rows at a time, so that sums are read and written
  // less often.
  std::size_t k = 0;
  for (; k + 4 <= rows.size(); k += 4) {
    if (k % kRowsPerLook == 0) token.check();
    const std::size_t begin = rows[k + 3].place;
    const double* from[4];
    for (std::size_t r = 0; r < 4; ++r) {
      if (r < 3) add(rows[k + r], rows[k + r].place, begin);
      from[r] = rows_[rows[k + r].place].get() + (begin - rows[k + r].place);
    }
    const double w[4] = {rows[k].weight, rows[k + 1].weight, rows[k + 2].weight,
                         rows[k + 3].weight};
    double* const to = sums.data() + begin;
    for (std::size_t q = 0; q < n() - begin; ++q) {
      to[q] += (w[0] * from[0][q] + w[1] * from[1][q]) + (w[2] * from[2][q] + w[3] * from[3][q]);
    }
  }
  for (; k < rows.size(); ++k) add(rows[k], rows[k].place, n());
  // Entries before the rows' own places are in the rows of those places.
  for (std::size_t p = 0; p < size(); ++p) {
    if (p % kRowsPerLook == 0) token.check();
    while (!rows.empty() && rows.front().place <= p) rows = rows.subspan(1);
    if (rows.empty()) break;
    sums[p] += dot(rows_[p].get(), p, rows);
  }
}

// ------------------------------------------------------------------------------ rows

void PackedRows::swap_columns(std::size_t p, std::size_t q) {
  const std::size_t end = std::min({p, q, size()});
  for (std::size_t j = 0; j < end; ++j) std::swap(rows_[j][p - j], rows_[j][q - j]);
}

void PackedRows::swap_places(std::size_t p, std::size_t q) {
  std::swap(tree_at_[p], tree_at_[q]);
  place_of_[tree_at_[p]] = static_cast<std::uint32_t>(p);
  place_of_[tree_at_[q]] = static_cast<std::uint32_t>(q);
}

void PackedRows::append(std::span<const std::uint32_t> trees,
                        std::span<const double* const> values) {
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const std::size_t place = size();
    const std::size_t before = place_of_[trees[k]];
    if (before != place) {
      swap_columns(before, place);
      swap_places(before, place);
    }
    Row row = std::make_unique_for_overwrite<double[]>(n() - place);
    for (std::size_t q = place; q < n(); ++q) row[q - place] = values[k][tree_at_[q]];
    rows_.push_back(std::move(row));
  }
}

void PackedRows::append_rest(std::vector<Row> rows) {
  std::move(rows.begin(), rows.end(), std::back_inserter(rows_));
}

// The last row takes the place of the removed row.
void PackedRows::remove(std::uint32_t tree) {
  const std::size_t place = place_of_[tree];
  const std::size_t last = size() - 1;
  if (place != last) {
    swap_columns(place, last);
    double* const gone = rows_[place].get();
    const double* const moved = rows_[last].get();
    for (std::size_t p = place + 1; p < last; ++p) {
      std::swap(gone[p - place], rows_[p][last - p]);
    }
    gone[0] = moved[0];  // their common entry stays in its position
    std::copy(moved + 1, moved + (n() - last), gone + (last + 1 - place));
    swap_places(place, last);
  }
  rows_.pop_back();
}

}  // namespace filbert
