#include "rows/matrix.hpp"

#include <algorithm>
#include <optional>

#include "base/errors.hpp"
#include "base/mirror.hpp"
#include "forest/distinct_trees.hpp"
#include "forest/productions.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/node_classes.hpp"
#include "rows/entries.hpp"
#include "rows/long_chains.hpp"
#include "rows/needed_pairs.hpp"

namespace filbert {

namespace {

// ------------------------------------------------------------------------------ parts

// Some trees of a forest, and their indices in it. Two kinds of trees are set apart from the
// others: long chains, and large trees with few chosen nodes. A special algorithm computes pairs of
// them.
struct Part {
  const Dag& dag;
  std::vector<NodeId> roots;
  std::vector<std::size_t> places;

  Trees trees() const { return {dag, roots}; }
  bool empty() const { return roots.empty(); }
  void add(NodeId root, std::size_t place) {
    roots.push_back(root);
    places.push_back(place);
  }
};

// Each distinct tree once, at its first index.
struct Split {
  Part ordinary;
  Part apart;
  std::vector<std::size_t> first;  // by tree: the index of the first equal tree

  bool has_equal() const { return ordinary.roots.size() + apart.roots.size() < first.size(); }
};

// Completes a matrix whose rows and columns of the distinct trees are filled in.
void spread(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns,
            double* out) {
  const std::size_t n = columns.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double* const row = out + i * n;
    if (rows[i] != i) {
      std::copy_n(out + rows[i] * n, n, row);
    } else {
      for (std::size_t j = 0; j < n; ++j) row[j] = row[columns[j]];
    }
  }
}

// Throws TooManyOccurrences with the tree's index in the whole forest.
void check_counts(const Dag& dag, NodeId root, std::size_t place) {
  try {
    count_occurrences(dag, {&root, 1}, std::vector<std::uint32_t>(dag.size(), 0));
  } catch (const TooManyOccurrences&) {
    throw TooManyOccurrences(place);
  }
}

// By tree: whether it is a long chain. Of equal trees, only the first is checked.
std::vector<bool> find_long_chains(Trees trees, std::span<const std::uint32_t> first, int n_threads,
                                   const Watch& watch) {
  constexpr std::uint64_t kMayBeLong = 10000;
  std::vector<bool> chain(trees.size(), false);
  std::vector<NodeId> large;
  std::vector<std::size_t> places;
  for (const std::size_t i : first) {
    if (trees.dag.sizes()[trees.roots[i]] <= kMayBeLong) continue;
    large.push_back(trees.roots[i]);
    places.push_back(i);
  }
  if (large.empty()) return chain;
  const auto class_of = trees.dag.productions().of_nodes();
  const Occurrences x = count_occurrences(trees.dag, large, class_of, n_threads, watch);
  for (std::size_t k = 0; k < large.size(); ++k) {
    chain[places[k]] = is_long_chain({trees.dag, x.nodes_of(k), x.counts_of(k), class_of});
  }
  return chain;
}

std::vector<bool> find_apart(const KernelSpec& spec, Trees trees,
                             std::span<const std::uint32_t> first, int n_threads,
                             const Watch& watch) {
  if (spec.chosen && spec->aligns_children()) {
    return few_chosen(*spec.chosen, trees.dag, trees.roots);
  }
  if (!spec.chosen && spec->has_chain_sums()) {
    return find_long_chains(trees, first, n_threads, watch);
  }
  return std::vector<bool>(trees.size(), false);
}

Split split(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch) {
  const DistinctTrees distinct = distinct_trees(trees.dag, trees.roots);
  for (const std::size_t i : distinct.first) {
    const std::uint64_t size = trees.dag.sizes()[trees.roots[i]];
    if (size >= kNone) check_counts(trees.dag, trees.roots[i], i);
  }
  const std::vector<bool> apart = find_apart(spec, trees, distinct.first, n_threads, watch);
  Split parts{{trees.dag, {}, {}}, {trees.dag, {}, {}}, {}};
  for (const std::size_t i : distinct.first) {
    (apart[i] ? parts.apart : parts.ordinary).add(trees.roots[i], i);
  }
  for (const std::uint32_t tree : distinct.tree_of) parts.first.push_back(distinct.first[tree]);
  return parts;
}

// K of two trees that are set apart; nothing if the ordinary algorithm has to compute it.
std::optional<Wide> sum_of_pair(const KernelSpec& spec, const CountedTree& a, const CountedTree& b,
                                const StopToken& token) {
  constexpr std::size_t kMostPairs = std::size_t{1} << 22;  // some 160 MB
  if (spec.chosen) return spec->sum_of_needed_pairs(a, b, kMostPairs, token);
  return spec->sum_of_chains(a, b, token);
}

// The same by an ordinary pass over one pair.
Wide sum_in_order(const KernelSpec& spec, Trees a, Trees b, int n_threads, const Watch& watch) {
  class ValueSink final : public Sink {
   public:
    void put(std::size_t, std::size_t, std::span<const double> values) override {
      value = Wide(values[0]);
    }
    void put(std::size_t, std::size_t, std::span<const Wide> values) override { value = values[0]; }

    Wide value;
  };
  ValueSink sink;
  sum_between(spec, a, b, n_threads, watch, sink);
  return sink.value;
}

// put(i, j, value) for those pairs of two lists of trees set apart for which wanted(i, j) is true.
template <class Wanted, class Put>
void sum_apart(const KernelSpec& spec, Trees a, Trees b, int n_threads, const Watch& watch,
               const Wanted& wanted, const Put& put) {
  const NodeClasses classes = classify(spec, a.dag, a.roots, b.dag, b.roots);
  const Occurrences xa = count_roots(spec, a.dag, a.roots, classes.rows, n_threads, watch);
  const Occurrences xb = count_roots(spec, b.dag, b.roots, classes.columns(), n_threads, watch);
  std::vector<std::uint8_t> left(a.size() * b.size(), 0);
  parallel_for(a.size() * b.size(), n_threads, watch,
               [&](std::size_t task, int, const StopToken& token) {
                 const std::size_t i = task / b.size();
                 const std::size_t j = task % b.size();
                 if (!wanted(i, j)) return;
                 const CountedTree ti{a.dag, xa.nodes_of(i), xa.counts_of(i), classes.rows};
                 const CountedTree tj{b.dag, xb.nodes_of(j), xb.counts_of(j), classes.columns()};
                 const std::optional<Wide> value = sum_of_pair(spec, ti, tj, token);
                 if (value) put(i, j, *value);
                 left[task] = !value;
               });
  for (std::size_t task = 0; task < left.size(); ++task) {
    if (left[task] == 0) continue;
    const std::size_t i = task / b.size();
    const std::size_t j = task % b.size();
    put(i, j,
        sum_in_order(spec, {a.dag, a.roots.subspan(i, 1)}, {b.dag, b.roots.subspan(j, 1)},
                     n_threads, watch));
  }
}

// ------------------------------------------------------------------------------ values

// Calls write(i, j, value) for every value, with the indices in the whole forests.
template <class Write>
class PlacedSink final : public Sink {
 public:
  PlacedSink(const Part& rows, const Part& columns, Write write)
      : rows_(rows), columns_(columns), write_(std::move(write)) {}

