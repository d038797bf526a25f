// The symbols of an approximate tree kernel (Rieck, Brefeld & Krueger 2008, Eq. 2): only nodes that
// have one of them are roots of fragments. Everything below such a node counts as usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

// The property by which nodes are chosen. A leaf has no production: its symbol is its label alone.
enum class SymbolKind { label, production };

// Symbols are texts, so they mean the same in every forest. Symbols that a forest does not have
// have no effect there.
class ChosenSymbols {
 public:
  // The standard library's hash has no seed: symbols of a file could all have the same.
  struct Hash {
    std::size_t operator()(const std::string& key) const noexcept { return hash_bytes(key); }
  };

  // A symbol is a label, or the labels of a node and of its children.
  ChosenSymbols(SymbolKind kind, std::span<const std::vector<std::string>> symbols);

  bool has(const Dag& dag, NodeId u) const;
  std::vector<std::uint8_t> of_nodes(const Dag& dag) const;

 private:
  SymbolKind kind_;
  std::unordered_set<std::string, Hash> keys_;
};

// Which nodes are roots of fragments, by node; empty: all.
std::vector<std::uint8_t> counted_nodes(const KernelSpec& spec, const Dag& dag);

// Which nodes are such a root or below one, by node; empty: all.
std::vector<std::uint8_t> needed_nodes(const KernelSpec& spec, const Dag& dag);

// Like count_occurrences, for a kernel: nodes that are not chosen have count 0, and nodes that are
// not below a chosen node are left out. So every node in the list has all its children in the list.
Occurrences count_roots(const KernelSpec& spec, const Dag& dag, std::span<const NodeId> roots,
                        std::span<const std::uint32_t> class_of, int n_threads, const Watch& watch);

// The symbols of a forest: the number of each node's symbol, and for each number a node that has
// the symbol (kNone if there is none).
struct NodeSymbols {
  std::vector<std::uint32_t> of;
  std::vector<NodeId> example;
};

NodeSymbols node_symbols(const Dag& dag, SymbolKind kind);

// The labels of each symbol, as ChosenSymbols takes them; empty if no node has the number.
std::vector<std::vector<std::string>> symbol_labels(const Dag& dag, const NodeSymbols& symbols,
                                                    SymbolKind kind);

// How often all trees together contain each node.
std::vector<double> node_totals(const Dag& dag, std::span<const NodeId> roots);

}  // namespace filbert
