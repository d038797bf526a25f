#include "scoring/row_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/errors.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/node_classes.hpp"
#include "rows/matrix.hpp"
#include "rows/narrow.hpp"
#include "scoring/tree_nodes.hpp"

namespace filbert {

namespace {

// A tree with more steps is scored through the kernel matrix, which uses threads for one tree and
// has a faster algorithm for long chains.
constexpr double kManySteps = 3e8;
constexpr double kTooManySteps = 1e10;

bool is_narrow(const Wide& norm) {
  return norm.is_zero() || (norm.to_double() < kLargestNorm && norm.to_double() > 1 / kLargestNorm);
}

double divided(double x, const Wide& norm) { return x / norm.to_double(); }
double divided(const Wide& x, const Wide& norm) { return ratio(x, norm, Wide(1.0)); }

}  // namespace

// ------------------------------------------------------------------------------ support vectors

RowScorer::RowScorer(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                     std::vector<NodeId> roots, std::vector<double> coef, std::size_t n_columns,
                     bool normalize, int n_threads, const Watch& watch)
    : spec_(spec),
      dag_(std::move(dag)),
      roots_(std::move(roots)),
      coef_(std::move(coef)),
      n_columns_(n_columns),
      normalize_(normalize) {
  if (!spec_->scores_by_rows()) {
    throw std::invalid_argument("rows are for subtrees and subset trees");
  }
  NodeClasses classes = classify(spec_, *dag_, roots_, *dag_, roots_);
  class_of_ = std::move(classes.rows);
  n_classes_ = classes.size;
  const Occurrences x = count_roots(spec_, *dag_, roots_, class_of_, n_threads, watch);
  tile_ = std::make_unique<ColumnTile>(*spec_.kernel, *dag_, class_of_, n_classes_);
  tile_->load(x, {}, 0, roots_.size());
  narrow_ = spec_->least_delta() >= kSmallestDelta;
  if (normalize_) {
    for (const Wide& self : self_kernels(spec_, {*dag_, roots_}, n_threads, watch)) {
      norms_.push_back(sqrt(self));
      narrow_ = narrow_ && is_narrow(norms_.back());
    }
  }
  if (narrow_) {
    weights_ = weights<double>(n_threads, watch);
  } else {
    std::call_once(wide_once_, [&] { wide_weights_ = weights<Wide>(n_threads, watch); });
  }
}

template <class Real>
RowWeights<Real> RowScorer::weights(int n_threads, const Watch& watch) const {
  const std::size_t n = roots_.size();
  const std::size_t k = n_columns_;
  RowWeights<Real> w;
  w.n_columns = k;
  w.of_node.assign(tile_->n_columns() * k, Real(0.0));
  w.of_class.assign(std::size_t{n_classes_} * k, Real(0.0));
  const auto scaled = [&](std::size_t c, std::size_t i) {
    const double coef = coef_[c * n + i];
    if (!normalize_) return Real(coef);
    if (norms_[i].is_zero()) return Real(0.0);
    if constexpr (std::is_same_v<Real, double>) {
      return coef / norms_[i].to_double();
    } else {
      return Wide(coef) / norms_[i];
    }
  };
  const double steps = 30.0 * static_cast<double>(n * k);
  parallel_for(k, threads_for(steps, n_threads), watch,
               [&](std::size_t c, int, const StopToken& token) {
                 for (std::size_t i = 0; i < n; ++i) {
                   const Real weight = scaled(c, i);
                   if (is_zero(weight)) continue;
                   for (const auto [column, count] : tile_->terms(i)) {
                     w.of_node[column * k + c] += weight * Real(count);
                   }
                   token.check();
                 }
                 for (std::size_t column = 0; column < tile_->n_columns(); ++column) {
                   const std::size_t cls = class_of_[tile_->node(column)];
                   w.of_class[cls * k + c] += w.of_node[column * k + c];
                 }
               });
  return w;
}

RowScorer::~RowScorer() = default;

// ------------------------------------------------------------------------------ new trees

std::vector<MappedTree> RowScorer::map(Trees trees, std::size_t first, std::size_t last,
                                       int n_threads, const Watch& watch) const {
  double steps = 0.0;
  for (std::size_t i = first; i < last; ++i) {
    steps += 30.0 * static_cast<double>(trees.dag.sizes()[trees.roots[i]]);
  }
  std::vector<MappedTree> mapped(last - first);
  parallel_for(mapped.size(), threads_for(steps, n_threads), watch,
               [&](std::size_t task, int, const StopToken& token) {
                 const std::size_t i = first + task;
                 mapped[task] = map_tree(spec_, *dag_, *tile_, trees.dag, trees.roots[i], i, token);
               });
  return mapped;
}

// ------------------------------------------------------------------------------ norms

// The norms of trees with many pairs of their own nodes: on threads, and with the faster algorithm
// for long chains.
void RowScorer::large_norms(Trees trees, std::vector<MappedTree>& mapped, double max_steps,
                            int n_threads, const Watch& watch) const {
  if (!normalize_) return;
  for (MappedTree& one : mapped) {
    if (one.own_pairs <= kManyOwnPairs || one.steps > max_steps) continue;
    const Trees tree{trees.dag, trees.roots.subspan(one.place, 1)};
    one.norm = sqrt(self_kernels(spec_, tree, n_threads, watch)[0]);
  }
}

Wide RowScorer::norm_of(const MappedTree& mapped) const {
  if (!normalize_) return Wide(1.0);
  if (mapped.norm) return *mapped.norm;
  if (spec_->least_delta() >= kSmallestDelta) {
    const double narrow = spec_->self_kernel(mapped.tree, mapped.productions, As<double>());
    if (narrow < kLargestNarrow) return sqrt(Wide(narrow));
  }
  return sqrt(spec_->self_kernel(mapped.tree, mapped.productions, As<Wide>()));
}

// ------------------------------------------------------------------------------ values

// By node and column: the contribution of an occurrence to the score. False if numbers were out of
// range.
template <class Real>
bool RowScorer::node_values(const MappedTree& mapped, const Wide& norm, const StopToken& token,
                            std::vector<double>& values) const {
  Idle<Real>* idle;
  const RowWeights<Real>* weights_of_support;
  if constexpr (std::is_same_v<Real, double>) {
    idle = &idle_;
    weights_of_support = &weights_;
  } else {
    std::call_once(wide_once_, [&] { wide_weights_ = weights<Wide>(kInline, {}); });
    idle = &wide_idle_;
    weights_of_support = &wide_weights_;
  }
  std::unique_ptr<RowPass<Real>> pass;
  {
    const std::lock_guard lock(idle->mutex);
    if (!idle->passes.empty()) {
      pass = std::move(idle->passes.back());
      idle->passes.pop_back();
    }
  }
  if (!pass) pass = spec_->row_pass(*tile_, *weights_of_support);
  const std::vector<Real>& products = pass->run(mapped, token);
  bool in_range = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = divided(products[i], norm);
    in_range = in_range && std::fabs(values[i]) < kLargestNarrow;
  }
  const std::lock_guard lock(idle->mutex);
  idle->passes.push_back(std::move(pass));
  return in_range;
}

