#include "rows/tile_rows.hpp"

#include <cmath>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

// Calls write(row, column, value) for each value.
template <class Write>
class WritingSink final : public Sink {
 public:
  explicit WritingSink(Write write) : write_(std::move(write)) {}

  void put(std::size_t row, std::size_t column, std::span<const double> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) write_(row + k, column, values[k]);
  }
  void put(std::size_t row, std::size_t column, std::span<const Wide> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) write_(row + k, column, values[k]);
  }

 private:
  Write write_;
};

}  // namespace

TileRows::TileRows(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                   std::vector<NodeId> roots, std::span<const std::uint32_t> numbers,
                   bool normalize, int n_threads, const Watch& watch)
    : spec_(spec), dag_(std::move(dag)), roots_(std::move(roots)), normalize_(normalize) {
  norms_ = norms_of(spec_, all(), n_threads, watch);
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Wide& norm = norms_.wide[i];
    self_.push_back(normalize_ ? (norm.is_zero() ? 0.0 : 1.0) : (norm * norm).to_double());
    if (std::isfinite(self_.back())) continue;
    throw KernelOverflow("the kernel value of tree " + std::to_string(numbers[i]) +
                         " with itself is beyond the range of float64");
  }
  if (!has_long_chains(spec_, all(), n_threads, watch)) {
    sums_ = std::make_unique<RowSums>(spec_, all(), n_threads, watch);
  }
}

std::vector<NodeId> TileRows::roots_of(std::span<const std::uint32_t> wanted) const {
  std::vector<NodeId> roots;
  for (const std::uint32_t tree : wanted) roots.push_back(roots_[tree]);
  return roots;
}

void TileRows::rows(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                    int n_threads, const Watch& watch) {
  if (sums_) {
    const Entries entry(norms(), norms());
    WritingSink sink([&](std::size_t row, std::size_t column, const auto& value) {
      out[row][column] = entry(wanted[row], column, value);
    });
    sums_->run(wanted, n_threads, watch, sink);
    return;
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const NodeId root = roots_[wanted[k]];
    kernel_matrix(spec_, {*dag_, {&root, 1}}, all(), normalize_, n_threads, watch, out[k]);
    out[k][wanted[k]] = self_[wanted[k]];
  }
}

void TileRows::block_by_rows(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                             int n_threads, const Watch& watch) {
  std::vector<double> row(n_trees());
  double* const to = row.data();
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    rows(wanted.subspan(k, 1), {&to, 1}, n_threads, watch);
    for (std::size_t l = k; l < wanted.size(); ++l) out[k][l - k] = row[wanted[l]];
  }
}

void TileRows::block(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                     int n_threads, const Watch& watch) {
  if (!sums_) return block_by_rows(wanted, out, n_threads, watch);
  const std::vector<NodeId> roots = roots_of(wanted);
  const Entries entry(norms(), norms());
  WritingSink sink([&](std::size_t row, std::size_t column, const auto& value) {
    if (row > column) return;
    out[row][column - row] = entry(wanted[row], wanted[column], value);
  });
  sum_within(spec_, {*dag_, roots}, n_threads, watch, sink);
}

void TileRows::between(Trees queries, int n_threads, const Watch& watch, double* out) {
  if (!sums_ || has_long_chains(spec_, queries, n_threads, watch)) {
    return kernel_matrix(spec_, queries, all(), normalize_, n_threads, watch, out);
  }
  std::optional<Norms> own;
  if (normalize_) own = norms_of(spec_, queries, n_threads, watch);
  const Entries entry(own ? &*own : nullptr, norms());
  WritingSink sink([&](std::size_t row, std::size_t column, const auto& value) {
    out[row * roots_.size() + column] = entry(row, column, value);
  });
  sums_->run(queries, n_threads, watch, sink);
}

}  // namespace filbert
