#include "learn/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/rng.hpp"

namespace filbert {

namespace {

// Decomposition, Joachims 1999: the problem is solved over a working set of examples while the
// others stay, and so on with another set. Decision values of all trees are kept: a change of
// alpha_i adds a multiple of row i to them, so the true gap costs one pass over the examples.
//
// Computing a row costs some hundred times as much as using it. So the examples whose rows are
// there are brought near their optimum before new rows are asked for, which are those of the
// examples with the largest shares in the gap.
class OneProblem {
 public:
  OneProblem(const SvmProblem& problem, std::span<const std::uint32_t> tree_of,
             const RowSource& source, std::span<const double> start)
      : p_(problem),
        tree_of_(tree_of),
        self_(source.self()),
        rng_(problem.seed),
        alpha_(tree_of.size(), 0.0),
        values_(source.n_trees(), 0.0),
        rank_(tree_of.size()) {
    for (std::size_t i = 0; i < start.size(); ++i) {
      alpha_[i] = std::clamp(start[i], 0.0, p_.upper(i));
    }
    rank_examples();
  }

  bool has_weight(std::size_t i) const { return alpha_[i] != 0.0; }
  bool done() const { return done_; }
  // It cannot go on without other rows.
  bool waits() const { return !wanted_.empty(); }
  std::uint32_t progress() const { return done_ ? 1000 : progress_.load(); }

  // The trees whose rows are wanted, the most wanted first.
  const std::vector<std::uint32_t>& wanted() const { return wanted_; }
  // The trees without rows whose examples have more of the gap than all may keep on average.
  void mark_missing(std::vector<bool>& missing) const {
    const double fair = p_.tol * solution_.primal / static_cast<double>(alpha_.size());
    for (const Candidate& candidate : missing_) {
      if (candidate.share > fair) missing[tree_of_[candidate.example]] = true;
    }
  }
  // The trees whose rows were used in the last descent.
  const std::vector<std::uint32_t>& used() const { return used_; }

  // Adds what the trees' examples have by their start to the decision values.
  void add_start(const RowCache& cache, const std::vector<bool>& trees) {
    changes_.clear();
    for (std::uint32_t i = 0; i < alpha_.size(); ++i) {
      if (alpha_[i] == 0.0 || !trees[tree_of_[i]]) continue;
      changes_.push_back({cache.row(tree_of_[i]), alpha_[i] * p_.y[i]});
    }
    apply_changes();
  }

  // Goes on with the rows that are there, for some time. When they have given what they can,
  // `wanted` tells which others are needed.
  void descend(const RowCache& cache, std::size_t most_wanted, const StopToken& token) {
    constexpr int kMostSets = 8;
    used_.clear();
    look(cache);
    if (first_gap_ == 0.0) first_gap_ = std::max(solution_.gap, p_.tol);
    for (int n = 0; n < kMostSets && !is_done() && !needs_rows(); ++n) {
      choose_working_set(cache);
      solve_working_set(token);
      apply_changes();
      look(cache);
    }
    std::vector<double>().swap(Q_);  // the problems need theirs one after the other
    done_ = is_done();
    list_wanted(most_wanted);
    const double way = std::log(first_gap_ / p_.tol);
    const double gone = std::log(first_gap_ / std::max(solution_.gap, p_.tol));
    progress_ = static_cast<std::uint32_t>(way > 0.0 ? std::max(0.0, 1000.0 * gone / way) : 1000.0);
  }

  SvmSolution solution() {
    solution_.alpha = std::move(alpha_);
    solution_.intercept = bias_;
    return std::move(solution_);
  }

 private:
  // Rows are asked for when the examples that have theirs hold so little of the gap, in parts of
  // what those without have.
  static constexpr double kWorthRows = 0.1;
  // The larger the working set, the fewer of them; its part of the matrix takes 72 MiB at most.
  static constexpr std::size_t kWorkingSet = 3072;
  static constexpr std::uint32_t kMostSweeps = 50;
  static constexpr std::uint32_t kSweepsPerJump = 25;

  struct Candidate {
    std::uint32_t example;
    double share;  // in the gap
  };
  struct Change {
    const double* row;
    double weight;
  };

