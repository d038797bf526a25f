// From sums of Delta to entries of a kernel matrix, normalised or not.
#pragma once

#include <cstddef>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/spec.hpp"
#include "kernels/tile_pass.hpp"

namespace filbert {

// The square roots of the self-kernels, and whether doubles hold them all.
struct Norms {
  std::vector<Wide> wide;
  std::vector<double> narrow;
  bool all_narrow = true;
};

Norms norms_of(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch);

class Entries {
 public:
  // Null: not normalised.
  Entries(const Norms* a, const Norms* b) : a_(a), b_(b) {}

  double operator()(std::size_t i, std::size_t j, double value) const;

  // Throws KernelOverflow where a value that is not normalised is beyond double.
  double operator()(std::size_t i, std::size_t j, const Wide& value) const;

 private:
  const Norms* a_;
  const Norms* b_;
};

}  // namespace filbert
