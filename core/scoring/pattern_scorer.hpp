// Scores of new trees by a weighted sum of kernels of local patterns with some support vectors:
//
//   score(t) = sum_i coef_i K(t, t_i) = sum_p w_p x_p(t) / |t|
//
//   w_p = mass_p sum_i coef_i x_p(t_i) / |t_i|
//
// The weights of the patterns are computed once. The contribution of a pattern to a score is shared
// out evenly to its occurrences, and belongs to the node at the top of each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "patterns/pattern_table.hpp"
#include "rows/tile_pass.hpp"
#include "scoring/node_contributions.hpp"

namespace filbert {

class PatternScorer {
 public:
  // coef[c * support.size() + i]: the weight of tree i in column c.
  PatternScorer(const PatternSpec& spec, Trees support, std::span<const double> coef,
                std::size_t n_columns, bool normalize, int n_threads, const Watch& watch);

  std::size_t n_columns() const { return n_columns_; }
  const PatternTable& table() const { return table_; }
  // The weight vector of a column in the space of the features sqrt(mass_p) x_p.
  std::vector<double> weight_vector(std::size_t column) const;

  // By tree and column.
  std::vector<double> scores(Trees trees, int n_threads, const Watch& watch) const;
  NodeContributions contributions(Trees trees, int n_threads, const Watch& watch) const;

 private:
  double scale_of(double square) const;

  PatternTable table_;
  std::size_t n_columns_;
  bool normalize_;
  std::vector<double> weights_;  // by pattern and column
};

}  // namespace filbert
