#include "learn/perceptron/perceptron.hpp"

#include <algorithm>
#include <utility>

namespace filbert {

OnlinePerceptron::OnlinePerceptron(std::size_t n_problems,
                                   std::vector<std::unique_ptr<GrowingTerm>> terms)
    : terms_(std::move(terms)),
      rule_(n_problems),
      scratch_(new_scratch()),
      weights_(2 * n_problems, 0.0) {}

OnlinePerceptron::Scratches OnlinePerceptron::new_scratch() const {
  Scratches scratch;
  for (const auto& term : terms_) scratch.push_back(term->scratch());
  return scratch;
}

std::uint64_t OnlinePerceptron::n_nodes() const {
  std::uint64_t n = 0;
  for (const auto& term : terms_) n += term->n_nodes();
  return n;
}

std::uint64_t OnlinePerceptron::n_tree_nodes() const {
  std::uint64_t n = 0;
  for (const auto& term : terms_) n += term->n_tree_nodes();
  return n;
}

void OnlinePerceptron::score(const PerceptronExamples& examples, std::size_t row,
                             Scratches& scratch, std::span<double> out,
                             const StopToken& token) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    terms_[t]->score(*examples.parts[t], row, examples.scale(t, row), *scratch[t], out, token);
  }
}

std::size_t OnlinePerceptron::learn(const PerceptronExamples& examples,
                                    const PerceptronTargets& targets,
                                    std::span<const std::uint32_t> order,
                                    std::span<std::uint32_t> support_of, std::uint64_t max_nodes,
                                    PerceptronProgress& progress, const StopToken& token) {
  Turns::Writing turn(turns_, token);
  for (const auto& scratch : scratch_) scratch->begin_part();
  std::vector<double> scores(n_problems());
  for (std::size_t k = 0; k < order.size(); ++k) {
    token.check();
    turn.offer();
    const std::uint32_t row = order[k];
    if (targets.weights[row] == 0.0) continue;
    score(examples, row, scratch_, scores, token);
    const double norm = examples.norms[row];
    const bool error = rule_.is_error(targets, row, examples.size(), scores, norm);
    for (std::uint32_t p = 0; p < scores.size(); ++p) {
      const double y = targets.y[p * examples.size() + row];
      if (!rule_.learns(p, y, scores[p], norm, targets.margin)) continue;
      if (support_of[row] == kNone) support_of[row] = n_support_;
      update(examples, row, support_of[row], p, y * targets.weights[row], log_.n_seen + 1);
    }
    rule_.note_example(log_, error, progress);
    if (n_nodes() > max_nodes) return k + 1;
  }
  return order.size();
}

void OnlinePerceptron::update(const PerceptronExamples& examples, std::size_t row,
                              std::uint32_t support, std::uint32_t problem, double amount,
                              std::uint64_t time) {
  log_.updates.push_back({support, problem, amount, time});
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    std::fill(weights_.begin(), weights_.end(), 0.0);
    weights_[problem] = amount * examples.scale(t, row);
    weights_[n_problems() + problem] = weights_[problem] * static_cast<double>(time - 1);
    terms_[t]->add(*examples.parts[t], row, support, weights_, *scratch_[t]);
  }
  rule_.note_update(problem, amount, examples.norms[row]);
  if (support == n_support_) ++n_support_;
}

void OnlinePerceptron::replay(const PerceptronExamples& examples, const PerceptronLog& log) {
  const StopToken token;
  const Turns::Writing turn(turns_, token);
  for (const auto& scratch : scratch_) scratch->begin_part();
  for (const PerceptronUpdate& u : log.updates) {
    update(examples, u.support, u.support, u.problem, u.amount, u.time);
  }
  log_.n_seen = log.n_seen;
  log_.n_errors = log.n_errors;
  log_.errors = log.errors;
}

std::size_t OnlinePerceptron::n_that_fit(std::span<const std::uint32_t> support,
                                         std::uint64_t max_nodes) const {
  std::vector<SupportTrees> trees;
  std::vector<std::vector<bool>> seen;
  for (const auto& term : terms_) {
    trees.push_back(term->support_trees());
    seen.emplace_back(trees.back().dag ? trees.back().dag->size() : 0, false);
  }
  std::uint64_t n_seen = 0;
  std::vector<NodeId> open;
  for (std::size_t k = 0; k < support.size(); ++k) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      if (!trees[t].dag) continue;
      open.assign(1, trees[t].roots[support[k]]);
      while (!open.empty()) {
        const NodeId u = open.back();
        open.pop_back();
        if (seen[t][u]) continue;
        seen[t][u] = true;
        ++n_seen;
        const auto children = trees[t].dag->children(u);
        open.insert(open.end(), children.begin(), children.end());
      }
    }
    if (n_seen > max_nodes) return k;
  }
  return support.size();
}

std::vector<double> OnlinePerceptron::scores(const PerceptronExamples& examples, bool averaged,
                                             int n_threads, const Watch& watch) const {
  constexpr std::size_t kExamplesATask = 64;
  const std::size_t n = examples.size();
  const std::size_t k = n_problems();
  const std::size_t n_columns = averaged ? 2 * k : k;
  std::vector<double> values(n * k);
  std::vector<Scratches> scratch(static_cast<std::size_t>(std::max(1, n_threads)));
  parallel_for((n + kExamplesATask - 1) / kExamplesATask, n_threads, watch,
               [&](std::size_t task, int worker, const StopToken& token) {
                 Scratches& own = scratch[static_cast<std::size_t>(worker)];
                 if (own.empty()) own = new_scratch();
                 std::vector<double> columns(n_columns);
                 const std::size_t last = std::min(n, (task + 1) * kExamplesATask);
                 for (std::size_t row = task * kExamplesATask; row < last; ++row) {
                   token.check();
                   score(examples, row, own, columns, token);
                   for (std::size_t p = 0; p < k; ++p) {
                     double& value = values[row * k + p];
                     value = columns[p];
                     if (averaged && log_.n_seen > 0) {
                       value -= columns[k + p] / static_cast<double>(log_.n_seen);
                     }
                   }
                 }
               });
  return values;
}

}  // namespace filbert
