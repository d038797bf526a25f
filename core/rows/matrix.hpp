// Kernel matrices between the trees of two forests, exactly, in blocks of bounded memory, on
// threads. Values do not depend on the number of threads.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Whether there are trees whose pairs have a way of their own (long_chains.hpp).
bool has_long_chains(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch);

// K(t, t) for each tree, not normalised, in a range that does not overflow.
std::vector<Wide> self_kernels(const KernelSpec& spec, Trees trees, int n_threads,
                               const Watch& watch);

// out[i * b.size() + j] = K(a_i, b_j), or K(a_i, b_j) / sqrt(K(a_i, a_i) K(b_j, b_j)) with 0 where
// a self-kernel is 0. Throws KernelOverflow where a value that is not normalised leaves double, and
// TooExpensive where one pair of nodes alone would take more than the kernel's StepLimit.
void kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                   const Watch& watch, double* out);

// The same between the trees of one forest: half the work.
void kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                   const Watch& watch, double* out);

}  // namespace filbert
