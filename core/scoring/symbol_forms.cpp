#include "scoring/symbol_forms.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "scoring/kernel_dag.hpp"
#include "scoring/tree_nodes.hpp"

namespace filbert {

namespace {

double narrowed(double value) { return value; }
double narrowed(const Wide& value) { return value.to_double(); }

// One column of the weights, in one pass over the factors. Nodes that share a feature have one
// label and usually one symbol; with partial trees they may have several productions.
template <class Real>
class FactorForms {
 public:
  FactorForms(const Factors<Real>& factors, std::span<const std::uint32_t> symbol_of,
              std::size_t n_symbols)
      : factors_(factors),
        symbol_of_(symbol_of),
        forms_(n_symbols, Real(0.0)),
        sums_(n_symbols),
        last_(n_symbols, kNone) {}

  // weight(u): the weight of node u.
  template <class Weight>
  const std::vector<Real>& sum(const Weight& weight, const StopToken& token) {
    for (std::uint32_t t = 0; t < factors_.mass.size(); ++t) {
      add_feature(t, weight);
      if (t % 4096 == 0) token.check();
    }
    for (NodeId u = 0; u < factors_.residual.size(); ++u) {
      forms_[symbol_of_[u]] += factors_.residual[u] * weight(u) * weight(u);
    }
    return forms_;
  }

 private:
  template <class Weight>
  void add_feature(std::uint32_t t, const Weight& weight) {
    met_.clear();
    for (std::uint64_t i = factors_.set_begin[t]; i < factors_.set_begin[t + 1]; ++i) {
      const std::uint32_t symbol = symbol_of_[factors_.nodes[i]];
      if (last_[symbol] != t) {
        last_[symbol] = t;
        sums_[symbol] = Real(0.0);
        met_.push_back(symbol);
      }
      const Real value = factors_.set_values.size() > 0 ? factors_.set_values[i] : Real(1.0);
      sums_[symbol] += value * weight(factors_.nodes[i]);
    }
    for (const std::uint32_t symbol : met_) {
      forms_[symbol] += factors_.mass[t] * sums_[symbol] * sums_[symbol];
    }
  }

  const Factors<Real>& factors_;
  std::span<const std::uint32_t> symbol_of_;
  std::vector<Real> forms_;          // by symbol
  std::vector<Real> sums_;           // of the current feature, by symbol
  std::vector<std::uint32_t> last_;  // by symbol: the feature of its sum
  std::vector<std::uint32_t> met_;   // the symbols of the current feature
};

// Makes one DAG of the trees, with weights f, and compares it with itself. Calls add(symbol,
// value).
template <class Add>
void compare_with_itself(const TrainingTrees& trees, std::span<const double> weights,
                         std::span<const std::uint32_t> symbol_of, const StopToken& token,
                         const Add& add) {
  std::vector<std::uint32_t> all(trees.size());
  std::iota(all.begin(), all.end(), 0u);
  const TreeNodes nodes = trees.together(all, weights);
  KernelDag dag;
  const std::span<const std::uint32_t> entries = dag.add(nodes, 1.0);
  std::vector<std::vector<std::uint32_t>> symbols(dag.n_lists());  // of the entries of each list
  for (std::uint32_t v = 0; v < nodes.size(); ++v) {
    symbols[dag.place(entries[v]).list].push_back(symbol_of[nodes.nodes[v]]);
  }
  const auto use = [&](std::uint32_t v, std::uint32_t number, const double* deltas) {
    const std::uint32_t symbol = symbol_of[nodes.nodes[v]];
    const KernelDag::List& list = dag.list(number);
    double sum = 0.0;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (symbols[number][i] == symbol) sum += list.weights[i] * deltas[i];
    }
    add(symbol, nodes.weights[v] * sum);
  };
  DagKernel(trees.spec()).rows(dag, nodes, token, use);
}

}  // namespace

template <class Real>
std::vector<double> factor_forms(const Factors<Real>& factors, std::span<const Real> f,
                                 std::size_t n_columns, std::span<const std::uint32_t> symbol_of,
                                 std::size_t n_symbols, int n_threads, const Watch& watch) {
  std::vector<double> forms(n_symbols * n_columns);
  parallel_for(n_columns, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
    FactorForms<Real> column(factors, symbol_of, n_symbols);
    const auto& sums = column.sum([&](NodeId u) { return f[u * n_columns + c]; }, token);
    for (std::size_t s = 0; s < n_symbols; ++s) {
      const double value = narrowed(sums[s]);
      if (!std::isfinite(value)) {
        throw KernelOverflow("a sum of kernel values is beyond the range of float64");
      }
      forms[s * n_columns + c] = value;
    }
  });
  return forms;
}

template std::vector<double> factor_forms(const Factors<double>&, std::span<const double>,
                                          std::size_t, std::span<const std::uint32_t>, std::size_t,
                                          int, const Watch&);
template std::vector<double> factor_forms(const Factors<Wide>&, std::span<const Wide>, std::size_t,
                                          std::span<const std::uint32_t>, std::size_t, int,
                                          const Watch&);

std::vector<double> pair_forms(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                               std::vector<NodeId> roots, bool normalize,
                               std::span<const double> weights, std::size_t n_columns,
                               std::span<const std::uint32_t> symbol_of, std::size_t n_symbols,
                               int n_threads, const Watch& watch) {
  std::vector<double> forms(n_symbols * n_columns, 0.0);
  const TrainingTrees trees(spec, std::move(dag), std::move(roots), normalize, n_threads, watch);
  parallel_for(n_columns, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
    std::vector<double> scaled(trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
      scaled[i] = weights[i * n_columns + c] * trees.scale(i);
    }
    compare_with_itself(trees, scaled, symbol_of, token, [&](std::uint32_t symbol, double value) {
      forms[symbol * n_columns + c] += value;
    });
  });
  return forms;
}

}  // namespace filbert
