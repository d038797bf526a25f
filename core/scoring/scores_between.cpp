#include "scoring/scores_between.hpp"

#include <cmath>
#include <cstdint>

#include "base/errors.hpp"
#include "forest/sides.hpp"
#include "kernels/chosen_symbols.hpp"

namespace filbert {

namespace {

// D f for the weights f of all nodes, both by the numbers of the factors.
template <class Real>
std::vector<Real> delta_times(const Factors<Real>& factors, const std::vector<Real>& f,
                              const StopToken& token) {
  const bool has_values = !factors.set_values.empty();
  std::vector<Real> out(f.size());
  for (NodeId u = 0; u < f.size(); ++u) out[u] = factors.residual[u] * f[u];
  for (std::uint32_t t = 0; t < factors.mass.size(); ++t) {
    if (t % 4096 == 0) token.check();
    const std::uint64_t begin = factors.set_begin[t], end = factors.set_begin[t + 1];
    Real sum(0.0);
    for (std::uint64_t k = begin; k < end; ++k) {
      const Real& own = f[factors.nodes[k]];
      sum += has_values ? factors.set_values[k] * own : own;
    }
    if (is_zero(sum)) continue;
    sum *= factors.mass[t];
    for (std::uint64_t k = begin; k < end; ++k) {
      out[factors.nodes[k]] += has_values ? factors.set_values[k] * sum : sum;
    }
  }
  return out;
}

template <class Real>
std::vector<double> scores(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                           std::span<const double> weights, std::size_t n_columns,
                           const FactorLimits& limits, int n_threads, const Watch& watch) {
  const Factors<Real> factors = factorize<Real>(spec, dag, limits, n_threads, watch);
  const std::vector<std::uint8_t> counted = counted_nodes(spec, dag);
  const auto counts = [&](NodeId u) {
    if (!counted.empty() && counted[u] == 0) return false;
    return spec->counts_leaves() || !dag.is_leaf(u);
  };
  const auto in_forest = [&](NodeId u) {
    return factors.original.empty() ? u : factors.original[u];
  };
  const std::size_t n_first = weights.size() / n_columns;
  std::vector<double> out((roots.size() - n_first) * n_columns);
  const double steps = 10.0 * static_cast<double>(factors.nodes.size() * n_columns);
  const auto score_column = [&](std::size_t c, int, const StopToken& token) {
    std::vector<Real> of_node(dag.size(), Real(0.0));
    for (std::size_t i = 0; i < n_first; ++i) {
      of_node[roots[i]] += Real(weights[i * n_columns + c]);
    }
    for (NodeId u = static_cast<NodeId>(dag.size()); u-- > 0;) {  // parents before children
      for (const NodeId child : dag.children(u)) of_node[child] += of_node[u];
    }
    std::vector<Real> f(dag.size(), Real(0.0));
    for (NodeId u = 0; u < dag.size(); ++u) {
      if (counts(in_forest(u))) f[u] = of_node[in_forest(u)];
    }
    f = delta_times(factors, f, token);
    for (NodeId u = 0; u < dag.size(); ++u) {
      of_node[in_forest(u)] = counts(in_forest(u)) ? f[u] : Real(0.0);
    }
    for (NodeId u = 0; u < dag.size(); ++u) {  // children before parents
      for (const NodeId child : dag.children(u)) of_node[u] += of_node[child];
    }
    for (std::size_t i = n_first; i < roots.size(); ++i) {
      out[(i - n_first) * n_columns + c] = Wide(of_node[roots[i]]).to_double();
    }
  };
  parallel_for(n_columns, threads_for(steps, n_threads), watch, score_column);
  for (const double score : out) {
    if (!std::isfinite(score)) {
      throw KernelOverflow("a sum of kernel values is beyond the range of float64");
    }
  }
  return out;
}

}  // namespace

std::vector<double> scores_between(const KernelSpec& spec, const Dag& dag,
                                   std::span<const NodeId> roots, std::span<const double> weights,
                                   std::size_t n_columns, FactorLimits limits, int n_threads,
                                   const Watch& watch) {
  const std::vector<std::uint8_t> sides = sides_of(dag, roots, weights.size() / n_columns);
  limits.sides = sides;
  limits.any_order = true;
  const bool narrow = fits_double(spec, dag, limits, n_threads, watch);
  const auto with = narrow ? scores<double> : scores<Wide>;
  return with(spec, dag, roots, weights, n_columns, limits, n_threads, watch);
}

}  // namespace filbert