  void put(std::size_t row, std::size_t column, std::span<const double> values) override {
    place(row, column, values);
  }
  void put(std::size_t row, std::size_t column, std::span<const Wide> values) override {
    place(row, column, values);
  }

 private:
  template <class Value>
  void place(std::size_t row, std::size_t column, std::span<const Value> values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      write_(rows_.places[row + k], columns_.places[column], values[k]);
    }
  }

  const Part& rows_;
  const Part& columns_;
  Write write_;
};

// Calls write(i, j, value) for all pairs of two parts, unless both are trees set apart.
template <class Write>
void pairs_between(const KernelSpec& spec, const Part& a, const Part& b, int n_threads,
                   const Watch& watch, const Write& write) {
  if (a.empty() || b.empty()) return;
  // Tiles are cut from the side with more trees, because the threads share the tiles.
  if (a.roots.size() <= b.roots.size()) {
    PlacedSink sink(a, b, write);
    sum_between(spec, a.trees(), b.trees(), n_threads, watch, sink);
  } else {
    const auto transposed = [&](std::size_t j, std::size_t i, const auto& v) { write(i, j, v); };
    PlacedSink sink(b, a, transposed);
    sum_between(spec, b.trees(), a.trees(), n_threads, watch, sink);
  }
}

// Sets the diagonal of a normalised matrix to exactly 1.
void put_ones(const Norms& norms, double* out) {
  const std::size_t n = norms.wide.size();
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = norms.wide[i].is_zero() ? 0.0 : 1.0;
}

}  // namespace

