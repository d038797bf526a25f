#include "learn/svm/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace filbert {

namespace {

constexpr std::size_t kLargestSet = 3072;

// Some problems, and the rows that they share.
class ActiveSets {
 public:
  ActiveSets(RowCache& cache, std::span<const std::uint32_t> tree_of, RowProblems problems,
             std::size_t max_sets, int n_threads, const Watch& report, RowState& state)
      : cache_(cache),
        tree_of_(tree_of),
        problems_(std::move(problems)),
        max_sets_(max_sets),
        n_threads_(n_threads),
        report_(report),
        state_(state) {}

  std::vector<SvmSolution> run() {
    if (state_.values.empty()) {
      add_starts();
    } else {
      go_on();
    }
    while (!all_of([](const RowProblem& problem) { return problem.done(); })) {
      step();
      if (state_.pauses) break;
    }
    state_.values.clear();
    for (const auto& problem : problems_) state_.values.push_back(problem->values());
    std::vector<SvmSolution> solutions;
    for (auto& problem : problems_) solutions.push_back(problem->solution());
    return solutions;
  }

 private:
  // Gets rows if the problems cannot go on without, and otherwise uses those that are there.
  void step() {
    const bool all_wait =
        all_of([](const RowProblem& problem) { return problem.done() || problem.waits(); });
    if (all_wait && !state_.has_new_rows) {
      get_rows();
      state_.has_new_rows = true;
    } else {
      descend();
      state_.has_new_rows = false;
    }
  }

  void go_on() {
    for (std::size_t c = 0; c < problems_.size(); ++c) {
      problems_[c]->go_on(state_.values[c], cache_.rows(), batch());
    }
  }

  // The number of rows requested at a time. With fewer rows, the choice is better; with more rows,
  // there are fewer descents. At most half of the cache is replaced.
  std::size_t batch() const {
    const std::size_t wished = std::max<std::size_t>(128, cache_.size() / 8);
    return std::min({wished, cache_.batch(), std::max<std::size_t>(1, cache_.capacity() / 2)});
  }

  template <class Predicate>
  bool all_of(const Predicate& holds) const {
    return std::all_of(problems_.begin(), problems_.end(),
                       [&](const auto& problem) { return holds(*problem); });
  }

  Watch watch() const {
    return [this](std::size_t, std::size_t) {
      std::size_t sum = 0;
      for (const auto& problem : problems_) sum += problem->progress();
      if (report_) report_(sum, 1000 * problems_.size());
    };
  }

  std::vector<bool> trees_in_use() const {
    std::vector<bool> in_use(cache_.n_trees(), false);
    for (const auto& problem : problems_) {
      const std::span<const double> alpha = problem->alpha();
      for (std::size_t i = 0; i < alpha.size(); ++i) {
        if (alpha[i] != 0.0) in_use[tree_of_[i]] = true;
      }
    }
    return in_use;
  }

  // Calls work(problem, token) for every problem, on as many threads as the memory allows.
  template <class Work>
  void for_each_problem(const Work& work) {
    const auto n_sets = static_cast<int>(std::clamp<std::size_t>(max_sets_, 1, 1024));
    parallel_for(problems_.size(), std::min(n_threads_, n_sets), watch(),
                 [&](std::size_t c, int, const StopToken& token) { work(*problems_[c], token); });
    if (n_threads_ == kInline) watch()(0, 0);
  }

  // Adds the decision values of the dual variables that problems start with.
  void add_starts() {
    const std::vector<bool> in_use = trees_in_use();
    std::vector<std::uint32_t> trees;
    for (std::uint32_t tree = 0; tree < in_use.size(); ++tree) {
      if (in_use[tree]) trees.push_back(tree);
    }
    if (is_worth_all(trees.size())) cache_.complete(n_threads_, watch());
    for (std::size_t first = 0, last = 0; first < trees.size(); first = last) {
      last = std::min(first + batch(), trees.size());
      std::vector<bool> now(in_use.size(), false);
      std::vector<std::uint32_t> fetched;
      for (std::size_t k = first; k < last; ++k) {
        now[trees[k]] = true;
        if (!cache_.rows().has(trees[k])) fetched.push_back(trees[k]);
      }
      cache_.fetch(fetched, now, n_threads_, watch());
      for_each_problem([&](RowProblem& problem, const StopToken& token) {
        problem.add_start(cache_.rows(), now, token);
      });
    }
  }

