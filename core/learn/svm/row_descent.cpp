#include "learn/svm/row_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace filbert {

namespace {

// Rows are asked for when the examples that have theirs hold so little of the gap, in parts of what
// those without have.
constexpr double kWorthRows = 0.1;
constexpr int kMostRounds = 8;  // in one run

}  // namespace

RowDescent::RowDescent(const SvmProblem& problem, std::span<const std::uint32_t> tree_of,
                       std::span<const double> self, std::span<const double> start,
                       std::size_t largest_set)
    : p_(problem),
      tree_of_(tree_of),
      self_(self),
      largest_set_(largest_set),
      rng_(problem.seed),
      alpha_(tree_of.size(), 0.0),
      values_(self.size(), 0.0),
      rank_(tree_of.size()),
      set_{problem, {}, {}, {}, {}, {}} {
  for (std::size_t i = 0; i < start.size(); ++i) {
    alpha_[i] = std::clamp(start[i], 0.0, p_.upper(i));
  }
  rank_examples();
}

void RowDescent::run(const PackedRows& rows, std::size_t most_wanted, const StopToken& token) {
  used_.clear();
  look(rows);
  if (first_gap_ == 0.0) first_gap_ = std::max(solution_.gap, p_.tol);
  for (int n = 0; n < kMostRounds && !is_done() && !open_.empty(); ++n) {
    if (n > 0 && needs_rows()) break;
    visit_open(rows, token);
    look(rows);
  }
  set_.clear();
  std::vector<double>().swap(set_.Q);  // the problems need theirs one after the other
  done_ = is_done();
  list_wanted(most_wanted);
  tell_progress();
}

SvmSolution RowDescent::solution() {
  solution_.alpha = std::move(alpha_);
  solution_.intercept = bias_;
  return std::move(solution_);
}

// ------------------------------------------------------------------------------ the gap

// The objectives over all examples, and those examples that would move.
void RowDescent::look(const PackedRows& rows) {
  SvmSums sums;
  open_.clear();
  missing_.clear();
  open_share_ = missing_share_ = 0.0;
  for (std::uint32_t i = 0; i < alpha_.size(); ++i) {
    if (p_.C[i] <= 0.0) continue;
    const double m = margin(i);
    sums.add(p_, i, alpha_[i], m);
    if (p_.rests(i, alpha_[i], p_.gradient(i, alpha_[i], m))) continue;
    const Candidate candidate{i, p_.gap(i, alpha_[i], m)};
    const bool is_there = rows.has(tree_of_[i]);
    (is_there ? open_ : missing_).push_back(candidate);
    (is_there ? open_share_ : missing_share_) += candidate.share;
  }
  sums.tell(solution_);
}

bool RowDescent::is_done() const {
  return solution_.gap <= p_.tol || solution_.n_sweeps >= p_.max_sweeps ||
         (open_.empty() && missing_.empty());
}

bool RowDescent::needs_rows() const {
  return !missing_.empty() && open_share_ <= std::max(kWorthRows * missing_share_, enough());
}

// What the examples of a working set may keep of the gap in the end.
double RowDescent::enough() const { return 0.3 * p_.tol * solution_.primal; }

void RowDescent::tell_progress() {
  const double way = std::log(first_gap_ / p_.tol);
  const double gone = std::log(first_gap_ / std::max(solution_.gap, p_.tol));
  progress_ = static_cast<std::uint32_t>(way > 0.0 ? std::max(0.0, 1000.0 * gone / way) : 1000.0);
}

// ------------------------------------------------------------------------------ choices

// Among examples with equal shares, as all have at the beginning, classes take turns in random
// order.
void RowDescent::rank_examples() {
  std::vector<std::uint32_t> by_class[2];
  for (std::uint32_t i = 0; i < rank_.size(); ++i) by_class[p_.y[i] > 0].push_back(i);
  for (auto& examples : by_class) {
    rng_.shuffle(examples, examples.size());
    for (std::uint32_t k = 0; k < examples.size(); ++k) rank_[examples[k]] = k;
  }
}

