#include "scoring/operator.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <utility>

#include "factors/sum_factors.hpp"
#include "forest/occurrences.hpp"
#include "forest/sides.hpp"
#include "kernels/chosen_symbols.hpp"
#include "rows/matrix.hpp"
#include "scoring/factor_scores.hpp"
#include "scoring/symbol_forms.hpp"

namespace filbert {

namespace {

constexpr std::size_t kPart = 4096;  // trees or nodes per task

// The first theta, as a share of kernel_tol times the weight of a single node. On treebanks,
// programs and documents the largest loss is then below kernel_tol (docs/certified-factors.md).
constexpr double kFirstTheta = 0.1;

// Up to this number of nodes, a tree's kernel with itself takes less time by pairs of nodes than by
// rows (measured on questions, sentences and predicate-argument trees).
constexpr std::uint64_t kSmall = 64;

double as_double(double x) { return x; }
double as_double(const Wide& x) { return x.to_double(); }

// Delta times f for all nodes; f[u * k + c], and the result has the same layout. f is made from the
// weights of trees by passing them down the DAG.
template <class Real>
std::vector<Real> times_delta(const Factors<Real>& factors, std::span<const Real> f, std::size_t k,
                              int n_threads, const Watch& watch) {
  const std::size_t n_features = factors.mass.size();
  const std::size_t n_nodes = factors.residual.size();
  const bool has_values = !factors.values.empty();
  std::vector<Real> of_feature(n_features * k, Real(0.0));
  parallel_for((n_features + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int, const StopToken& token) {
                 token.check();
                 const std::size_t last = std::min(n_features, (part + 1) * kPart);
                 for (std::size_t t = part * kPart; t < last; ++t) {
                   Real* const sum = of_feature.data() + t * k;
                   for (std::uint64_t i = factors.set_begin[t]; i < factors.set_begin[t + 1]; ++i) {
                     const Real* const own = f.data() + factors.nodes[i] * k;
                     const Real value = has_values ? factors.set_values[i] : Real(1.0);
                     for (std::size_t c = 0; c < k; ++c) sum[c] += value * own[c];
                   }
                   for (std::size_t c = 0; c < k; ++c) sum[c] *= factors.mass[t];
                 }
               });
  std::vector<Real> out(n_nodes * k, Real(0.0));
  parallel_for((n_nodes + kPart - 1) / kPart, n_threads, watch,
               [&](std::size_t part, int, const StopToken& token) {
                 token.check();
                 const std::size_t last = std::min(n_nodes, (part + 1) * kPart);
                 for (std::size_t u = part * kPart; u < last; ++u) {
                   Real* const sum = out.data() + u * k;
                   for (std::size_t c = 0; c < k; ++c) {
                     sum[c] = factors.residual[u] * f[u * k + c];
                   }
                   for (std::uint64_t i = factors.begin[u]; i < factors.begin[u + 1]; ++i) {
                     const Real* const other = of_feature.data() + factors.features[i] * k;
                     const Real value = has_values ? factors.values[i] : Real(1.0);
                     for (std::size_t c = 0; c < k; ++c) sum[c] += value * other[c];
                   }
                 }
               });
  return out;
}

template <class Real>
std::vector<Real> handed_down(const Dag& dag, std::vector<Real> f, std::size_t k) {
  for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
    for (const NodeId child : dag.children(static_cast<NodeId>(u))) {
      for (std::size_t c = 0; c < k; ++c) f[child * k + c] += f[u * k + c];
    }
  }
  return f;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

double scaled(const TreeFactors& trees, std::size_t tree, double value) {
  return value * trees.scale[tree];
}
double scaled(const TreeFactors& trees, std::size_t tree, const Wide& value) {
  const Wide& norm = trees.norm[tree];
  return norm.is_zero() ? 0.0 : ratio(value, norm, Wide(1.0));
}

double weight_over_norm(const TreeFactors& trees, std::size_t tree, double weight, double) {
  return weight * trees.scale[tree];
}
Wide weight_over_norm(const TreeFactors& trees, std::size_t tree, double weight, const Wide&) {
  const Wide& norm = trees.norm[tree];
  return norm.is_zero() ? Wide(0.0) : Wide(weight) / norm;
}

}  // namespace

KernelOperator::KernelOperator(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                               std::vector<NodeId> roots, const OperatorOptions& options,
                               int n_threads, const Watch& watch)
    : dag_(std::move(dag)), roots_(std::move(roots)) {
  if (!fits_double(spec, *dag_, options.limits, n_threads, watch)) {
    make<Wide>(spec, options, {}, n_threads, watch);
  } else if (options.kernel_tol > 0.0 && spec->has_light_fragments()) {
    make_pruned(spec, options, n_threads, watch);
  } else {
    make<double>(spec, options, {}, n_threads, watch);
  }
}

// A tree loses up to some hundred times theta. How much is known only afterwards: if it is too
// much, theta is lowered, and all is done again.
void KernelOperator::make_pruned(const KernelSpec& spec, OperatorOptions options, int n_threads,
                                 const Watch& watch) {
  const double start = cpu_seconds();
  const std::vector<double> selves = selves_of_trees(spec, n_threads, watch);
  counted_ = counted_nodes(spec, *dag_);
  const std::vector<double> weights = weights_of_nodes(options, selves);
  options.limits.weights = weights;
  theta = kFirstTheta * options.kernel_tol * spec->least_delta();
  for (;;) {
    options.limits.theta = theta;
    make<double>(spec, options, selves, n_threads, watch);
    const double share = largest_share_lost();
    if (share <= options.kernel_tol) break;
    trees_ = {};
    nodes_ = {};
    theta *= 0.8 * options.kernel_tol / share;
    if (theta > 0.0) continue;
    theta = options.limits.theta = 0.0;  // the bound is beyond double: nothing is dropped
    make<double>(spec, options, {}, n_threads, watch);
    break;
  }
  cpu_factorizing += cpu_seconds() - start - cpu_factorizing - cpu_assembling;
}

std::vector<double> KernelOperator::selves_of_trees(const KernelSpec& spec, int n_threads,
                                                    const Watch& watch) const {
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const bool is_small = !spec.chosen && dag_->sizes()[roots_[i]] <= kSmall;
    (is_small ? small : large).push_back(i);
  }
  const auto roots_of = [&](const std::vector<std::size_t>& trees) {
    std::vector<NodeId> roots;
    for (const std::size_t i : trees) roots.push_back(roots_[i]);
    return roots;
  };
  std::vector<double> selves(roots_.size());
  const auto put = [&](const std::vector<std::size_t>& trees, const auto& values) {
    for (std::size_t k = 0; k < trees.size(); ++k) selves[trees[k]] = as_double(values[k]);
  };
  if (!small.empty()) put(small, spec->small_squares(*dag_, roots_of(small), n_threads, watch));
  if (large.empty()) return selves;
  const std::vector<NodeId> roots = roots_of(large);
  put(large, self_kernels(spec, Trees{*dag_, roots}, n_threads, watch));
  return selves;
}