  void descend() {
    for_each_problem([&](RowProblem& problem, const StopToken& token) {
      if (!problem.done()) problem.run(cache_.rows(), batch(), token);
    });
    for (const auto& problem : problems_) {
      for (const std::uint32_t tree : problem->take_used()) cache_.touch(tree);
    }
  }

  // Problems take turns, each with the row that it needs most.
  void get_rows() {
    std::vector<bool> chosen(cache_.n_trees(), false);
    std::vector<std::uint32_t> wanted;
    const std::size_t n = batch();
    for (std::size_t place = 0; place < n && wanted.size() < n; ++place) {
      for (std::size_t turn = 0; turn < problems_.size() && wanted.size() < n; ++turn) {
        const auto& own = problems_[(turn + state_.n_batches) % problems_.size()]->wanted();
        if (place >= own.size() || chosen[own[place]]) continue;
        chosen[own[place]] = true;
        wanted.push_back(own[place]);
      }
    }
    ++state_.n_batches;
    if (is_worth_all(cache_.size() + wanted.size()) || are_many_missing()) {
      cache_.complete(n_threads_, watch());
    } else {
      cache_.fetch(wanted, trees_in_use(), n_threads_, watch());
    }
  }

  // Computing all rows together takes half the time of computing them one by one.
  bool is_worth_all(std::size_t n_rows) const {
    constexpr std::size_t kFew = 256;
    const std::size_t n = cache_.n_trees();
    if (cache_.capacity() < n || n_rows == 0) return false;
    return n <= kFew || static_cast<double>(n_rows) >= 0.45 * static_cast<double>(n);
  }

  // The same for a matrix with some rows present: computing the n - m missing rows takes as long as
  // (n - m)^2 / 2n rows one by one. At first all examples would move, which gives no information.
  bool are_many_missing() const {
    const auto n = static_cast<double>(cache_.n_trees());
    const auto m = static_cast<double>(cache_.size());
    if (cache_.capacity() < cache_.n_trees() || m < 0.15 * n) return false;
    std::vector<bool> missing(cache_.n_trees(), false);
    for (const auto& problem : problems_) {
      if (!problem->done()) problem->mark_missing(missing);
    }
    const auto n_missing = static_cast<double>(std::count(missing.begin(), missing.end(), true));
    return n_missing >= (n - m) * (n - m) / (2.0 * n);
  }

  RowCache& cache_;
  std::span<const std::uint32_t> tree_of_;
  RowProblems problems_;
  std::size_t max_sets_;  // at a time
  int n_threads_;
  const Watch& report_;
  RowState& state_;
};

}  // namespace

std::size_t largest_working_set(std::size_t n_examples, std::uint64_t max_bytes) {
  const double fit = std::sqrt(static_cast<double>(max_bytes / 2 / sizeof(double)));
  return std::min(
      {kLargestSet, n_examples, std::max<std::size_t>(2, static_cast<std::size_t>(fit))});
}

std::vector<SvmSolution> solve_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                       RowProblems problems, std::uint64_t max_bytes, int n_threads,
                                       const Watch& report, RowState& state) {
  const std::size_t n = largest_working_set(tree_of.size(), max_bytes);
  const std::size_t max_sets = max_bytes / sizeof(double) / std::max<std::size_t>(1, n * n);
  return ActiveSets(cache, tree_of, std::move(problems), max_sets, n_threads, report, state).run();
}

}  // namespace filbert
