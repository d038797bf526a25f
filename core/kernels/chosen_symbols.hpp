// The symbols of an approximate tree kernel (Rieck, Brefeld & Krueger 2008, Eq. 2): only nodes that
// have one of them are roots of fragments. What is below such a node counts as ever.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// What nodes are chosen by. A leaf has no production: there its label alone is the symbol.
enum class SymbolKind { label, production };

// Symbols are texts, so they mean the same in every forest; those that a forest does not have mean
// nothing there.
class ChosenSymbols {
 public:
  // A symbol is a label, or the labels of a node and of its children.
  ChosenSymbols(SymbolKind kind, std::span<const std::vector<std::string>> symbols);

  bool has(const Dag& dag, NodeId u) const;
  std::vector<std::uint8_t> of_nodes(const Dag& dag) const;

 private:
  SymbolKind kind_;
  std::unordered_set<std::string> keys_;
};

// Which nodes are roots of fragments, by node; empty: all.
std::vector<std::uint8_t> counted_nodes(const KernelSpec& spec, const Dag& dag);

// Which nodes are such a root or below one, by node; empty: all.
std::vector<std::uint8_t> needed_nodes(const KernelSpec& spec, const Dag& dag);

// As count_occurrences, for a kernel: nodes that are not chosen have the count 0, and those that
// are below no chosen one are left out. So all children of a node that is there are there too.
Occurrences count_roots(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                        std::span<const std::uint32_t> class_of, int n_threads, const Watch& watch);

// The symbols of a forest: each node's number, and for each number a node that has the symbol
// (kNone where there is none).
struct NodeSymbols {
  std::vector<std::uint32_t> of;
  std::vector<NodeId> example;
};

NodeSymbols node_symbols(const Dag& dag, SymbolKind kind);

// The labels of each symbol, as ChosenSymbols takes them; none where no node has the number.
std::vector<std::vector<std::string>> symbol_labels(const Dag& dag, const NodeSymbols& symbols,
                                                    SymbolKind kind);

// How often all trees together contain each node.
std::vector<double> node_totals(const Dag& dag, std::span<const NodeId> roots);

}  // namespace filbert
