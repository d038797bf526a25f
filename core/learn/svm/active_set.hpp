// The exact kernel SVM on rows of the kernel matrix that are computed when they are needed, for
// kernels and trees whose matrix has no sparse factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/row_cache.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

// Solves problems over the same examples, which share the rows: tree_of[i] is example i's tree
// among those of the cache, and equal trees are one. starts: none, or dual variables to begin with,
// by problem. Each problem stops when the relative gap between its objectives, over all examples,
// is at most tol, or after max_sweeps. Working sets take at most max_bytes. The result does not
// depend on the number of threads; it does depend on what the cache holds, within the gap.
// report(done, total) tells the progress.
std::vector<SvmSolution> train_svms_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                            std::span<const SvmProblem> problems,
                                            std::span<const std::span<const double>> starts,
                                            std::uint64_t max_bytes, int n_threads,
                                            const Watch& report);

}  // namespace filbert