  // Among examples with equal shares, as all have at the beginning, classes take turns in random
  // order.
  void rank_examples() {
    std::vector<std::uint32_t> by_class[2];
    for (std::uint32_t i = 0; i < rank_.size(); ++i) by_class[p_.y[i] > 0].push_back(i);
    for (auto& examples : by_class) {
      rng_.shuffle(examples, examples.size());
      for (std::uint32_t k = 0; k < examples.size(); ++k) rank_[examples[k]] = k;
    }
  }

  bool before(const Candidate& a, const Candidate& b) const {
    if (a.share != b.share) return a.share > b.share;
    if (rank_[a.example] != rank_[b.example]) return rank_[a.example] < rank_[b.example];
    return a.example < b.example;
  }

  // The first n in order, sorted.
  void cut_to_worst(std::vector<Candidate>& candidates, std::size_t n) const {
    const auto order = [&](const Candidate& a, const Candidate& b) { return before(a, b); };
    if (candidates.size() > n) {
      const auto cut = candidates.begin() + static_cast<std::ptrdiff_t>(n);
      std::nth_element(candidates.begin(), cut, candidates.end(), order);
      candidates.resize(n);
    }
    std::sort(candidates.begin(), candidates.end(), order);
  }

  double margin(std::size_t i) const { return p_.y[i] * (values_[tree_of_[i]] + bias_); }

  // The objectives over all examples, and those examples that would move.
  void look(const RowCache& cache) {
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
      const bool is_there = cache.row(tree_of_[i]) != nullptr;
      (is_there ? open_ : missing_).push_back(candidate);
      (is_there ? open_share_ : missing_share_) += candidate.share;
    }
    sums.tell(solution_);
  }

  bool needs_rows() const {
    return !missing_.empty() && open_share_ <= std::max(kWorthRows * missing_share_, enough());
  }

  // What the examples of a working set may keep of the gap in the end.
  double enough() const { return 0.3 * p_.tol * solution_.primal; }

  bool is_done() const {
    return solution_.gap <= p_.tol || solution_.n_sweeps >= p_.max_sweeps ||
           (open_.empty() && missing_.empty());
  }

  void choose_working_set(const RowCache& cache) {
    cut_to_worst(open_, kWorkingSet);
    // In the order of the columns: the rows are then read from front to back.
    std::sort(open_.begin(), open_.end(), [&](const Candidate& a, const Candidate& b) {
      const std::uint32_t tree_a = tree_of_[a.example];
      const std::uint32_t tree_b = tree_of_[b.example];
      return tree_a != tree_b ? tree_a < tree_b : a.example < b.example;
    });
    const std::size_t n = open_.size();
    rows_.resize(n);
    trees_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      trees_[k] = tree_of_[open_[k].example];
      rows_[k] = cache.row(trees_[k]);
      used_.push_back(trees_[k]);
    }
    Q_.resize(n * n);
    for (std::size_t k = 0; k < n; ++k) {
      const double sign = p_.y[open_[k].example];
      for (std::size_t l = 0; l < n; ++l) {
        Q_[k * n + l] = sign * p_.y[open_[l].example] * (rows_[k][trees_[l]] + p_.constant());
      }
    }
  }