std::vector<double> RowScorer::node_values(const MappedTree& mapped, const StopToken& token) const {
  std::vector<double> values(mapped.tree.size() * n_columns_, 0.0);
  const Wide norm = norm_of(mapped);
  if (norm.is_zero()) return values;  // a tree without fragments
  if (narrow_ && is_narrow(norm) && node_values<double>(mapped, norm, token, values)) return values;
  if (!node_values<Wide>(mapped, norm, token, values)) {
    throw KernelOverflow("the kernel values of tree " + std::to_string(mapped.place) +
                         " with the support vectors are beyond the range of float64");
  }
  return values;
}

// Calls take(tree, values of its nodes) for all trees, except trees of more than max_steps, whose
// indices are returned. On threads, in any order.
template <class Take>
std::vector<std::size_t> RowScorer::visit(Trees trees, double max_steps, int n_threads,
                                          const Watch& watch, const Take& take) const {
  constexpr std::size_t kChunk = 4096;  // the number of mapped trees in memory at a time
  std::vector<std::size_t> left_out;
  for (std::size_t first = 0; first < trees.size(); first += kChunk) {
    const std::size_t last = std::min(first + kChunk, trees.size());
    std::vector<MappedTree> mapped = map(trees, first, last, n_threads, watch);
    large_norms(trees, mapped, max_steps, n_threads, watch);
    double steps = 0.0;
    for (const MappedTree& one : mapped) {
      if (one.steps > max_steps) {
        left_out.push_back(one.place);
      } else {
        steps += one.steps * (1.0 + 0.1 * static_cast<double>(n_columns_));
      }
    }
    parallel_for(mapped.size(), threads_for(steps, n_threads), watch,
                 [&](std::size_t task, int, const StopToken& token) {
                   if (mapped[task].steps > max_steps) return;
                   take(mapped[task], node_values(mapped[task], token));
                 });
  }
  return left_out;
}

