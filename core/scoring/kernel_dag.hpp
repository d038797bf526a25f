// A forest compacted into a DAG whose nodes have weights, and its kernel with a tree.
//
//   K_dag(D, T) = sum over nodes u of D and v of T of weight(u) weight(v) Delta(u, v)
//
// is the weighted sum of the kernels of T with all trees in D (Severyn & Moschitti 2012, Theorem 1;
// Aiolli et al. 2007). As in section 5.1 of the former there are two associative arrays: from nodes
// to their entries, and from productions (labels for partial trees) to lists of entries. Keys are
// the forest's node numbers, so two entries are never confused. A node may have several weights,
// one per column, so that the weighted sums of several sets of coefficients take one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/place_map.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/lanes.hpp"
#include "rows/tile_sums.hpp"
#include "scoring/tree_nodes.hpp"

namespace filbert {

class KernelDag {
 public:
  // The place of an entry: its list, and its index there.
  struct Place {
    std::uint32_t list = kNone;
    std::uint32_t at = 0;
  };

  // A list as one of 64 bits: if the bits of two sets of lists are disjoint, so are the sets.
  static std::uint64_t bit(std::uint32_t list) { return label_bit(list); }

  // The entries of one production or label.
  struct List {
    std::vector<double> weights;                // by entry and column
    std::vector<std::uint32_t> child_begin{0};  // one more element than there are entries
    std::vector<Place> children;
    std::vector<std::uint64_t> bits;  // by entry: of the lists that its children are in
    std::uint64_t calls = 0;  // the number of calls of Delta for one node that meets the list

    std::uint32_t size() const { return static_cast<std::uint32_t>(bits.size()); }
    std::span<const Place> children_of(std::uint32_t at) const {
      return {children.data() + child_begin[at], child_begin[at + 1] - child_begin[at]};
    }
  };

  explicit KernelDag(std::size_t n_columns = 1) : n_columns_(n_columns) {}

  std::size_t n_columns() const { return n_columns_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t n_lists() const { return static_cast<std::uint32_t>(list_of_.size()); }
  const List& list(std::uint32_t number) const { return lists_[number]; }
  // The number of the list of a class, or kNone.
  std::uint32_t list_of(std::uint32_t cls) const {
    return (class_bits_ & label_bit(cls)) != 0 ? list_of_.find(cls) : kNone;
  }
  Place place(std::uint32_t entry) const { return places_[entry]; }

  void clear();

  // Algorithm 5: adds factor times the weights of a tree's nodes to the first column. Returns the
  // tree's entries, which stay valid until clear().
  std::span<const std::uint32_t> add(const TreeNodes& tree, double factor);

  void add_weight(std::uint32_t entry, double more, std::size_t column = 0) {
    weight(entry, column) += more;
  }
  void set_weights(std::span<const double> weights);  // of the first column, by entry

  // For a single tree: counts a call of Delta per occurrence of a node, not per distinct node.
  void count_occurrences(const TreeNodes& tree);

 private:
  double& weight(std::uint32_t entry, std::size_t column) {
    const Place place = places_[entry];
    return lists_[place.list].weights[place.at * n_columns_ + column];
  }
  void append(const TreeNodes& tree, std::uint32_t v);

  std::size_t n_columns_;
  PlaceMap entry_of_;             // of a node
  std::vector<Place> places_;     // by entry
  PlaceMap list_of_;              // of a class
  std::uint64_t class_bits_ = 0;  // a small DAG has most bits unset, so most searches are skipped
  std::vector<List> lists_;       // may have more than list_of_, kept for their memory
  std::vector<std::uint32_t> entries_;
};

// The number of calls of Delta, as the paper counts them, and the number of computed Deltas.
struct DeltaCounts {
  std::uint64_t calls = 0;
  std::uint64_t computed = 0;

  DeltaCounts& operator+=(const DeltaCounts& other) {
    calls += other.calls;
    computed += other.computed;
    return *this;
  }
};

// Delta of one node of a tree with all entries of its list.
struct DagRow {
  std::uint32_t list = kNone;
  std::uint32_t uses = 0;  // by parents that still need it
  double* deltas = nullptr;
};

// A kernel's recursion, for one thread.
class DagRecursion {
 public:
  virtual ~DagRecursion() = default;

  // out[i] = Delta(v, i-th entry of the list); `rows` has the rows of v's children, by node.
  virtual void compute(const KernelDag::List& list, const TreeNodes& tree, std::uint32_t v,
                       const DagRow* rows, const StopToken& token, double* out) = 0;
};

// Algorithm 8, with memory that is kept from one kernel to the next. For one thread.
class DagKernel {
 public:
  explicit DagKernel(const KernelSpec& spec) : recursion_(spec->dag_recursion()) {}

  // The kernel with a DAG of one column.
  double operator()(const KernelDag& dag, const TreeNodes& tree, const StopToken& token);

  // out[c] += the kernel with the weights of column c, for the first columns.
  void scores(const KernelDag& dag, const TreeNodes& tree, std::span<double> out,
              const StopToken& token);

  // out[offsets[l] + i] += sum over v of weight(v) Delta(u, v), for entry i of list l.
  void project(const KernelDag& dag, const TreeNodes& tree, std::span<const std::uint64_t> offsets,
               std::span<double> out, const StopToken& token);

  // use(v, list number, Delta with the list's entries), for the nodes v of the tree, children
  // first.
  using UseRow = std::function<void(std::uint32_t, std::uint32_t, const double*)>;
  void rows(const KernelDag& dag, const TreeNodes& tree, const StopToken& token, const UseRow& use);

  const DeltaCounts& counts() const { return counts_; }
  void forget_counts() { counts_ = {}; }

 private:
  // use(v, list number, deltas)
  template <class Use>
  void for_each_row(const KernelDag& dag, const TreeNodes& tree, const StopToken& token,
                    const Use& use);
  std::uint64_t look_up(const KernelDag& dag, const TreeNodes& tree);
  void release(const KernelDag& dag, std::uint32_t v);

  const std::unique_ptr<DagRecursion> recursion_;
  DeltaCounts counts_;
  std::vector<DagRow> rows_;   // by node of the tree
  std::vector<double> small_;  // for all rows, if they have few numbers
  bool pooled_ = false;
  RowPool<double> pool_;
};

}  // namespace filbert
