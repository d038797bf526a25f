// Some rows of a symmetric matrix, every entry once: all n rows take n^2 / 2 numbers.
//
// Trees have places. Trees with rows come first, in the places below size(). The row in place p has
// the entries of the places from p on; earlier entries are in the rows before it. So places change
// when rows are added or removed, as in LIBSVM's cache (Chang & Lin 2011, section 4.2).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

class PackedRows {
 public:
  using Row = std::unique_ptr<double[]>;
  struct Weighted {
    std::uint32_t place;
    double weight;
  };

  explicit PackedRows(std::size_t n);
  explicit PackedRows(std::vector<std::uint32_t> order);  // the trees by place

  std::size_t n() const { return place_of_.size(); }
  std::size_t size() const { return rows_.size(); }
  std::uint32_t place_of(std::uint32_t tree) const { return place_of_[tree]; }
  std::span<const std::uint32_t> trees() const { return tree_at_; }  // by place
  bool has(std::uint32_t tree) const { return place_of_[tree] < size(); }

  // Entry (p, q) of the places, with p <= q and p < size().
  double entry(std::size_t p, std::size_t q) const { return rows_[p][q - p]; }
  double of_trees(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t p = place_of_[a];
    const std::uint32_t q = place_of_[b];
    return p < q ? entry(p, q) : entry(q, p);
  }

  // sums[q] += the sum of weight times entry (place, q) for every place q. Rows by ascending place.
  void add_to(std::span<double> sums, std::span<const Weighted> rows, const StopToken& token) const;

  // Appends the rows of trees without rows: values[k][j] is entry (trees[k], j) by tree.
  void append(std::span<const std::uint32_t> trees, std::span<const double* const> values);

  // Appends all missing rows, in the order of their places and packed as here.
  void append_rest(std::vector<Row> rows);

  void remove(std::uint32_t tree);

 private:
  // Swaps the entries of two places in every row before them.
  void swap_columns(std::size_t p, std::size_t q);
  void swap_places(std::size_t p, std::size_t q);

  std::vector<Row> rows_;  // by place
  std::vector<std::uint32_t> place_of_;
  std::vector<std::uint32_t> tree_at_;
};

}  // namespace filbert