// The weights of trees over their norms, passed down to their nodes.
std::vector<double> KernelOperator::weights_of_nodes(const OperatorOptions& options,
                                                     const std::vector<double>& selves) const {
  std::vector<double> weights(dag_->size(), 0.0);
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const double weight = options.row_weights.empty() ? 1.0 : options.row_weights[i];
    const double norm = options.normalize ? std::sqrt(selves[i]) : 1.0;
    if (norm > 0.0) weights[roots_[i]] += weight / norm;
  }
  weights = handed_down(*dag_, std::move(weights), 1);
  for (std::size_t u = 0; u < counted_.size(); ++u) {
    if (counted_[u] == 0) weights[u] = 0.0;
  }
  return weights;
}

double KernelOperator::largest_share_lost() const {
  double most = 0.0;
  for (std::size_t i = 0; i < n_trees(); ++i) {
    const double share = trees_.self[i] > 0.0 ? trees_.lost[i] / trees_.self[i] : 0.0;
    if (!std::isfinite(share)) return std::numeric_limits<double>::infinity();
    most = std::max(most, share);
  }
  return most;
}

template <class Real>
void KernelOperator::make(const KernelSpec& spec, const OperatorOptions& options,
                          const std::vector<double>& selves, int n_threads, const Watch& watch) {
  // Assembly takes about a quarter of the time, so progress waits for it at three quarters.
  const Watch factorizing = [&](std::size_t done, std::size_t total) {
    if (watch) watch(3 * done, 4 * total);
  };
  const Watch assembling = [&](std::size_t, std::size_t) {
    if (watch) watch(3, 4);
  };
  const double start = cpu_seconds();
  std::vector<std::uint8_t> sides;
  FactorLimits limits = options.limits;
  limits.any_order = !options.keep_nodes;
  if (options.n_first > 0) {
    sides = sides_of(*dag_, roots_, options.n_first);
    limits.sides = sides;
  }
  Factors<Real> factors = factorize<Real>(spec, *dag_, limits, n_threads, factorizing);
  const double factorized = cpu_seconds();
  n_features = factors.mass.size();
  n_node_entries = factors.nodes.size();
  n_rounds = factors.n_rounds;
  n_blocks_by_pairs = factors.n_blocks_by_pairs;
  counted_ = counted_nodes(spec, *dag_);
  const AssemblyOptions assembly{spec->counts_leaves(), options.normalize, options.limits.max_bytes,
                                 options.keep_nodes,    counted_,          selves};
  const std::uint64_t peak = factors.peak_bytes;
  if (options.keep_nodes) list_rows(factors);
  trees_ = assemble(std::move(factors), *dag_, roots_, assembly, n_threads, assembling);
  cpu_factorizing = factorized - start;
  cpu_assembling = cpu_seconds() - factorized;
  peak_bytes = std::max(peak, trees_.peak_bytes);
  if (options.keep_nodes) nodes_ = std::move(factors);
}

