// The exact kernel SVM on rows of the kernel matrix that are computed when needed, for kernels and
// trees whose matrix has no sparse factors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/row_cache.hpp"
#include "learn/svm/row_descent.hpp"
#include "learn/svm/row_problem.hpp"
#include "learn/svm/row_state.hpp"

namespace filbert {

using RowProblems = std::vector<std::unique_ptr<RowProblem>>;

// Larger working sets need fewer iterations. Two sets of the maximum size fit into max_bytes.
std::size_t largest_working_set(std::size_t n_examples, std::uint64_t max_bytes);

// Solves problems that share the rows. It goes on from the state if this has values, and leaves
// there where it paused.
std::vector<SvmSolution> solve_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                       RowProblems problems, std::uint64_t max_bytes, int n_threads,
                                       const Watch& report, RowState& state);

// Solves problems over the same examples, which share the rows. tree_of[i] is example i's tree
// among the trees of the cache; equal trees are one. Each problem stops when the relative gap
// between its objectives, over all examples, is at most tol, or after max_sweeps. Working sets take
// at most max_bytes. The result does not depend on the number of threads; within the gap, it does
// depend on the contents of the cache. report(done, total) reports the progress. If the state has
// values, it is that of an earlier pause, and so is the cache.
template <Loss L>
std::vector<SvmSolution> train_svms_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                            const L& loss, std::span<const SvmProblem> problems,
                                            std::uint64_t max_bytes, int n_threads,
                                            const Watch& report, RowState& state) {
  const std::size_t largest_set = largest_working_set(tree_of.size(), max_bytes);
  RowProblems on_rows;
  for (const SvmProblem& problem : problems) {
    on_rows.push_back(std::make_unique<RowDescent<L>>(loss, problem, tree_of, cache.source().self(),
                                                      largest_set));
  }
  return solve_on_rows(cache, tree_of, std::move(on_rows), max_bytes, n_threads, report, state);
}

}  // namespace filbert
