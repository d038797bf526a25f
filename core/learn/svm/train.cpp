#include "learn/svm/train.hpp"

#include <algorithm>
#include <variant>

#include "learn/svm/active_set.hpp"
#include "learn/svm/dual_descent.hpp"

namespace filbert {

namespace {

// F is SingleFactors or SumFactors.
template <class F, Loss L>
std::vector<SvmSolution> train_each(const F& factors, const L& loss, const SvmProblems& problems,
                                    int n_threads, const Watch& report) {
  const std::size_t k = problems.size();
  std::vector<SvmSolution> solutions(k);
  std::vector<SolverProgress> done(k);
  const Watch watch = [&](std::size_t, std::size_t) {
    std::size_t sum = 0;
    for (const SolverProgress& d : done) sum += d.load();
    if (report) report(sum, 1000 * k);
  };
  parallel_for(k, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
    SvmProblem problem = problems[c];
    problem.n_threads = std::max(1, n_threads / static_cast<int>(k));
    solutions[c] = train_svm(factors, loss, problem, done[c], token);
  });
  return solutions;
}

template <class F>
std::vector<SvmSolution> train(const F& factors, const SvmProblems& problems, int n_threads,
                               const Watch& report) {
  problems.check(factors.n_trees());
  return std::visit(
      [&](const auto& loss) { return train_each(factors, loss, problems, n_threads, report); },
      problems.loss);
}

}  // namespace

std::vector<SvmSolution> train_on_factors(const TreeFactors& factors, const SvmProblems& problems,
                                          int n_threads, const Watch& report) {
  return train(SingleFactors(factors), problems, n_threads, report);
}

std::vector<SvmSolution> train_on_factors(const SumFactors& factors, const SvmProblems& problems,
                                          int n_threads, const Watch& report) {
  return train(factors, problems, n_threads, report);
}

std::vector<SvmSolution> train_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                       const SvmProblems& problems, std::uint64_t max_bytes,
                                       int n_threads, const Watch& report) {
  problems.check(tree_of.size());
  std::vector<SvmProblem> each;
  for (std::size_t c = 0; c < problems.size(); ++c) each.push_back(problems[c]);
  return std::visit(
      [&](const auto& loss) {
        return train_svms_on_rows(cache, tree_of, loss, each, max_bytes, n_threads, report);
      },
      problems.loss);
}

}  // namespace filbert
