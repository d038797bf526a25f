// One problem, solved on the available rows.
//
// Decomposition, Joachims 1999: the problem is solved over a working set of examples while the
// others stay fixed, then over another set, and so on. Decision values of all trees are kept, so
// the true gap costs one pass over the examples.
//
// Computing a row costs some hundred times as much as using it. So the examples with available rows
// are brought near their optimum before new rows are requested. The new rows belong to the examples
// with the largest shares in the gap. This starts with the first few rows, because what they have
// learned shows which other rows are needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/svm/decision_values.hpp"
#include "learn/svm/packed_rows.hpp"
#include "learn/svm/row_problem.hpp"
#include "learn/svm/set_descent.hpp"
#include "learn/svm/working_set.hpp"

namespace filbert {

template <Loss L>
class RowDescent final : public RowProblem {
 public:
  // tree_of: by example. self: K(t, t) by tree. Working sets have at most `largest_set` examples.
  RowDescent(const L& loss, const SvmProblem& problem, std::span<const std::uint32_t> tree_of,
             std::span<const double> self, std::size_t largest_set)
      : p_(loss, problem),
        tree_of_(tree_of),
        self_(self),
        largest_set_(largest_set),
        rng_(problem.seed),
        alpha_(p_.first_alpha()),
        values_(self.size(), problem.intercept),
        rank_(tree_of.size()),
        set_{p_, {}, {}, {}, {}, {}} {
    rank_examples();
  }

  RowDescent(const RowDescent&) = delete;  // the working set refers to the problem
  RowDescent& operator=(const RowDescent&) = delete;

  bool done() const override { return done_; }
  std::span<const double> alpha() const override { return alpha_; }
  // Read by another thread, unlike done().
  std::uint32_t progress() const override { return progress_.load(); }

  void add_start(const PackedRows& rows, const std::vector<bool>& trees,
                 const StopToken& token) override {
    std::vector<PackedRows::Weighted> weights;
    for (std::uint32_t i = 0; i < alpha_.size(); ++i) {
      if (alpha_[i] == 0.0 || !trees[tree_of_[i]]) continue;
      weights.push_back({rows.place_of(tree_of_[i]), alpha_[i] * p_.y[i]});
    }
    std::sort(weights.begin(), weights.end(),
              [](const auto& a, const auto& b) { return a.place < b.place; });
    values_.add(rows, weights, token);
  }

  // All else is computed from the dual variables, the place and the decision values.
  void go_on(std::span<const double> values, const PackedRows& rows,
             std::size_t most_wanted) override {
    rng_.set_state(p_.place->rng);
    solution_.n_sweeps = p_.place->n_sweeps;
    values_ = DecisionValues(values, p_.intercept);
    look(rows);
    first_gap_ = std::max(solution_.gap, p_.tol);
    decide(most_wanted);
  }
  std::vector<double> values() const override { return values_.numbers(); }

  void run(const PackedRows& rows, std::size_t most_wanted, const StopToken& token) override {
    constexpr int kMostRounds = 8;
    used_.clear();
    look(rows);
    if (first_gap_ == 0.0) first_gap_ = std::max(solution_.gap, p_.tol);
    for (int n = 0; n < kMostRounds && !is_done() && !open_.empty(); ++n) {
      if (n > 0 && needs_rows()) break;
      visit_open(rows, token);
      look(rows);
    }
    set_.clear();
    std::vector<double>().swap(set_.Q);  // the problems need this memory one after the other
    decide(most_wanted);
  }

  void mark_missing(std::vector<bool>& missing) const override {
    const double fair = p_.tol * solution_.primal / static_cast<double>(alpha_.size());
    for (const Candidate& candidate : missing_) {
      if (candidate.share > fair) missing[tree_of_[candidate.example]] = true;
    }
  }

  SvmSolution solution() override {
    solution_.alpha = std::move(alpha_);
    solution_.intercept = values_.intercept();
    solution_.place.rng = rng_.state();
    solution_.place.n_sweeps = solution_.n_sweeps;
    solution_.is_paused = !done_;
    return std::move(solution_);
  }

 private:
  struct Candidate {
    std::uint32_t example;
    double share;  // in the gap
  };

  double margin(std::size_t i) const { return p_.y[i] * values_.of(tree_of_[i]); }

  // ---------------------------------------------------------------------------- the gap

  // Computes the objectives over all examples, and finds the examples that would move.
  void look(const PackedRows& rows) {
    SvmSums sums;
    open_.clear();
    missing_.clear();
    open_share_ = missing_share_ = 0.0;
    for (std::uint32_t i = 0; i < alpha_.size(); ++i) {
      if (p_.C[i] <= 0.0) continue;
      const double m = margin(i);
      sums.add(p_, i, alpha_[i], m);
      if (p_.rests(i, alpha_[i], m)) continue;
      const Candidate candidate{i, p_.gap(i, alpha_[i], m)};
      const bool is_there = rows.has(tree_of_[i]);
      (is_there ? open_ : missing_).push_back(candidate);
      (is_there ? open_share_ : missing_share_) += candidate.share;
    }
    sums.tell(solution_);
  }

  // Whether it is done, and which rows it needs if not.
  void decide(std::size_t most_wanted) {
    done_ = is_done();
    list_wanted(most_wanted);
    progress_ = done_ ? 1000 : thousandths_done(first_gap_, solution_.gap, p_.tol);
  }

  bool is_done() const {
    return solution_.gap <= p_.tol || solution_.n_sweeps >= p_.max_sweeps ||
           (open_.empty() && missing_.empty());
  }

