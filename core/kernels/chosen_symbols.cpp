#include "kernels/chosen_symbols.hpp"

#include <utility>

#include "forest/productions.hpp"

namespace filbert {

namespace {

// No label has a NUL.
constexpr char kBetween = '\0';

std::string key_of(std::span<const std::string> labels) {
  std::string key;
  for (const std::string& label : labels) {
    if (!key.empty()) key += kBetween;
    key += label;
  }
  return key;
}

std::string key_of(const Dag& dag, NodeId u, SymbolKind kind) {
  std::string key(dag.labels().text(dag.label(u)));
  if (kind == SymbolKind::label) return key;
  for (const NodeId child : dag.children(u)) {
    key += kBetween;
    key += dag.labels().text(dag.label(child));
  }
  return key;
}

// Each tree's chosen nodes, and the nodes below them, which have count 0 unless they are chosen.
Occurrences with_roots_only(const Occurrences& x, const std::vector<std::uint8_t>& chosen,
                            const Dag& dag, const StopToken& token) {
  std::vector<std::uint32_t> below(dag.size(), kNone);  // the last tree in which it is below one
  Occurrences kept{{0}, {}, {}};
  for (std::uint32_t tree = 0; tree < x.n_trees(); ++tree) {
    const auto nodes = x.nodes_of(tree);
    const auto counts = x.counts_of(tree);
    for (std::size_t i = nodes.size(); i-- > 0;) {  // parents before children
      const NodeId u = nodes[i];
      if (chosen[u] != 0) below[u] = tree;
      if (below[u] != tree) continue;
      for (const NodeId child : dag.children(u)) below[child] = tree;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (below[nodes[i]] != tree) continue;
      kept.nodes.push_back(nodes[i]);
      kept.counts.push_back(chosen[nodes[i]] != 0 ? counts[i] : 0);
    }
    kept.row_begin.push_back(kept.nodes.size());
    token.check();
  }
  return kept;
}

}  // namespace

ChosenSymbols::ChosenSymbols(SymbolKind kind, std::span<const std::vector<std::string>> symbols)
    : kind_(kind) {
  for (const std::vector<std::string>& symbol : symbols) keys_.insert(key_of(symbol));
}

bool ChosenSymbols::has(const Dag& dag, NodeId u) const {
  return keys_.contains(key_of(dag, u, kind_));
}

std::vector<std::uint8_t> ChosenSymbols::of_nodes(const Dag& dag) const {
  const NodeSymbols symbols = node_symbols(dag, kind_);
  std::vector<std::uint8_t> chosen;
  chosen.reserve(symbols.example.size());
  for (const NodeId u : symbols.example) chosen.push_back(u != kNone && has(dag, u));
  std::vector<std::uint8_t> of(dag.size());
  for (NodeId u = 0; u < dag.size(); ++u) of[u] = chosen[symbols.of[u]];
  return of;
}

std::vector<std::uint8_t> counted_nodes(const KernelSpec& spec, const Dag& dag) {
  return spec.chosen ? spec.chosen->of_nodes(dag) : std::vector<std::uint8_t>();
}

std::vector<std::uint8_t> needed_nodes(const KernelSpec& spec, const Dag& dag) {
  std::vector<std::uint8_t> needed = counted_nodes(spec, dag);
  for (std::size_t u = needed.size(); u-- > 0;) {  // parents before children
    if (needed[u] == 0) continue;
    for (const NodeId child : dag.children(static_cast<NodeId>(u))) needed[child] = 1;
  }
  return needed;
}

Occurrences count_roots(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                        std::span<const std::uint32_t> class_of, int n_threads,
                        const Watch& watch) {
  Occurrences x = count_occurrences(dag, roots, class_of, n_threads, watch);
  if (!spec.chosen) return x;
  Occurrences kept;
  const double steps = 10.0 * static_cast<double>(x.nodes.size() + dag.size());
  parallel_for(1, threads_for(steps, 1), watch, [&](std::size_t, int, const StopToken& token) {
    kept = with_roots_only(x, spec.chosen->of_nodes(dag), dag, token);
  });
  return kept;
}

NodeSymbols node_symbols(const Dag& dag, SymbolKind kind) {
  NodeSymbols symbols;
  symbols.of.resize(dag.size());
  const bool by_label = kind == SymbolKind::label;
  const std::size_t n_productions = by_label ? 0 : dag.productions().size();
  symbols.example.assign(n_productions + dag.labels().size(), kNone);
  for (NodeId u = 0; u < dag.size(); ++u) {
    const bool own_label = by_label || dag.is_leaf(u);
    symbols.of[u] = own_label ? static_cast<std::uint32_t>(n_productions) + dag.label(u)
                              : dag.productions().of(u);
    if (symbols.example[symbols.of[u]] == kNone) symbols.example[symbols.of[u]] = u;
  }
  return symbols;
}

std::vector<std::vector<std::string>> symbol_labels(const Dag& dag, const NodeSymbols& symbols,
                                                    SymbolKind kind) {
  std::vector<std::vector<std::string>> all;
  for (const NodeId u : symbols.example) {
    std::vector<std::string>& labels = all.emplace_back();
    if (u == kNone) continue;
    labels.emplace_back(dag.labels().text(dag.label(u)));
    if (kind == SymbolKind::label) continue;
    for (const NodeId child : dag.children(u)) {
      labels.emplace_back(dag.labels().text(dag.label(child)));
    }
  }
  return all;
}

std::vector<double> node_totals(const Dag& dag, std::span<const NodeId> roots) {
  std::vector<double> totals(dag.size(), 0.0);
  for (const NodeId root : roots) totals[root] += 1.0;
  for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
    for (const NodeId child : dag.children(static_cast<NodeId>(u))) totals[child] += totals[u];
  }
  return totals;
}

}  // namespace filbert