void RowDescent::list_wanted(std::size_t most) {
  wanted_.clear();
  if (done_ || !needs_rows()) return;
  std::vector<Candidate> worst = missing_;
  const auto before = [&](const Candidate& a, const Candidate& b) {
    if (a.share != b.share) return a.share > b.share;
    if (rank_[a.example] != rank_[b.example]) return rank_[a.example] < rank_[b.example];
    return a.example < b.example;
  };
  if (worst.size() > most) {
    std::nth_element(worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(most), worst.end(),
                     before);
    worst.resize(most);
  }
  std::sort(worst.begin(), worst.end(), before);
  for (const Candidate& candidate : worst) wanted_.push_back(tree_of_[candidate.example]);
}

void RowDescent::mark_missing(std::vector<bool>& missing) const {
  const double fair = p_.tol * solution_.primal / static_cast<double>(alpha_.size());
  for (const Candidate& candidate : missing_) {
    if (candidate.share > fair) missing[tree_of_[candidate.example]] = true;
  }
}

// ------------------------------------------------------------------------------ descent

// One working set of all open examples is brought near its optimum. Where they are too many for
// one, each gets a few sweeps: near its own optimum it would only be in the way of the others.
void RowDescent::visit_open(const PackedRows& rows, const StopToken& token) {
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

// Goes on with some examples until they have but a share of the gap left. Returns the sweeps.
std::uint32_t RowDescent::solve(std::span<const Candidate> part, double share_left,
                                std::uint32_t most_sweeps, const PackedRows& rows,
                                const StopToken& token) {
  choose(part, rows);
  fill_Q(rows, token);
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
  add_weights(rows, weights, token);
  return n_sweeps;
}

void RowDescent::choose(std::span<const Candidate> part, const PackedRows& rows) {
  set_.clear();
  for (const Candidate& candidate : part) set_.examples.push_back(candidate.example);
  // In the order of the places: the rows are then read from front to back.
  const auto place = [&](std::uint32_t i) { return rows.place_of(tree_of_[i]); };
  std::sort(set_.examples.begin(), set_.examples.end(), [&](std::uint32_t a, std::uint32_t b) {
    return place(a) != place(b) ? place(a) < place(b) : a < b;
  });
  for (const std::uint32_t i : set_.examples) {
    used_.push_back(tree_of_[i]);
    set_.alpha.push_back(alpha_[i]);
    set_.margins.push_back(margin(i));
    set_.self.push_back(self_[tree_of_[i]]);
  }
}

void RowDescent::fill_Q(const PackedRows& rows, const StopToken& token) {
  constexpr std::size_t kBlock = 32;  // what is mirrored stays in the cache meanwhile
  const std::size_t n = set_.size();
  std::vector<std::uint32_t> places;
  for (const std::uint32_t i : set_.examples) places.push_back(rows.place_of(tree_of_[i]));
  set_.Q.resize(n * n);
  double* const Q = set_.Q.data();
  for (std::size_t first = 0; first < n; first += kBlock) {
    token.check();
    const std::size_t last = std::min(first + kBlock, n);
    for (std::size_t k = first; k < last; ++k) {
      const double sign = p_.y[set_.examples[k]];
      for (std::size_t l = k; l < n; ++l) {
        const double value = rows.entry(places[k], places[l]) + p_.constant();
        Q[k * n + l] = sign * p_.y[set_.examples[l]] * value;
      }
    }
    for (std::size_t l = first; l < n; ++l) {
      for (std::size_t k = first; k < std::min(l, last); ++k) Q[l * n + k] = Q[k * n + l];
    }
  }
}

void RowDescent::add_start(const PackedRows& rows, const std::vector<bool>& trees,
                           const StopToken& token) {
  std::vector<PackedRows::Weighted> weights;
  for (std::uint32_t i = 0; i < alpha_.size(); ++i) {
    if (alpha_[i] == 0.0 || !trees[tree_of_[i]]) continue;
    weights.push_back({rows.place_of(tree_of_[i]), alpha_[i] * p_.y[i]});
  }
  std::sort(weights.begin(), weights.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  add_weights(rows, weights, token);
}

// By ascending place.
void RowDescent::add_weights(const PackedRows& rows, std::span<const PackedRows::Weighted> weights,
                             const StopToken& token) {
  std::vector<double> sums(values_.size(), 0.0);
  rows.add_to(sums, weights, token);
  for (std::size_t place = 0; place < sums.size(); ++place) {
    values_[rows.trees()[place]] += sums[place];
  }
  if (!p_.intercept) return;
  for (const PackedRows::Weighted& row : weights) bias_ += row.weight;
}

}  // namespace filbert