  // Whether the examples with rows hold little of the gap compared with those without.
  bool needs_rows() const {
    constexpr double kWorthRows = 0.1;
    return !missing_.empty() && open_share_ <= std::max(kWorthRows * missing_share_, enough());
  }

  // The part of the gap that the examples of a working set may have left.
  double enough() const { return 0.3 * p_.tol * solution_.primal; }

  // ---------------------------------------------------------------------------- choices

  // Among examples with equal shares, as at the beginning, classes take turns in random order.
  void rank_examples() {
    std::vector<std::uint32_t> by_class[2];
    for (std::uint32_t i = 0; i < rank_.size(); ++i) by_class[p_.y[i] > 0].push_back(i);
    for (auto& examples : by_class) {
      rng_.shuffle(examples, examples.size());
      for (std::uint32_t k = 0; k < examples.size(); ++k) rank_[examples[k]] = k;
    }
  }

  void list_wanted(std::size_t most) {
    wanted_.clear();
    if (done_ || !needs_rows()) return;
    std::vector<Candidate> worst = missing_;
    const auto before = [&](const Candidate& a, const Candidate& b) {
      if (a.share != b.share) return a.share > b.share;
      if (rank_[a.example] != rank_[b.example]) return rank_[a.example] < rank_[b.example];
      return a.example < b.example;
    };
    if (worst.size() > most) {
      std::nth_element(worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(most),
                       worst.end(), before);
      worst.resize(most);
    }
    std::sort(worst.begin(), worst.end(), before);
    for (const Candidate& candidate : worst) wanted_.push_back(tree_of_[candidate.example]);
  }

  // ---------------------------------------------------------------------------- descent

  // Brings one working set of all open examples near its optimum. If there are too many for one
  // set, each set gets a few sweeps: being near its own optimum would only hinder the others.
  void visit_open(const PackedRows& rows, const StopToken& token) {
    const std::size_t n_parts = (open_.size() + largest_set_ - 1) / largest_set_;
    const double share_left = n_parts == 1 ? 0.1 : 0.0;
    const std::uint32_t most =
        std::min<std::uint32_t>(n_parts == 1 ? 50 : 3, p_.max_sweeps - solution_.n_sweeps);
    if (n_parts > 1) rng_.shuffle(open_, open_.size());
    std::uint32_t n_sweeps = 0;
    for (std::size_t part = 0; part < n_parts; ++part) {
      const std::size_t begin = open_.size() * part / n_parts;
      const std::size_t end = open_.size() * (part + 1) / n_parts;
      const std::span<const Candidate> examples(open_.data() + begin, end - begin);
      n_sweeps = std::max(n_sweeps, solve(examples, share_left, most, rows, token));
    }
    solution_.n_sweeps += n_sweeps;
  }

  // Works on some examples until only this share of their gap is left. Returns the number of
  // sweeps.
  std::uint32_t solve(std::span<const Candidate> part, double share_left, std::uint32_t most_sweeps,
                      const PackedRows& rows, const StopToken& token) {
    choose(part, rows, token);
    const double gap_to_reach = std::max(enough(), share_left * set_.gap());
    const std::uint32_t n_sweeps = descend(set_, gap_to_reach, most_sweeps, rng_, token);
    std::vector<PackedRows::Weighted> weights;
    for (std::size_t k = 0; k < set_.size(); ++k) {
      const std::uint32_t i = set_.examples[k];
      const double change = set_.alpha[k] - alpha_[i];
      if (change == 0.0) continue;
      weights.push_back({rows.place_of(tree_of_[i]), change * p_.y[i]});
      alpha_[i] = set_.alpha[k];
    }
    values_.add(rows, weights, token);
    return n_sweeps;
  }

  // Makes a working set of the examples.
  void choose(std::span<const Candidate> part, const PackedRows& rows, const StopToken& token) {
    set_.clear();
    for (const Candidate& candidate : part) set_.examples.push_back(candidate.example);
    // In the order of the places, so that the rows are read from front to back.
    const auto place = [&](std::uint32_t i) { return rows.place_of(tree_of_[i]); };
    std::sort(set_.examples.begin(), set_.examples.end(), [&](std::uint32_t a, std::uint32_t b) {
      return place(a) != place(b) ? place(a) < place(b) : a < b;
    });
    std::vector<std::uint32_t> places;
    std::vector<double> signs;
    for (const std::uint32_t i : set_.examples) {
      used_.push_back(tree_of_[i]);
      set_.alpha.push_back(alpha_[i]);
      set_.margins.push_back(margin(i));
      set_.self.push_back(self_[tree_of_[i]]);
      places.push_back(place(i));
      signs.push_back(p_.y[i]);
    }
    fill_Q(set_.Q, rows, places, signs, p_.constant(), token);
  }

  DualProblem<L> p_;
  std::span<const std::uint32_t> tree_of_;
  std::span<const double> self_;
  std::size_t largest_set_;
  Rng rng_;
  std::vector<double> alpha_;
  DecisionValues values_;
  std::vector<std::uint32_t> rank_;  // by example
  SvmSolution solution_;
  bool done_ = false;
  double first_gap_ = 0.0;
  SolverProgress progress_{0};

  // Examples that would move: with available rows, and without.
  std::vector<Candidate> open_, missing_;
  double open_share_ = 0.0, missing_share_ = 0.0;
  WorkingSet<L> set_;  // empty between runs
};

}  // namespace filbert
