// One term of a sum of kernels, as a growing model of weighted support vectors
//
//   f_c(x) = sum_j weight_jc K(x_j, x)
//
// with several columns c of weights. Support vectors are added one by one, weights change, and
// common parts of examples are stored once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"
#include "patterns/pattern_spec.hpp"

namespace filbert {

// One part of some examples: trees, or sparse vectors whose features ascend.
struct ExamplePart {
  std::shared_ptr<const Dag> dag;  // null for vectors
  std::vector<NodeId> roots;
  std::span<const std::uint64_t> begin;  // one more entry than there are vectors
  std::span<const std::uint32_t> features;
  std::span<const double> values;

  std::size_t size() const { return dag ? roots.size() : begin.size() - 1; }
};

// Support vectors of one part, in the order of their arrival.
struct SupportTrees {
  std::shared_ptr<const Dag> dag;
  std::vector<NodeId> roots;
};
struct SupportVectors {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> features;
  std::vector<double> values;
};

class GrowingTerm {
 public:
  // The memory of one thread.
  class Scratch {
   public:
    virtual ~Scratch() = default;
    // Call it before examples of another part.
    virtual void begin_part() = 0;
  };

  virtual ~GrowingTerm() = default;

  virtual std::unique_ptr<Scratch> scratch() const = 0;

  // The kernel of each example with itself. Throws if the examples could not be scored or added:
  // KernelOverflow, TooExpensive, TooManyOccurrences.
  virtual std::vector<double> selves(const ExamplePart& part, int n_threads,
                                     const Watch& watch) const = 0;

  // out[c] += factor f_c(example), for the first columns.
  virtual void score(const ExamplePart& part, std::size_t row, double factor, Scratch& scratch,
                     std::span<double> out, const StopToken& token) const = 0;

  // Adds to the weights of a support vector, by column. A support vector with the next free number
  // is new.
  virtual void add(const ExamplePart& part, std::size_t row, std::uint32_t support,
                   std::span<const double> weights, Scratch& scratch) = 0;

  virtual SupportTrees support_trees() const { return {}; }
  virtual SupportVectors support_vectors() const { return {}; }

  // The number of distinct nodes, and of nodes of all support vectors' trees.
  virtual std::uint64_t n_nodes() const { return 0; }
  virtual std::uint64_t n_tree_nodes() const { return 0; }
};

std::unique_ptr<GrowingTerm> growing_trees(const KernelSpec& spec, std::size_t n_columns);

std::unique_ptr<GrowingTerm> growing_patterns(const PatternSpec& spec, std::size_t n_columns);

enum class VectorKernel { linear, polynomial, rbf };

struct VectorSpec {
  VectorKernel kernel = VectorKernel::linear;
  std::uint32_t degree = 1;
  double gamma = 1.0;
  double coef0 = 0.0;
};

std::unique_ptr<GrowingTerm> growing_vectors(const VectorSpec& spec, std::size_t n_columns);

}  // namespace filbert