  // Coordinate descent over the working set until it has little left of the gap.
  void solve_working_set(const StopToken& token) {
    const std::size_t n = open_.size();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    margins_.resize(n);
    double gap = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      margins_[k] = margin(open_[k].example);
      gap += open_[k].share;
    }
    moved_.assign(n, 0.0);
    const double wanted_gap = std::max(enough(), 0.02 * gap);
    for (std::uint32_t n_sweeps = 0; n_sweeps < kMostSweeps; ++n_sweeps) {
      if (solution_.n_sweeps >= p_.max_sweeps || (n_sweeps > 0 && gap <= wanted_gap)) break;
      ++solution_.n_sweeps;
      token.check();
      sweep();
      if (n_sweeps % kSweepsPerJump == kSweepsPerJump - 1) jump(token);
      gap = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::uint32_t i = open_[k].example;
        gap += p_.gap(i, alpha_[i], margins_[k]);
      }
    }
    changes_.clear();
    for (std::size_t k = 0; k < n; ++k) {
      if (moved_[k] != 0.0) changes_.push_back({rows_[k], moved_[k]});
    }
  }

  void sweep() {
    rng_.shuffle(order_, order_.size());
    for (const std::uint32_t k : order_) {
      const std::uint32_t i = open_[k].example;
      const double g = p_.gradient(i, alpha_[i], margins_[k]);
      if (p_.rests(i, alpha_[i], g)) continue;
      const double updated = p_.best(i, alpha_[i], g, self_[trees_[k]]);
      move_to(k, updated);
    }
  }

  void move_to(std::size_t k, double updated) {
    const std::uint32_t i = open_[k].example;
    const double change = updated - alpha_[i];
    if (change == 0.0) return;
    alpha_[i] = updated;
    moved_[k] += change * p_.y[i];
    const std::size_t n = open_.size();
    const double* const q = Q_.data() + k * n;
    for (std::size_t l = 0; l < n; ++l) margins_[l] += change * q[l];
  }

  // Where trees are much alike, many sweeps go a short way. So now and then those examples that are
  // at no bound go together towards where their gradients vanish, found by conjugate gradients: all
  // until the first meets a bound, or each as far as its own bounds allow, whichever is better.
  // Those that met a bound stay there, and the others go on.
  void jump(const StopToken& token) {
    constexpr int kMostLegs = 5;
    constexpr std::size_t kMostFree = 512;  // beyond that, it takes longer than sweeps
    for (int leg = 0; leg < kMostLegs; ++leg) {
      list_free();
      if (free_.size() > kMostFree) return;
      std::vector<double> gradient;
      for (const std::uint32_t k : free_) {
        const std::uint32_t i = open_[k].example;
        gradient.push_back(p_.gradient(i, alpha_[i], margins_[k]));
      }
      std::vector<double> together = newton_step(gradient, token);
      std::vector<double> each = together;
      const double share = keep_in_bounds(together, each);
      const double gain = gain_of(gradient, together);
      const double gain_each = share < 1.0 ? gain_of(gradient, each) : gain;
      if (!(std::max(gain, gain_each) > 0.0)) return;
      take_step(gain_each > gain ? each : together);
      if (share == 1.0) return;
    }
  }

  void list_free() {
    free_.clear();
    for (std::uint32_t k = 0; k < open_.size(); ++k) {
      const std::uint32_t i = open_[k].example;
      if (alpha_[i] > 0.0 && alpha_[i] < p_.upper(i)) free_.push_back(k);
    }
  }

  // Shortens the whole step until it is within the bounds, and each part by itself. Returns the
  // share that is left of the whole.
  double keep_in_bounds(std::vector<double>& together, std::vector<double>& each) const {
    double share = 1.0;
    for (std::size_t a = 0; a < free_.size(); ++a) {
      const std::uint32_t i = open_[free_[a]].example;
      each[a] = std::clamp(alpha_[i] + each[a], 0.0, p_.upper(i)) - alpha_[i];
      if (together[a] != 0.0) share = std::min(share, each[a] / together[a]);
    }
    share = std::max(share, 0.0);
    for (double& part : together) part *= share;
    return share;
  }

  // By how much a step lowers the objective.
  double gain_of(const std::vector<double>& gradient, const std::vector<double>& step) const {
    return -dot(gradient, step) - 0.5 * dot(step, times_Q(step));
  }

  void take_step(const std::vector<double>& step) {
    for (std::size_t a = 0; a < step.size(); ++a) {
      const std::uint32_t i = open_[free_[a]].example;
      double updated = std::clamp(alpha_[i] + step[a], 0.0, p_.upper(i));
      // Rounding must not keep from the bound what just meets it.
      if (updated < 1e-14 * std::fabs(step[a])) updated = 0.0;
      if (p_.upper(i) - updated < 1e-14 * p_.C[i]) updated = p_.upper(i);
      move_to(free_[a], updated);
    }
  }

  // Q + D among the free examples, times x.
  std::vector<double> times_Q(const std::vector<double>& x) const {
    std::vector<double> product(x.size());
    for (std::size_t a = 0; a < x.size(); ++a) {
      const double* const q = Q_.data() + free_[a] * open_.size();
      double sum = p_.ridge(open_[free_[a]].example) * x[a];
      for (std::size_t b = 0; b < x.size(); ++b) sum += q[free_[b]] * x[b];
      product[a] = sum;
    }
    return product;
  }

  // About -(Q + D)^-1 gradient, among the free examples.
  std::vector<double> newton_step(const std::vector<double>& gradient, const StopToken& token) {
    constexpr std::size_t kMost = 30;
    const std::size_t n = gradient.size();
    std::vector<double> step(n, 0.0), rest(n), direction(n);
    for (std::size_t a = 0; a < n; ++a) direction[a] = rest[a] = -gradient[a];
    double size = dot(rest, rest);
    const double small = 1e-16 * size;
    for (std::size_t round = 0; round < std::min(n, kMost) && size > small; ++round) {
      token.check();
      const std::vector<double> image = times_Q(direction);
      const double bend = dot(direction, image);
      if (!(bend > 1e-14 * dot(direction, direction))) break;  // equal trees
      const double length = size / bend;
      for (std::size_t a = 0; a < n; ++a) {
        step[a] += length * direction[a];
        rest[a] -= length * image[a];
      }
      const double before = std::exchange(size, dot(rest, rest));
      for (std::size_t a = 0; a < n; ++a) direction[a] = rest[a] + size / before * direction[a];
    }
    return step;
  }

  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  // Four rows at a time: the values are read and written less often.
  void apply_changes() {
    const std::size_t n = values_.size();
    double* const values = values_.data();
    std::size_t k = 0;
    for (; k + 4 <= changes_.size(); k += 4) {
      const auto [a, wa] = changes_[k];
      const auto [b, wb] = changes_[k + 1];
      const auto [c, wc] = changes_[k + 2];
      const auto [d, wd] = changes_[k + 3];
      for (std::size_t j = 0; j < n; ++j) {
        values[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
      }
    }
    for (; k < changes_.size(); ++k) {
      const auto [a, wa] = changes_[k];
      for (std::size_t j = 0; j < n; ++j) values[j] += wa * a[j];
    }
    if (!p_.intercept) return;
    for (const Change& change : changes_) bias_ += change.weight;
  }

  void list_wanted(std::size_t most) {
    wanted_.clear();
    if (done_ || !needs_rows()) return;
    std::vector<Candidate> worst = missing_;
    cut_to_worst(worst, most);
    for (const Candidate& candidate : worst) wanted_.push_back(tree_of_[candidate.example]);
  }

  const SvmProblem& p_;
  std::span<const std::uint32_t> tree_of_;
  std::span<const double> self_;
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

  // The working set is what `open_` is cut down to.
  std::vector<const double*> rows_;
  std::vector<std::uint32_t> trees_;
  std::vector<double> Q_;
  std::vector<double> margins_;
  std::vector<double> moved_;  // changes of alpha, times y
  std::vector<std::uint32_t> order_, free_;
  std::vector<Change> changes_;
};

