// Which columns of some factors the columns of other factors are, if these are of the same trees
// and of new ones.
//
// Factors of more trees have finer classes: two fragments that occur in the same nodes of all trees
// occur in the same nodes of the first ones. So a column of the joint factors, restricted to the
// known trees, is a multiple of one column of the known factors. If only one known tree has it, it
// is a part of what was that tree's alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "factors/tree_factors.hpp"

namespace filbert {

// Both factors are of one or more parts of n examples each, part by part: n_known in the one, and
// n_known and others after them in the other.
struct JointTrees {
  const TreeFactors& known;
  const TreeFactors& joint;
  std::size_t n_known;
  std::size_t n_joint;

  std::size_t n_parts() const { return known.n_trees() / n_known; }
};

struct ColumnMatch {
  enum class Kind : std::uint8_t { kNew, kShared, kPrivate, kLost };
  Kind kind = Kind::kNew;
  std::uint32_t at = 0;  // kShared: the known column. kPrivate: the only known tree that has it.
  // kShared: an entry of the joint column is this times the entry of the known one.
  // kPrivate: the entry of the known tree.
  double factor = 0.0;
};

struct ColumnMatches {
  std::vector<ColumnMatch> of;  // by joint column
  // By known tree: the squares of its entries in joint columns that no known column matches.
  std::vector<double> lost;
};

// Columns are looked up by a hash. All columns with the same hash are compared entry by entry, up
// to rounding. An entry is scale * sqrt(mass) * value. If several known columns are multiples of
// the joint one, the one with the closest entries is taken. Throws InvalidForest if a column has no
// match that should have one, that is, unless light fragments were dropped or the entries are
// rounding errors.
ColumnMatches match_columns(const JointTrees& trees, int n_threads, const Watch& watch);

// The same factors with columns that are multiples of each other taken together. Where values are
// not counts, the values of a class depend on all trees: it could match any of several multiples.
TreeFactors without_multiples(const TreeFactors& factors, int n_threads, const Watch& watch);

}  // namespace filbert