std::vector<double> KernelOperator::scores(std::span<const double> weights, std::size_t n_columns,
                                           int n_threads, const Watch& watch) const {
  return factor_scores(SingleFactors(trees_), weights, n_columns, n_threads, watch);
}

// f: the weights of trees passed down to their nodes, 0 if a node is no root of fragments.
template <class Real>
std::vector<Real> KernelOperator::node_weights(const Factors<Real>& factors,
                                               std::span<const double> weights,
                                               std::size_t n_columns) const {
  const std::size_t k = n_columns;
  if (factors.residual.size() != dag_->size()) {
    throw std::logic_error("contributions need the factors of nodes, which were not kept");
  }
  std::vector<Real> f(dag_->size() * k, Real(0.0));
  for (std::size_t i = 0; i < n_trees(); ++i) {
    for (std::size_t c = 0; c < k; ++c) {
      f[roots_[i] * k + c] += weight_over_norm(trees_, i, weights[i * k + c], Real(0.0));
    }
  }
  f = handed_down(*dag_, std::move(f), k);
  for (std::size_t i = 0; i < counted_.size() * k; ++i) {
    if (counted_[i / k] == 0) f[i] = Real(0.0);
  }
  return f;
}

std::vector<double> KernelOperator::symbol_forms(std::span<const double> weights,
                                                 std::size_t n_columns,
                                                 std::span<const std::uint32_t> symbol_of,
                                                 std::size_t n_symbols, int n_threads,
                                                 const Watch& watch) const {
  return std::visit(
      [&]<class Real>(const Factors<Real>& factors) {
        const std::vector<Real> f = node_weights(factors, weights, n_columns);
        return factor_forms<Real>(factors, f, n_columns, symbol_of, n_symbols, n_threads, watch);
      },
      nodes_);
}

NodeContributions KernelOperator::contributions(std::span<const double> weights,
                                                std::size_t n_columns, std::size_t first,
                                                int n_threads, const Watch& watch) const {
  const std::size_t k = n_columns;
  return std::visit(
      [&]<class Real>(const Factors<Real>& factors) {
        const std::vector<Real> f = node_weights(factors, weights, k);
        const std::vector<Real> values = times_delta<Real>(factors, f, k, n_threads, watch);
        std::vector<std::uint32_t> keep(dag_->size());
        for (std::size_t u = 0; u < dag_->size(); ++u) {
          const bool counted = counted_.empty() || counted_[u] != 0;
          keep[u] = !counted || is_zero(factors.self[u]) ? kNone : 0;
        }
        const Occurrences x =
            count_occurrences(*dag_, std::span(roots_).subspan(first), keep, n_threads, watch);
        NodeContributions out;
        out.nodes = x.nodes;
        out.counts = x.counts;
        for (std::size_t i = 0; i < x.n_trees(); ++i) {
          out.trees.insert(out.trees.end(), x.nodes_of(i).size(), static_cast<std::uint32_t>(i));
          for (const NodeId u : x.nodes_of(i)) {
            for (std::size_t c = 0; c < k; ++c) {
              out.values.push_back(scaled(trees_, first + i, values[u * k + c]));
            }
          }
        }
        return out;
      },
      nodes_);
}

}  // namespace filbert
