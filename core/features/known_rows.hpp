// The trees that two factors have in common, by one number in both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "base/set_keys.hpp"
#include "factors/tree_factors.hpp"

namespace filbert {

struct KnownRows {
  const TreeFactors& factors;
  std::size_t n_known;
  std::size_t stride;  // from one part to the next

  std::size_t n_columns() const { return factors.mass.size(); }
  std::size_t row(std::size_t tree) const { return tree / n_known * stride + tree % n_known; }
  double scale(std::size_t tree) const { return factors.scale[row(tree)]; }
  double root(std::size_t column) const { return std::sqrt(std::max(0.0, factors.mass[column])); }

  // visit(column, value) for all entries of a tree, without its scale
  template <class Visit>
  void for_each(std::size_t tree, const Visit& visit) const {
    factors.for_each(row(tree), [&](std::uint32_t column, auto... value) {
      visit(column, (1.0 * ... * value));
    });
  }
  // The columns of a tree, if there are no values.
  std::span<const std::uint32_t> columns_of(std::size_t tree) const {
    return factors.columns_of(row(tree));
  }
};

// The columns of each key.
class ColumnTable {
 public:
  explicit ColumnTable(std::size_t n) : next_(n, kNone) { last_.reserve(n); }

  void insert(const SetKey& key, std::uint32_t column) {
    next_[column] = std::exchange(last_.at(key), column + 1) - 1;
  }
  // Calls visit(column) for the columns of a key, the one that was inserted last first.
  template <class Visit>
  void for_each(const SetKey& key, const Visit& visit) {
    const std::uint32_t* const last = last_.get(key);
    if (last == nullptr) return;
    for (std::uint32_t column = *last - 1; column != kNone; column = next_[column]) visit(column);
  }

 private:
  ScratchMap<SetKey, std::uint32_t> last_;  // column + 1; 0: none
  std::vector<std::uint32_t> next_;         // by column: the one that was inserted before it
};

// Calls work(tree, worker) on threads.
template <class Work>
void for_each_tree(std::size_t n_trees, int n_threads, const Watch& watch, const Work& work) {
  constexpr std::size_t kPart = 4096;
  parallel_for((n_trees + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int worker, const StopToken& token) {
                 const std::size_t last = std::min(n_trees, (part + 1) * kPart);
                 for (std::size_t tree = part * kPart; tree < last; ++tree) {
                   if (tree % 256 == 0) token.check();
                   work(tree, static_cast<std::size_t>(worker));
                 }
               });
}

}  // namespace filbert
