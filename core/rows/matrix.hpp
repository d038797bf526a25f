// Exact kernel matrices between the trees of two forests, in blocks of bounded memory, on threads.
// Values do not depend on the number of threads.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Whether there are trees whose pairs need the algorithm of long_chains.hpp.
bool has_long_chains(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch);

// K(t, t) for each tree, not normalised, in a number type that does not overflow.
std::vector<Wide> self_kernels(const KernelSpec& spec, Trees trees, int n_threads,
                               const Watch& watch);

// out[i * b.size() + j] = K(a_i, b_j), or K(a_i, b_j) / sqrt(K(a_i, a_i) K(b_j, b_j)), which is 0
// if a self-kernel is 0. Throws KernelOverflow if a value that is not normalised is beyond double,
// and TooExpensive if one pair of nodes alone would take more than the kernel's StepLimit.
void kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                   const Watch& watch, double* out);

// The same between the trees of one forest, with half the work.
void kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                   const Watch& watch, double* out);

}  // namespace filbert
