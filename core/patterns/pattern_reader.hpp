// Reads the patterns of many trees on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "patterns/node_patterns.hpp"
#include "patterns/tree_patterns.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

// Finds the patterns of the nodes once, and then those of the trees, in parts of trees. The parts
// do not depend on the number of threads.
class PatternReader {
 public:
  static constexpr std::size_t kPart = 1024;  // trees

  PatternReader(PatternTable& table, Trees trees, int n_threads, const Watch& watch)
      : table_(table), trees_(trees), watch_(watch) {
    double steps = 0.0;
    for (const NodeId root : trees.roots) {
      steps += 200.0 * static_cast<double>(trees.dag.sizes()[root]);
    }
    n_threads_ = threads_for(steps, n_threads);
    parallel_for(1, std::min(n_threads_, 1), watch, [&](std::size_t, int, const StopToken& token) {
      nodes_ = std::make_unique<NodePatterns>(trees.dag, trees.roots, table, token);
    });
  }

  std::size_t n_parts() const { return (trees_.size() + kPart - 1) / kPart; }
  const NodePatterns& nodes() const { return *nodes_; }

  // visit(part, number, tree) for all trees, on threads. Trees of a part are visited in order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    parallel_for(n_parts(), n_threads_, watch_, [&](std::size_t part, int, const StopToken& token) {
      TreePatterns tree(table_);
      const std::size_t last = std::min(trees_.size(), (part + 1) * kPart);
      for (std::size_t i = part * kPart; i < last; ++i) {
        token.check();
        tree.read(trees_.dag, trees_.roots[i], i, *nodes_, token);
        visit(part, i, tree);
      }
    });
  }

 private:
  const PatternTable& table_;
  const Trees trees_;
  const Watch& watch_;
  int n_threads_;
  std::unique_ptr<NodePatterns> nodes_;
};

}  // namespace filbert
