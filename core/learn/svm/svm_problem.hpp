// The problem that a support vector machine solves (see learn/losses/loss.hpp), and its solution.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "learn/losses/losses.hpp"

namespace filbert {

// Where a solver on factors was after a pass over all examples. From here and from the dual
// variables of that time, it goes on as if it had not paused.
struct SvmPlace {
  std::uint64_t rng = 0;  // the state of the random numbers
  std::uint32_t n_sweeps = 0;
  std::uint32_t n_sweeps_before = 0;  // at the last pass but one
  double gap_before = 0.0;            // then
  bool is_slow = false;               // whether sweeps take long, so that examples move together
};

struct SvmProblem {
  std::span<const std::int8_t> y;   // by example: +1 or -1; +1 for regression
  std::span<const double> C;        // by example; 0 leaves it out
  std::span<const double> targets;  // by example, for regression; empty for classification
  std::span<const double> start;    // initial dual variables, by example; empty: zeros
  bool intercept = true;            // a constant feature of value 1, regularised like the others
  double tol = 1e-3;                // relative duality gap
  std::uint64_t seed = 0;
  std::uint32_t max_sweeps = 1000;  // sweeps over the examples that are not at rest
  int n_threads = kInline;          // for passes over all examples; results do not depend on it
  const SvmPlace* place = nullptr;  // where to go on; `start` is then of that time
  std::uint32_t pause = kNoPause;   // pause after this many sweeps, if the solver can

  static constexpr std::uint32_t kNoPause = std::numeric_limits<std::uint32_t>::max();
};

// Problems over the same examples, such as each class against the rest.
struct SvmProblems {
  std::size_t n_examples = 0;
  std::span<const std::int8_t> y;        // by problem and example
  std::span<const double> C;             // by example
  std::span<const double> targets;       // by problem and example, for regression; or empty
  std::span<const double> start;         // by problem and example, or empty
  std::span<const std::uint64_t> seeds;  // by problem
  AnyLoss loss = Hinge{};
  bool intercept = true;
  double tol = 1e-3;
  std::uint32_t max_sweeps = 1000;
  std::span<const SvmPlace> places;  // by problem, or empty
  std::uint32_t pause = SvmProblem::kNoPause;

  std::size_t size() const { return seeds.size(); }

  SvmProblem operator[](std::size_t c) const {
    SvmProblem problem;
    problem.y = y.subspan(c * n_examples, n_examples);
    problem.C = C;
    if (!targets.empty()) problem.targets = targets.subspan(c * n_examples, n_examples);
    if (!start.empty()) problem.start = start.subspan(c * n_examples, n_examples);
    problem.intercept = intercept;
    problem.tol = tol;
    problem.seed = seeds[c];
    problem.max_sweeps = max_sweeps;
    if (!places.empty()) problem.place = &places[c];
    problem.pause = pause;
    return problem;
  }

  // Throws std::invalid_argument if the problems do not have this many examples.
  void check(std::size_t n_trees) const {
    if (n_examples != n_trees || y.size() != size() * n_trees || C.size() != n_trees ||
        (!targets.empty() && targets.size() != y.size()) ||
        (!start.empty() && start.size() != y.size()) ||
        (!places.empty() && (places.size() != size() || start.empty()))) {
      throw std::invalid_argument("y, C, targets, start, places and seeds do not fit the trees");
    }
  }
};

// The result of a pass over all examples during training.
struct SvmLook {
  std::uint32_t n_sweeps = 0;  // before it
  double primal = 0.0;
  double gap = 0.0;
};

struct SvmSolution {
  std::vector<double> alpha;
  double intercept = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;  // (primal - dual) / primal
  std::uint32_t n_sweeps = 0;
  std::vector<SvmLook> looks;  // the last one for each number of sweeps
  bool is_paused = false;      // before it reached tol or max_sweeps
  SvmPlace place;              // of a solver on factors

  void tell(double new_primal, double new_dual) {
    primal = new_primal;
    dual = new_dual;
    gap = primal > 0.0 ? std::max(0.0, (primal - dual) / primal) : 0.0;
    if (!looks.empty() && looks.back().n_sweeps == n_sweeps) looks.pop_back();
    looks.push_back({n_sweeps, primal, gap});
  }
};

// The progress of a solver, read by other threads: the share of the way from the first gap to the
// last.
using SolverProgress = std::atomic<std::uint32_t>;  // in thousandths

inline std::uint32_t thousandths_done(double first_gap, double gap, double tol) {
  const double way = std::log(first_gap / tol);
  const double gone = std::log(first_gap / std::max(gap, tol));
  return static_cast<std::uint32_t>(way > 0.0 ? std::max(0.0, 1000.0 * gone / way) : 1000.0);
}

}  // namespace filbert
