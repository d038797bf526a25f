// Converts sums of Delta to entries of a kernel matrix, normalised or not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// The square roots of the self-kernels, and their inverses if doubles hold all of them.
struct Norms {
  std::vector<Wide> wide;
  std::vector<double> inverse;
  bool all_narrow = true;
};

Norms norms_of(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch);

// K(t, t) of each tree or sequence, infinite if it is beyond double. If normalised, it is 1 for
// each tree or sequence with a fragment.
std::vector<double> diagonal(std::span<const Wide> selves, bool normalize);

class Entries {
 public:
  // Null: not normalised.
  Entries(const Norms* a, const Norms* b)
      : a_(a), b_(b), all_narrow_(a != nullptr && a->all_narrow && b->all_narrow) {}

  double operator()(std::size_t i, std::size_t j, double value) const {
    if (a_ == nullptr || value == 0.0) return value;
    // Rounding could bring the value above 1, which Cauchy-Schwarz excludes.
    if (all_narrow_) return std::min(1.0, value * a_->inverse[i] * b_->inverse[j]);
    return wide(i, j, value);
  }

  // Throws KernelOverflow if a value that is not normalised is beyond double.
  double operator()(std::size_t i, std::size_t j, const Wide& value) const;

 private:
  double wide(std::size_t i, std::size_t j, double value) const;

  const Norms* a_;
  const Norms* b_;
  bool all_narrow_;
};

}  // namespace filbert
