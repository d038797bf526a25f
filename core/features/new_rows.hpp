// The features of new examples, in the columns of the features of known ones. A new example may
// have only some of the fragments of a class, so with m(t, v) the mass of the fragments of class t
// that a node v has,
//
//   B(y, t) = scale_y sum_v m(t, v) / sqrt(mass_t)   =>   B A^T = K(y, .)
//
// Its products with other new examples are not their kernels: they lack what no known example has.
#pragma once

#include "features/feature_rows.hpp"

namespace filbert {

struct NewRows {
  KernelFeatures rows;
  // If light fragments were dropped. For a new example y and a known one i, B A^T differs from K by
  // at most sqrt(new_errors[y] known_errors[i]).
  std::vector<double> new_errors, known_errors;
};

// `joint` are the factors of the known examples, then of the new ones, with the same terms as
// `known`. Throws what feature_rows and match_columns throw, and std::invalid_argument if the terms
// differ.
NewRows new_rows(const SumFactors& known, const SumFactors& joint, const FeatureOptions& options,
                 int n_threads, const Watch& watch);

}  // namespace filbert
