#include "learn/svm/train.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "learn/svm/active_set.hpp"
#include "learn/svm/dual_descent.hpp"

namespace filbert {

namespace {

// F is SumFactors or PairFactors.
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

}  // namespace

std::vector<SvmSolution> train_on_factors(const SumFactors& factors, const SvmProblems& problems,
                                          int n_threads, const Watch& report) {
  problems.check(factors.n_trees());
  return std::visit(
      [&](const auto& loss) { return train_each(factors, loss, problems, n_threads, report); },
      problems.loss);
}

std::vector<SvmSolution> train_on_pairs(const PairFactors<SumFactors>& factors,
                                        const SvmProblems& problems, int n_threads,
                                        const Watch& report) {
  problems.check(factors.n_trees());
  return std::visit(
      [&]<Loss L>(const L& loss) -> std::vector<SvmSolution> {
        if constexpr (HasTarget<L>) {
          return train_each(factors, loss, problems, n_threads, report);
        } else {
          throw std::invalid_argument("pairs need a loss for classification");
        }
      },
      problems.loss);
}

std::vector<SvmSolution> train_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                       const SvmProblems& problems, std::uint64_t max_bytes,
                                       int n_threads, const Watch& report, RowState& state) {
  problems.check(tree_of.size());
  if (problems.places.empty()) {
    state = {};
  } else if (state.values.size() != problems.size() ||
             state.values.front().size() != cache.n_trees() + 1) {
    throw std::invalid_argument("training on rows did not pause at these places");
  }
  state.pauses = problems.pause != SvmProblem::kNoPause;
  std::vector<SvmProblem> each;
  for (std::size_t c = 0; c < problems.size(); ++c) each.push_back(problems[c]);
  return std::visit(
      [&](const auto& loss) {
        return train_svms_on_rows(cache, tree_of, loss, each, max_bytes, n_threads, report, state);
      },
      problems.loss);
}

std::vector<double> certified_gaps(const SvmProblems& problems, std::span<const double> alpha,
                                   std::span<const double> scores, const KernelErrors& errors) {
  const std::size_t n = problems.n_examples, k = problems.size();
  std::vector<double> gaps(k);
  for (std::size_t c = 0; c < k; ++c) {
    const SvmProblem problem = problems[c];
    const auto margin = [&](std::size_t i) { return problem.y[i] * scores[i * k + c]; };
    gaps[c] = std::visit(
        [&](const auto& loss) {
          return certified_gap(DualProblem(loss, problem), alpha.subspan(c * n, n), margin, errors);
        },
        problems.loss);
  }
  return gaps;
}

}  // namespace filbert