std::vector<double> RowScorer::scores(Trees trees, int n_threads, const Watch& watch) const {
  const std::size_t k = n_columns_;
  std::vector<double> out(trees.size() * k, 0.0);
  const auto sum = [&](const MappedTree& mapped, const std::vector<double>& values) {
    double* const scores = out.data() + mapped.place * k;
    for (std::size_t u = 0; u < mapped.tree.size(); ++u) {
      for (std::size_t c = 0; c < k; ++c) scores[c] += mapped.tree.counts[u] * values[u * k + c];
    }
  };
  score_by_pairs(trees, visit(trees, kManySteps, n_threads, watch, sum), n_threads, watch, out);
  return out;
}

void RowScorer::score_by_pairs(Trees trees, std::span<const std::size_t> places, int n_threads,
                               const Watch& watch, std::vector<double>& out) const {
  const std::size_t n = roots_.size();
  std::vector<double> kernels(n);
  for (const std::size_t i : places) {
    kernel_matrix(spec_, {trees.dag, trees.roots.subspan(i, 1)}, {*dag_, roots_}, normalize_,
                  n_threads, watch, kernels.data());
    for (std::size_t c = 0; c < n_columns_; ++c) {
      for (std::size_t j = 0; j < n; ++j) out[i * n_columns_ + c] += coef_[c * n + j] * kernels[j];
    }
  }
}

NodeContributions RowScorer::contributions(Trees trees, int n_threads, const Watch& watch) const {
  const std::size_t k = n_columns_;
  std::vector<NodeContributions> parts(trees.size());
  const auto keep = [&](const MappedTree& mapped, const std::vector<double>& values) {
    NodeContributions& part = parts[mapped.place];
    for (std::uint32_t u = 0; u < mapped.tree.size(); ++u) {
      if (mapped.cls[u] == kNone || mapped.tree.counts[u] == 0) continue;
      part.trees.push_back(static_cast<std::uint32_t>(mapped.place));
      part.nodes.push_back(mapped.tree.nodes[u]);
      part.counts.push_back(mapped.tree.counts[u]);
      part.values.insert(part.values.end(), values.data() + u * k, values.data() + (u + 1) * k);
    }
  };
  const std::vector<std::size_t> left_out = visit(trees, kTooManySteps, n_threads, watch, keep);
  if (!left_out.empty()) {
    throw TooExpensive("the contributions of the nodes of tree " + std::to_string(left_out[0]) +
                           " would take too many steps: explain smaller trees, or parts of it",
                       kTooManySteps);
  }
  NodeContributions all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (NodeContributions& part : parts) {
    append(all.trees, part.trees);
    append(all.nodes, part.nodes);
    append(all.counts, part.counts);
    append(all.values, part.values);
    part = {};
  }
  return all;
}

}  // namespace filbert