// ------------------------------------------------------------------------------ all problems

class ActiveSets {
 public:
  ActiveSets(RowCache& cache, std::span<const std::uint32_t> tree_of,
             std::span<const SvmProblem> problems, std::span<const std::span<const double>> starts,
             int n_threads, const Watch& report)
      : cache_(cache), tree_of_(tree_of), n_threads_(n_threads), report_(report) {
    for (std::size_t c = 0; c < problems.size(); ++c) {
      const std::span<const double> start = starts.empty() ? std::span<const double>() : starts[c];
      problems_.push_back(
          std::make_unique<OneProblem>(problems[c], tree_of, cache.source(), start));
    }
  }

  std::vector<SvmSolution> run() {
    add_starts();
    while (!all_of([](const OneProblem& problem) { return problem.done(); })) {
      if (all_of([](const OneProblem& problem) { return problem.done() || problem.waits(); })) {
        get_rows();
      }
      descend();
    }
    std::vector<SvmSolution> solutions;
    for (auto& problem : problems_) solutions.push_back(problem->solution());
    return solutions;
  }

 private:
  static constexpr std::size_t kBatch = 256;

  // Some at a time, with room for those that are there.
  std::size_t batch() const {
    return std::min(kBatch, std::max<std::size_t>(1, cache_.capacity() / 2));
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
    for (std::size_t i = 0; i < tree_of_.size(); ++i) {
      for (const auto& problem : problems_) {
        if (problem->has_weight(i)) in_use[tree_of_[i]] = true;
      }
    }
    return in_use;
  }

