#include "factors/factors.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/chosen_symbols.hpp"

namespace filbert {

bool fits_double(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits, int n_threads,
                 const Watch& watch) {
  return spec->fits_double({dag, limits, needed_nodes(spec, dag), std::max(1, n_threads), watch});
}

template <class Real>
Factors<Real> factorize(const KernelSpec& spec, const Dag& dag, const FactorLimits& limits,
                        int n_threads, const Watch& watch) {
  Factors<Real> factors;
  spec->factorize({dag, limits, needed_nodes(spec, dag), std::max(1, n_threads), watch}, factors);
  return factors;
}

template Factors<double> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                   const Watch&);
template Factors<Wide> factorize(const KernelSpec&, const Dag&, const FactorLimits&, int,
                                 const Watch&);

template <class Real>
void list_rows(Factors<Real>& factors) {
  factors.begin.assign(factors.residual.size() + 1, 0);
  for (const NodeId u : factors.nodes) ++factors.begin[u + 1];
  std::partial_sum(factors.begin.begin(), factors.begin.end(), factors.begin.begin());
  factors.features.resize(factors.nodes.size());
  factors.values.resize(factors.set_values.size());
  std::vector<std::uint64_t> next(factors.begin.begin(), factors.begin.end() - 1);
  for (std::uint32_t t = 0; t < factors.mass.size(); ++t) {
    for (std::uint64_t k = factors.set_begin[t]; k < factors.set_begin[t + 1]; ++k) {
      const std::uint64_t at = next[factors.nodes[k]]++;
      factors.features[at] = t;
      if (!factors.values.empty()) factors.values[at] = factors.set_values[k];
    }
  }
}

template void list_rows(Factors<double>&);
template void list_rows(Factors<Wide>&);

}  // namespace filbert
