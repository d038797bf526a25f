// Training of support vector machines: the only place where the loss, given as a value, becomes a
// type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "factors/sum_factors.hpp"
#include "learn/svm/certificate.hpp"
#include "learn/svm/pair_factors.hpp"
#include "learn/svm/row_cache.hpp"
#include "learn/svm/row_state.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

// All throw std::invalid_argument if the problems do not have the right number of examples.
// report(done, total) reports the progress. Results do not depend on the number of threads.

// On factors of a kernel matrix; each problem is a task.
std::vector<SvmSolution> train_on_factors(const SumFactors& factors, const SvmProblems& problems,
                                          int n_threads, const Watch& report);

// On differences of examples. Throws std::invalid_argument if the loss is one for regression.
std::vector<SvmSolution> train_on_pairs(const PairFactors<SumFactors>& factors,
                                        const SvmProblems& problems, int n_threads,
                                        const Watch& report);

// On rows of a kernel matrix, which the problems share (see active_set.hpp). If the problems have
// places, the state and the cache are those of the same time. Throws std::invalid_argument if the
// state has another size.
std::vector<SvmSolution> train_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                       const SvmProblems& problems, std::uint64_t max_bytes,
                                       int n_threads, const Watch& report, RowState& state);

// By problem: a bound on the relative duality gap under a kernel that differs by no more than
// `errors` from the kernel of the scores. alpha is by problem and example. The scores are by
// example and problem, with the intercept.
std::vector<double> certified_gaps(const SvmProblems& problems, std::span<const double> alpha,
                                   std::span<const double> scores, const KernelErrors& errors);

}  // namespace filbert
