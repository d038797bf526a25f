// One problem, solved on the rows that are there.
//
// Decomposition, Joachims 1999: the problem is solved over a working set of examples while the
// others stay, and so on with another set. Decision values of all trees are kept: a change of
// alpha_i adds a multiple of row i to them, so the true gap costs one pass over the examples.
//
// Computing a row costs some hundred times as much as using it. So the examples whose rows are
// there are brought near their optimum before new rows are asked for, which are those of the
// examples with the largest shares in the gap. From the first few rows on: what they have learned
// tells which others are needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/packed_rows.hpp"
#include "learn/svm/svm_problem.hpp"
#include "learn/svm/working_set.hpp"

namespace filbert {

class RowDescent {
 public:
  // self: K(t, t) by tree. start: none, or dual variables.
  RowDescent(const SvmProblem& problem, std::span<const std::uint32_t> tree_of,
             std::span<const double> self, std::span<const double> start, std::size_t largest_set);

  bool done() const { return done_; }
  // It cannot go on without other rows.
  bool waits() const { return !wanted_.empty(); }
  bool has_weight(std::size_t i) const { return alpha_[i] != 0.0; }
  std::uint32_t progress() const { return done_ ? 1000 : progress_.load(); }

  // Adds what the trees' examples have by their start to the decision values.
  void add_start(const PackedRows& rows, const std::vector<bool>& trees, const StopToken& token);

  // Goes on with the rows that are there, for some time. When they have given what they can,
  // `wanted` tells which others are needed.
  void run(const PackedRows& rows, std::size_t most_wanted, const StopToken& token);

  // The trees whose rows are wanted, the most wanted first.
  const std::vector<std::uint32_t>& wanted() const { return wanted_; }
  // The trees whose rows were used in the last run.
  const std::vector<std::uint32_t>& used() const { return used_; }
  // Marks trees without rows whose examples have more of the gap than all may keep on average.
  void mark_missing(std::vector<bool>& missing) const;

  SvmSolution solution();

 private:
  struct Candidate {
    std::uint32_t example;
    double share;  // in the gap
  };

  void rank_examples();

  double margin(std::size_t i) const { return p_.y[i] * (values_[tree_of_[i]] + bias_); }
  void look(const PackedRows& rows);
  bool is_done() const;
  bool needs_rows() const;
  double enough() const;
  void list_wanted(std::size_t most);
  void tell_progress();

  void visit_open(const PackedRows& rows, const StopToken& token);
  void choose(std::span<const Candidate> part, const PackedRows& rows);
  void fill_Q(const PackedRows& rows, const StopToken& token);
  std::uint32_t solve(std::span<const Candidate> part, double share_left, std::uint32_t most_sweeps,
                      const PackedRows& rows, const StopToken& token);
  void add_weights(const PackedRows& rows, std::span<const PackedRows::Weighted> weights,
                   const StopToken& token);

  const SvmProblem& p_;
  std::span<const std::uint32_t> tree_of_;
  std::span<const double> self_;
  std::size_t largest_set_;
  Rng rng_;
  std::vector<double> alpha_;
  std::vector<double> values_;  // by tree: its decision value without the intercept
  double bias_ = 0.0;
  std::vector<std::uint32_t> rank_;  // by example
  SvmSolution solution_;
  bool done_ = false;
  double first_gap_ = 0.0;
  std::atomic<std::uint32_t> progress_{0};

  // Examples that would move, with their rows there and without.
  std::vector<Candidate> open_, missing_;
  double open_share_ = 0.0, missing_share_ = 0.0;
  std::vector<std::uint32_t> wanted_, used_;
  WorkingSet set_;  // empty between runs
};

}  // namespace filbert