bool has_long_chains(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch) {
  return !spec.chosen && !split(spec, trees, n_threads, watch).apart.empty();
}

std::vector<Wide> self_kernels(const KernelSpec& spec, Trees trees, int n_threads,
                               const Watch& watch) {
  std::vector<Wide> values(trees.size());
  const Split parts = split(spec, trees, n_threads, watch);
  PlacedSink sink(parts.ordinary, parts.ordinary,
                  [&](std::size_t i, std::size_t, const auto& value) { values[i] = Wide(value); });
  sum_self(spec, parts.ordinary.trees(), n_threads, watch, sink);
  const std::vector<std::size_t>& places = parts.apart.places;
  sum_apart(
      spec, parts.apart.trees(), parts.apart.trees(), n_threads, watch,
      [](std::size_t i, std::size_t j) { return i == j; },
      [&](std::size_t i, std::size_t, const Wide& value) { values[places[i]] = value; });
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[parts.first[i]];
  return values;
}

void kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                   const Watch& watch, double* out) {
  std::optional<Norms> norms_a, norms_b;
  if (normalize) {
    norms_a = norms_of(spec, a, n_threads, watch);
    norms_b = norms_of(spec, b, n_threads, watch);
  }
  const Entries entry(norms_a ? &*norms_a : nullptr, norms_b ? &*norms_b : nullptr);
  const auto write = [&](std::size_t i, std::size_t j, const auto& value) {
    out[i * b.size() + j] = entry(i, j, value);
  };
  const Split pa = split(spec, a, n_threads, watch);
  const Split pb = split(spec, b, n_threads, watch);
  pairs_between(spec, pa.ordinary, pb.ordinary, n_threads, watch, write);
  pairs_between(spec, pa.ordinary, pb.apart, n_threads, watch, write);
  pairs_between(spec, pa.apart, pb.ordinary, n_threads, watch, write);
  sum_apart(
      spec, pa.apart.trees(), pb.apart.trees(), n_threads, watch,
      [](std::size_t, std::size_t) { return true; },
      [&](std::size_t i, std::size_t j, const Wide& value) {
        write(pa.apart.places[i], pb.apart.places[j], value);
      });
  if (pa.has_equal() || pb.has_equal()) spread(pa.first, pb.first, out);
}

void kernel_matrix(const KernelSpec& spec, Trees a, bool normalize, int n_threads,
                   const Watch& watch, double* out) {
  std::optional<Norms> norms;
  if (normalize) norms = norms_of(spec, a, n_threads, watch);
  const Norms* const n = norms ? &*norms : nullptr;
  const Entries entry(n, n);
  const auto write = [&](std::size_t i, std::size_t j, const auto& value) {
    out[std::min(i, j) * a.size() + std::max(i, j)] = entry(i, j, value);
  };
  const auto write_upper = [&](std::size_t i, std::size_t j, const auto& value) {
    if (i <= j) write(i, j, value);
  };
  const Split parts = split(spec, a, n_threads, watch);
  if (!parts.ordinary.empty()) {
    PlacedSink sink(parts.ordinary, parts.ordinary, write_upper);
    sum_within(spec, parts.ordinary.trees(), n_threads, watch, sink);
  }
  pairs_between(spec, parts.ordinary, parts.apart, n_threads, watch, write);
  sum_apart(
      spec, parts.apart.trees(), parts.apart.trees(), n_threads, watch,
      [](std::size_t i, std::size_t j) { return i <= j; },
      [&](std::size_t i, std::size_t j, const Wide& value) {
        write(parts.apart.places[i], parts.apart.places[j], value);
      });
  mirror(Half::right, a.size(), out, n_threads, watch);
  if (norms) put_ones(*norms, out);
  if (parts.has_equal()) spread(parts.first, parts.first, out);
}

}  // namespace filbert
