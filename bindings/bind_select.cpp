#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"

namespace filbert {

namespace {

// The symbol of each node, and the labels of the symbols.
std::tuple<NumpyArray<std::uint32_t>, std::vector<std::vector<std::string>>> symbols_of(
    const Dag& dag, bool by_production) {
  const SymbolKind kind = by_production ? SymbolKind::production : SymbolKind::label;
  NodeSymbols symbols = node_symbols(dag, kind);
  auto labels = symbol_labels(dag, symbols, kind);
  return {to_numpy(std::move(symbols.of)), std::move(labels)};
}

NumpyMatrix forms_by_pairs(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                           const Array<NodeId>& roots, bool normalize,
                           const MatrixOf<double>& weights, const Array<std::uint32_t>& symbol_of,
                           std::size_t n_symbols, int n_threads) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  if (weights.shape(0) != ids.size()) throw nb::value_error("one row of weights for each tree");
  const std::size_t n_columns = weights.shape(1);
  const Watch watch = watch_from_python(nb::none());
  auto forms = without_gil([&] {
    return pair_forms(spec, std::move(dag), std::move(ids), normalize,
                      {weights.data(), weights.size()}, n_columns,
                      {symbol_of.data(), symbol_of.size()}, n_symbols, n_threads, watch);
  });
  return to_matrix(std::move(forms), n_symbols, n_columns);
}

}  // namespace

void bind_select(nb::module_& m) {
  m.def("node_symbols", &symbols_of, nb::arg("dag"), nb::arg("by_production"));
  m.def(
      "node_totals",
      [](const Dag& dag, const Array<NodeId>& roots) {
        return to_numpy(node_totals(dag, checked_roots(dag, roots)));
      },
      nb::arg("dag"), nb::arg("roots"));
  m.def("symbol_forms_by_pairs", &forms_by_pairs, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
        nb::arg("normalize"), nb::arg("weights"), nb::arg("symbol_of"), nb::arg("n_symbols"),
        nb::arg("n_threads"));
}

}  // namespace filbert
