// Sums of Delta between all trees of two forests, tile by tile, on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"

namespace filbert {

struct Trees {
  const Dag& dag;
  std::span<const NodeId> roots;

  std::size_t size() const { return roots.size(); }
};

// Receives the values: K of the rows' trees first_row, first_row + 1, ... with one tree of the
// columns. Several threads call it; one thread writes each entry. Values come as doubles. If
// doubles do not suffice for a tile, the whole tile comes again as Wide.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void put(std::size_t first_row, std::size_t column, std::span<const double> values) = 0;
  virtual void put(std::size_t first_row, std::size_t column, std::span<const Wide> values) = 0;
};

// All pairs. Throws TooExpensive (see StepLimit).
void sum_between(const KernelSpec& spec, Trees rows, Trees columns, int n_threads,
                 const Watch& watch, Sink& sink);

// The pairs (i, j) of one forest with i <= j, and some others.
void sum_within(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch, Sink& sink);

// The pairs (i, i).
void sum_self(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch, Sink& sink);

}  // namespace filbert
