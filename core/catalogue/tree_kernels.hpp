// The tree kernels, by name.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/partial_tree.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The parameters of all kernels; each kernel takes the ones that it has.
struct KernelParameters {
  double decay = 0.4;        // lambda
  double depth_decay = 0.4;  // mu
  bool include_leaves = false;
  Penalty penalty = Penalty::span;
  std::uint32_t max_subsequence = 0;
  double max_steps = 1e9;
};

// Throws std::invalid_argument if no kernel has this name.
KernelSpec make_kernel(std::string_view name, const KernelParameters& parameters);
Penalty penalty_by_name(std::string_view name);

}  // namespace filbert