  // Decision values for the dual variables that problems begin with.
  void add_starts() {
    const std::vector<bool> in_use = trees_in_use();
    std::vector<std::uint32_t> trees;
    for (std::uint32_t tree = 0; tree < in_use.size(); ++tree) {
      if (in_use[tree]) trees.push_back(tree);
    }
    if (is_worth_all(trees.size())) cache_.complete(n_threads_, watch());
    for (std::size_t first = 0; first < trees.size(); first += batch()) {
      const std::size_t last = std::min(first + batch(), trees.size());
      std::vector<bool> now(in_use.size(), false);
      std::vector<std::uint32_t> fetched;
      for (std::size_t k = first; k < last; ++k) {
        now[trees[k]] = true;
        if (cache_.row(trees[k]) == nullptr) fetched.push_back(trees[k]);
      }
      cache_.fetch(fetched, now, n_threads_, watch());
      for (auto& problem : problems_) problem->add_start(cache_, now);
    }
  }

  void descend() {
    const double steps = static_cast<double>(cache_.n_trees() * cache_.size() * problems_.size());
    const int n_threads = threads_for(steps, n_threads_);
    parallel_for(problems_.size(), n_threads, watch(),
                 [&](std::size_t c, int, const StopToken& token) {
                   if (!problems_[c]->done()) problems_[c]->descend(cache_, batch(), token);
                 });
    if (n_threads == kInline) watch()(0, 0);
    for (const auto& problem : problems_) {
      for (const std::uint32_t tree : problem->used()) cache_.touch(tree);
    }
  }

  // Problems take turns, each with the row that it wants most.
  void get_rows() {
    std::vector<bool> chosen(cache_.n_trees(), false);
    std::vector<std::uint32_t> wanted;
    const std::size_t n = batch();
    for (std::size_t place = 0; place < n && wanted.size() < n; ++place) {
      for (std::size_t turn = 0; turn < problems_.size() && wanted.size() < n; ++turn) {
        const auto& own = problems_[(turn + n_batches_) % problems_.size()]->wanted();
        if (place >= own.size() || chosen[own[place]]) continue;
        chosen[own[place]] = true;
        wanted.push_back(own[place]);
      }
    }
    ++n_batches_;
    if (is_worth_all(cache_.size() + wanted.size()) || are_many_missing()) {
      cache_.complete(n_threads_, watch());
    } else {
      cache_.fetch(wanted, trees_in_use(), n_threads_, watch());
    }
  }

  // All rows together take half the time of one after the other.
  bool is_worth_all(std::size_t n_rows) const {
    constexpr std::size_t kFew = 256;
    const std::size_t n = cache_.n_trees();
    if (cache_.capacity() < n || n_rows == 0) return false;
    return n <= kFew || static_cast<double>(n_rows) >= 0.45 * static_cast<double>(n);
  }

  // The same for a matrix of which a part is there: the n - m rows that are missing take as long as
  // (n - m)^2 / 2n rows one after the other. At first all examples would move, which tells nothing.
  bool are_many_missing() const {
    const auto n = static_cast<double>(cache_.n_trees());
    const auto m = static_cast<double>(cache_.size());
    if (cache_.capacity() < cache_.n_trees() || m < 0.15 * n) return false;
    std::vector<bool> missing(cache_.n_trees(), false);
    for (const auto& problem : problems_) problem->mark_missing(missing);
    const auto n_missing = static_cast<double>(std::count(missing.begin(), missing.end(), true));
    return n_missing >= (n - m) * (n - m) / (2.0 * n);
  }

  RowCache& cache_;
  std::span<const std::uint32_t> tree_of_;
  int n_threads_;
  const Watch& report_;
  std::vector<std::unique_ptr<OneProblem>> problems_;
  std::size_t n_batches_ = 0;
};

}  // namespace

std::vector<SvmSolution> train_svms_on_rows(RowCache& cache, std::span<const std::uint32_t> tree_of,
                                            std::span<const SvmProblem> problems,
                                            std::span<const std::span<const double>> starts,
                                            int n_threads, const Watch& report) {
  return ActiveSets(cache, tree_of, problems, starts, n_threads, report).run();
}

}  // namespace filbert
