// Converts the factors of Delta between nodes to the factors of the kernel between trees.
//
// Every feature, and every node's residual, is a column: the trees that have it, and how often. The
// occurrences are found without visiting the trees: a tree contains a node once for each path to it
// from the root, so data about occurrences are passed down the DAG from parents to children. A
// feature occurs wherever its nodes do.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/memory_meter.hpp"
#include "base/set_keys.hpp"
#include "factors/frequency_class.hpp"
#include "factors/repeated_rows.hpp"
#include "factors/tree_factors.hpp"
#include "forest/occurrences.hpp"

namespace filbert {

namespace {

// The occurrences of a node or column.
struct Profile {
  SetKey key;            // of the trees, as a multiset
  double count = 0.0;    // in all trees together
  NodeId first = kNone;  // the first tree, and the last
  NodeId last = 0;

  void add(const Profile& other) {
    key += other.key;
    count += other.count;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool occurs() const { return first != kNone; }
  bool shared() const { return occurs() && first != last; }
};

using Profiles = LargeArray<Profile>;

Profiles profiles_of_nodes(const Dag& dag, std::span<const NodeId> roots) {
  Profiles profiles;
  profiles.resize(dag.size());
  std::fill(profiles.begin(), profiles.end(), Profile{});
  for (std::uint32_t tree = 0; tree < roots.size(); ++tree) {
    profiles[roots[tree]].add({set_key(tree), 1.0, tree, tree});
  }
  for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
    if (!profiles[u].occurs()) continue;
    for (const NodeId c : dag.children(static_cast<NodeId>(u))) profiles[c].add(profiles[u]);
  }
  return profiles;
}

template <class Real>
class Assembler {
 public:
  Assembler(Factors<Real>& factors, const Dag& dag, std::span<const NodeId> roots,
            const AssemblyOptions& options, int n_threads, const Watch& watch)
      : factors_(factors),
        dag_(dag),
        roots_(roots),
        options_(options),
        meter_(options.max_bytes),
        n_features_(factors.mass.size()),
        has_values_(!factors.set_values.empty()),
        n_threads_(n_threads),
        watch_(watch) {}

  TreeFactors run() {
    find_columns();
    merge_columns();
    number_columns();
    std::vector<std::uint32_t> column_of;
    if (options_.keep_factors) column_of = columns_by_feature();
    columns_ = {};
    list_by_node();
    rank_ = {};
    number_nodes();
    // Pairs of nodes may have negative masses.
    const bool only_lacks = factors_.lost.empty() || factors_.n_blocks_by_pairs == 0;
    lost_ = options_.keep_factors ? factors_.lost : std::move(factors_.lost);
    if (!options_.keep_factors) factors_ = {};
    TreeFactors out;
    out.column_of = std::move(column_of);
    out.only_lacks = only_lacks;
    list_by_tree(out);
    finish_masses(out);
    out.peak_bytes = meter_.most();
    return out;
  }

 private:
  struct Column {
    SetKey key;
    double count = 0.0;           // in all trees together; approximate for real values
    std::uint32_t tree = kNone;   // the only tree that has it; kNone: several trees, or none
    std::uint32_t first = kNone;  // the first column of the same trees; kNone: not shared
  };

  // Calls work(begin, end, worker) on parts of 0 ... n.
  template <class Work>
  void in_parts(std::size_t n, double steps_each, const Work& work) const {
    constexpr std::size_t kPart = 1 << 13;
    const int n_threads = threads_for(steps_each * static_cast<double>(n), n_threads_);
    parallel_for((n + kPart - 1) / kPart, n_threads, watch_,
                 [&](std::size_t part, int worker, const StopToken& token) {
                   token.check();
                   work(part * kPart, std::min(n, (part + 1) * kPart),
                        static_cast<std::size_t>(worker));
                 });
  }

  bool counts(NodeId u) const {
    if (!options_.counted.empty() && options_.counted[u] == 0) return false;
    return options_.include_leaves || !dag_.is_leaf(u);
  }

  // The numbers of a node in the factors and in the forest may differ.
  NodeId in_forest(NodeId u) const { return factors_.original.empty() ? u : factors_.original[u]; }
  NodeId in_factors(NodeId u) const { return number_.empty() ? u : number_[u]; }

  bool has_lost(NodeId u) const { return !lost_.empty() && lost_[in_factors(u)].any(); }

  const Real& mass_of(std::size_t column) const {
    return column < n_features_ ? factors_.mass[column] : factors_.residual[column - n_features_];
  }

  // Finds the trees of each column. A column of one tree alone goes into that tree's diagonal.
  void find_columns() {
    const Profiles profiles = profiles_of_factors();
    columns_.resize(n_features_ + dag_.size());
    LargeArray<Real> squares;  // by column of one tree
    squares.resize(columns_.size());
    in_parts(columns_.size(), 20.0, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t c = begin; c < end; ++c) {
        columns_[c] = {};
        Profile profile;
        if (c >= n_features_) {
          const auto u = static_cast<NodeId>(c - n_features_);
          if (!is_zero(factors_.residual[u])) profile = profiles[u];
        } else {
          for (const NodeId u : factors_.nodes_of(static_cast<std::uint32_t>(c))) {
            profile.add(profiles[u]);
          }
          if (has_values_) profile.key = key_with_values(c, profiles);
        }
        if (!profile.occurs()) continue;
        columns_[c].key = profile.key;
        columns_[c].count = profile.count;
        if (profile.shared()) {
          columns_[c].first = static_cast<std::uint32_t>(c);
        } else {
          columns_[c].tree = profile.first;
          const Real count = total_of(c, profiles);
          squares[c] = count * count * mass_of(c);
        }
      }
    });
    private_.assign(roots_.size(), Real(0.0));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].tree != kNone) private_[columns_[c].tree] += squares[c];
    }
  }

  // The profiles of the nodes that count, by their numbers in the factors.
  Profiles profiles_of_factors() const {
    Profiles in_forest_order = profiles_of_nodes(dag_, roots_);
    for (NodeId u = 0; u < dag_.size(); ++u) {
      if (!counts(u)) in_forest_order[u] = {};
    }
    if (factors_.original.empty()) return in_forest_order;
    Profiles profiles;
    profiles.resize(dag_.size());
    for (NodeId u = 0; u < dag_.size(); ++u) profiles[u] = in_forest_order[factors_.original[u]];
    return profiles;
  }

  // The total of a column over all trees.
  Real total_of(std::size_t c, const Profiles& profiles) const {
    if (c >= n_features_ || !has_values_) return Real(columns_[c].count);
    Real total(0.0);
    for (std::uint64_t k = factors_.set_begin[c]; k < factors_.set_begin[c + 1]; ++k) {
      total += Real(profiles[factors_.nodes[k]].count) * factors_.set_values[k];
    }
    return total;
  }

  // If there are values, the keys of nodes are multiplied by a pseudo-random number for each value.
  // The number for 1 is 1, so that the key is the same as for a column without values.
  SetKey key_with_values(std::size_t c, const Profiles& profiles) const {
    SetKey sum;
    for (std::uint64_t k = factors_.set_begin[c]; k < factors_.set_begin[c + 1]; ++k) {
      const std::uint64_t value = exact_bits(factors_.set_values[k]);
      const SetKey& trees = profiles[factors_.nodes[k]].key;
      const bool one = value == exact_bits(Real(1.0));
      const std::uint64_t times = one ? 1 : spread(value) | 1;
      sum += {trees.a * times, trees.b * (one ? 1 : spread(times) | 1)};
    }
    return sum;
  }

  static std::uint64_t exact_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
  static std::uint64_t exact_bits(const Wide& x) {
    return exact_bits(x.mantissa()) ^ spread(static_cast<std::uint64_t>(x.power()));
  }

  // Columns of the same trees are merged. They are found within parts of the key range, so that the
  // tables are small and each thread has its own.
  void merge_columns() {
    constexpr std::size_t kParts = 64;
    std::vector<std::vector<std::uint32_t>> parts(kParts);
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].first != kNone) parts[columns_[c].key.b % kParts].push_back(c);
    }
    merged_mass_.assign(columns_.size(), Real(0.0));
    const double steps = 100.0 * static_cast<double>(columns_.size());
    parallel_for(kParts, threads_for(steps, n_threads_), watch_,
                 [&](std::size_t part, int, const StopToken&) {
                   ScratchMap<SetKey, std::uint32_t> first_of_key;
                   first_of_key.reserve(parts[part].size());
                   for (const std::uint32_t c : parts[part]) {
                     std::uint32_t& first = first_of_key.at(columns_[c].key);
                     if (first == 0) first = c + 1;
                     columns_[c].first = first - 1;
                     merged_mass_[first - 1] += mass_of(c);
                   }
                 });
  }

  static constexpr std::uint16_t kNoFrequency = 0xffff;
  static_assert(kFrequencyClasses < kNoFrequency);

  // Frequent columns get small numbers, so that they are close together and stay in the cache.
  void number_columns() {
    std::array<std::uint32_t, kFrequencyClasses + 1> begin{};
    std::vector<std::uint16_t> frequency(columns_.size(),
                                         kNoFrequency);  // of those that are listed
    in_parts(columns_.size(), 20.0, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t c = first; c < last; ++c) {
        if (columns_[c].first != c) continue;
        frequency[c] = static_cast<std::uint16_t>(frequency_class(columns_[c].count));
      }
    });
    for (const std::uint16_t own : frequency) {
      if (own != kNoFrequency) ++begin[own + std::size_t{1}];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    rank_.assign(columns_.size(), kNone);
    std::vector<Real> mass(begin.back());
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (frequency[c] == kNoFrequency) continue;
      rank_[c] = begin[frequency[c]]++;
      mass[rank_[c]] = merged_mass_[c];
    }
    merged_mass_ = std::move(mass);
  }

  std::vector<std::uint32_t> columns_by_feature() const {
    std::vector<std::uint32_t> column_of(columns_.size(), kNone);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].first != kNone) column_of[c] = rank_[columns_[c].first];
    }
    return column_of;
  }

  // Lists the columns of each node, those of value 1 first. Of merged columns only the first is
  // listed. Each thread handles its own nodes and reads all columns.
  void list_by_node() {
    const std::size_t n_nodes = dag_.size();
    node_begin_.assign(n_nodes + 1, 0);
    value_begin_.assign(n_nodes + 1, 0);
    std::vector<std::uint64_t> next(n_nodes), next_value(n_nodes);
    const std::size_t n_parts = std::min<std::size_t>(8, static_cast<std::size_t>(n_threads_));
    const double steps = 10.0 * static_cast<double>(factors_.nodes.size());
    const auto in_ranges = [&](const auto& work) {
      parallel_for(n_parts, threads_for(steps, n_threads_), watch_,
                   [&](std::size_t part, int, const StopToken& token) {
                     for_each_entry(part * n_nodes / n_parts, (part + 1) * n_nodes / n_parts, token,
                                    work);
                   });
    };
    in_ranges([&](NodeId u, std::uint32_t, const Real& value) {
      ++node_begin_[u + 1];
      value_begin_[u + 1] += !is_one(value);
    });
    std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
    std::partial_sum(value_begin_.begin(), value_begin_.end(), value_begin_.begin());
    const std::uint64_t n = node_begin_.back();
    meter_.set_kept(bytes_of_factors() + n * 4 + value_begin_.back() * sizeof(Real) + n_nodes * 32);
    node_columns_.resize(n);
    node_values_.resize(value_begin_.back());
    for (std::size_t u = 0; u < n_nodes; ++u) {
      next[u] = node_begin_[u];
      next_value[u] = value_begin_[u];
    }
    in_ranges([&](NodeId u, std::uint32_t rank, const Real& value) {
      if (is_one(value)) {
        node_columns_[next[u]++] = rank;
      } else {
        const std::uint64_t left = value_begin_[u + 1] - next_value[u];
        node_columns_[node_begin_[u + 1] - left] = rank;
        node_values_[next_value[u]++] = value;
      }
    });
  }

  // visit(node, rank, value) for nodes in [first, last), by column.
  template <class Visit>
  void for_each_entry(std::size_t first, std::size_t last, const StopToken& token,
                      const Visit& visit) const {
    for (std::size_t c = 0; c < n_features_; ++c) {
      if (c % 4096 == 0) token.check();
      const std::uint32_t rank = rank_[c];
      if (rank == kNone) continue;
      for (std::uint64_t k = factors_.set_begin[c]; k < factors_.set_begin[c + 1]; ++k) {
        const NodeId u = factors_.nodes[k];
        if (u < first || u >= last) continue;
        visit(u, rank, has_values_ ? factors_.set_values[k] : Real(1.0));
      }
    }
    for (std::size_t u = first; u < last; ++u) {
      const std::uint32_t rank = rank_[n_features_ + u];
      if (rank != kNone) visit(static_cast<NodeId>(u), rank, Real(1.0));
    }
  }

  void number_nodes() {
    number_.resize(factors_.original.size());
    for (NodeId u = 0; u < number_.size(); ++u) number_[factors_.original[u]] = u;
  }

  static bool is_one(double x) { return x == 1.0; }
  static bool is_one(const Wide& x) { return x.power() == 0 && x.mantissa() == 1.0; }

  std::uint64_t bytes_of_factors() const {
    return factors_.nodes.size() * sizeof(NodeId) + factors_.set_values.size() * sizeof(Real) +
           factors_.mass.size() * (sizeof(Real) + 8) + factors_.features.size() * 4 +
           factors_.values.size() * sizeof(Real);
  }

  // By the node's number in the forest. The columns of the values come last.
  std::span<const std::uint32_t> columns_of_node(NodeId u) const {
    const NodeId at = in_factors(u);
    return {node_columns_.data() + node_begin_[at], node_begin_[at + 1] - node_begin_[at]};
  }
  std::span<const Real> values_of_node(NodeId u) const {
    const NodeId at = in_factors(u);
    return {node_values_.data() + value_begin_[at], value_begin_[at + 1] - value_begin_[at]};
  }

  void list_by_tree(TreeFactors& out) {
    std::vector<std::uint32_t> keep(dag_.size());
    for (NodeId u = 0; u < dag_.size(); ++u) {
      const bool empty = columns_of_node(u).empty() && !has_lost(u);
      keep[u] = counts(u) && !empty ? 0 : kNone;
    }
    if (list_repeated(out, keep)) return;
    x_ = count_occurrences(dag_, roots_, keep, n_threads_, watch_);
    if (node_values_.empty()) find_repetitions(x_);
    make_room(out);
    fill_trees(out, [&](std::size_t tree, std::size_t, Counter& counter) {
      fill_tree(out, tree, counter);
    });
  }

  // Calls fill(tree, worker, counter) for each tree, and computes its norm.
  template <class Fill>
  void fill_trees(TreeFactors& out, const Fill& fill) {
    std::vector<std::unique_ptr<Counter>> counters(static_cast<std::size_t>(n_threads_));
    in_parts(roots_.size(), 500.0, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      if (!counters[worker]) {
        counters[worker] = std::make_unique<Counter>(merged_mass_);
        if (!lost_.empty()) counters[worker]->of_label.assign(dag_.labels().size(), 0.0);
      }
      for (std::size_t tree = begin; tree < end; ++tree) {
        fill(tree, worker, *counters[worker]);
        scale_tree(out, tree, *counters[worker]);
        if (!lost_.empty()) note_losses(out, tree, *counters[worker]);
      }
    });
  }

  // How a node's columns of value 1 are listed for a tree that has the node `count` times. A few
  // repetitions take less memory than values, and if there are few in total, no values are needed
  // at all. With Wide, all columns have values, because these contain the roots of the masses.
  bool repeats(std::uint32_t count) const {
    return std::is_same_v<Real, double> && (count <= 3 || repeats_all_);
  }

  // Returns the number of different columns of the nodes of these trees.
  std::uint64_t find_repetitions(const Occurrences& x) {
    std::uint64_t distinct = 0;
    std::uint64_t repeated = 0;
    for (std::size_t i = 0; i < x.nodes.size(); ++i) {
      const std::uint64_t n = columns_of_node(x.nodes[i]).size();
      distinct += n;
      repeated += n * x.counts[i];
    }
    repeats_all_ = node_values_.empty() && repeated <= distinct + distinct / 4;
    return distinct;
  }

  // If there are few repetitions, trees are listed without counting their nodes. A few thousand
  // trees show whether this is so. Returns false if it is not, and then does nothing.
  bool list_repeated(TreeFactors& out, std::span<const std::uint32_t> keep) {
    if (!std::is_same_v<Real, double> || !node_values_.empty() || !lost_.empty()) return false;
    const std::size_t step = roots_.size() / 4096 + 1;
    std::vector<NodeId> some;
    for (std::size_t tree = 0; tree < roots_.size(); tree += step) some.push_back(roots_[tree]);
    const std::uint64_t distinct =
        find_repetitions(count_occurrences(dag_, some, keep, n_threads_, watch_));
    if (!repeats_all_) return false;
    const auto own = [&](NodeId u) -> std::span<const std::uint32_t> {
      if (keep[u] == kNone) return {};
      return columns_of_node(u);
    };
    const std::vector<std::uint32_t> lengths = repeated_lengths(dag_, own);
    std::uint64_t all = 0;
    for (const NodeId root : roots_) all += lengths[root];
    if (all > step * distinct * 3 / 2) return false;  // a few other trees have many repetitions
    make_room_for(out, lengths);
    std::vector<std::unique_ptr<RepeatedRows>> rows(static_cast<std::size_t>(n_threads_));
    fill_trees(out, [&](std::size_t tree, std::size_t worker, Counter&) {
      if (!rows[worker]) {
        rows[worker] = std::make_unique<RepeatedRows>(dag_, lengths, out.columns.data());
      }
      rows[worker]->write(roots_[tree], out.begin[tree], own);
    });
    return true;
  }

  void make_room_for(TreeFactors& out, std::span<const std::uint32_t> lengths) {
    out.begin.assign(1, 0);
    for (const NodeId root : roots_) out.begin.push_back(out.begin.back() + lengths[root]);
    out.value_begin.assign(roots_.size() + 1, 0);
    make_room(out, dag_.size() * 4 + static_cast<std::uint64_t>(n_threads_) * dag_.size() * 8);
  }

  void make_room(TreeFactors& out) {
    const std::size_t n = roots_.size();
    out.begin.assign(n + 1, 0);
    out.value_begin.assign(n + 1, 0);
    in_parts(n, 100.0, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t tree = begin; tree < end; ++tree) {
        for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
          const NodeId u = x_.nodes[i];
          const std::uint64_t all = columns_of_node(u).size();
          const std::uint64_t valued = values_of_node(u).size();
          const bool repeated = repeats(x_.counts[i]);
          out.begin[tree + 1] += repeated ? valued + (all - valued) * x_.counts[i] : all;
          out.value_begin[tree + 1] += repeated ? valued : all;
        }
      }
    });
    std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
    std::partial_sum(out.value_begin.begin(), out.value_begin.end(), out.value_begin.begin());
    make_room(out, x_.nodes.size() * 8);
  }

  // For the rows that `begin` and `value_begin` describe; `more` bytes are in use besides.
  void make_room(TreeFactors& out, std::uint64_t more) {
    const std::size_t n = roots_.size();
    meter_.set_kept(
        bytes_of_factors() + node_columns_.size() * 4 + node_values_.size() * sizeof(Real) + more +
        merged_mass_.size() * 3 * sizeof(Real) + out.begin.back() * 4 + out.value_begin.back() * 8);
    out.columns.resize(out.begin.back());
    out.values.resize(out.value_begin.back());
    out.scale.assign(n, 1.0);
    out.diagonal.resize(n);
    out.self.resize(n);
    if (!std::is_same_v<Real, double>) out.norm.resize(n);
    if (!lost_.empty()) {
      out.lost.resize(n);
      out.lost_rows.resize(n);
      add_up_rows();
    }
  }

  // Counts how often a tree has each column.
  struct Counter {
    struct Entry {
      Real mass;
      Real count;
    };
    explicit Counter(const std::vector<Real>& masses) {
      entries.resize(masses.size());
      for (std::size_t c = 0; c < masses.size(); ++c) entries[c] = {masses[c], Real(0.0)};
    }
    LargeArray<Entry> entries;
    std::vector<Real> values;      // of one tree, beside its last columns
    std::vector<double> of_label;  // 0 between calls of lost_of()
  };

  // Fills in the columns, and the values before they are scaled.
  void fill_tree(TreeFactors& out, std::size_t tree, Counter& counter) const {
    counter.values.clear();
    std::uint32_t* one = out.columns.data() + out.begin[tree];
    std::uint32_t* valued = out.columns.data() + out.begin[tree + 1] -
                            (out.value_begin[tree + 1] - out.value_begin[tree]);
    for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
      const NodeId u = x_.nodes[i];
      const std::span<const std::uint32_t> columns = columns_of_node(u);
      const std::span<const Real> values = values_of_node(u);
      const std::uint32_t* const first = columns.data();
      const std::uint32_t* const last = first + columns.size();
      const std::uint32_t* const ones_end = last - values.size();
      const Real count(x_.counts[i]);
      if (repeats(x_.counts[i])) {
        for (std::uint32_t k = 0; k < x_.counts[i]; ++k) one = std::copy(first, ones_end, one);
      } else {
        valued = std::copy(first, ones_end, valued);
        counter.values.insert(counter.values.end(), static_cast<std::size_t>(ones_end - first),
                              count);
      }
      valued = std::copy(ones_end, last, valued);
      for (const Real& value : values) counter.values.push_back(count * value);
    }
  }

  // Adding `value` to a column with `count` so far adds (2 count + value) value to the square.
  Real self_kernel(const TreeFactors& out, std::size_t tree, Counter& counter) const {
    Real self = private_[tree];
    const auto add = [&](std::uint32_t column, const Real& value) {
      auto& entry = counter.entries[column];
      self += (Real(2.0) * entry.count + value) * value * entry.mass;
      entry.count += value;
    };
    const std::span<const std::uint32_t> columns = out.columns_of(tree);
    const std::size_t n_ones = columns.size() - counter.values.size();
    for (std::size_t k = 0; k < n_ones; ++k) add(columns[k], Real(1.0));
    for (std::size_t k = n_ones; k < columns.size(); ++k) {
      add(columns[k], counter.values[k - n_ones]);
    }
    for (const std::uint32_t column : columns) counter.entries[column].count = Real(0.0);
    return self;
  }

  void note_losses(TreeFactors& out, std::size_t tree, Counter& counter) const {
    out.lost[tree] = lost_of(tree, counter) * square(out.scale[tree]);
    out.lost_rows[tree] = lost_rows_[roots_[tree]] * out.scale[tree];
  }

  void add_up_rows() {
    lost_rows_.assign(dag_.size(), 0.0);
    for (NodeId u = 0; u < dag_.size(); ++u) {
      if (counts(u)) lost_rows_[u] = lost_[in_factors(u)].row;
      for (const NodeId c : dag_.children(u)) lost_rows_[u] += lost_rows_[c];
    }
  }

  // What a tree lacks, by the sum over its nodes: only nodes of one label share fragments.
  double lost_of(std::size_t tree, Counter& counter) const {
    double sum = 0.0;
    for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
      const NodeId u = x_.nodes[i];
      counter.of_label[dag_.label(u)] += x_.counts[i] * std::sqrt(lost_[in_factors(u)].square);
    }
    for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
      sum += square(std::exchange(counter.of_label[dag_.label(x_.nodes[i])], 0.0));
    }
    return sum;
  }
  static double square(double x) { return x * x; }

  // Computes norms and, for Wide, converts values to doubles. What was dropped is in the diagonal.
  void scale_tree(TreeFactors& out, std::size_t tree, Counter& counter) const {
    Real self = self_kernel(out, tree, counter);
    if constexpr (std::is_same_v<Real, double>) {
      double diagonal = private_[tree];
      if (!options_.selves.empty()) {
        diagonal += options_.selves[tree] - self;
        self = options_.selves[tree];
      }
      const double norm = options_.normalize ? std::sqrt(self) : 1.0;
      out.scale[tree] = self > 0.0 ? 1.0 / norm : 0.0;
      out.self[tree] = self > 0.0 ? (options_.normalize ? 1.0 : self) : 0.0;
      out.diagonal[tree] = diagonal * square(out.scale[tree]);
      std::copy(counter.values.begin(), counter.values.end(),
                out.values.data() + out.value_begin[tree]);
    } else {
      scale_wide(out, tree, self, counter.values);
    }
  }

  static Wide size_of(const Wide& x) { return is_negative(x) ? Wide(0.0) - x : x; }
  static bool is_negative(const Wide& x) { return ratio(x, Wide(1.0), Wide(1.0)) < 0.0; }

  // The root of a column's mass goes into the values; the mass keeps its sign.
  void scale_wide(TreeFactors& out, std::size_t tree, const Wide& self,
                  const std::vector<Wide>& values) const {
    const Wide norm = options_.normalize ? sqrt(self) : Wide(1.0);
    out.norm[tree] = norm;
    out.self[tree] = options_.normalize ? (self.is_zero() ? 0.0 : 1.0) : self.to_double();
    if (!(out.self[tree] < 1e300)) {
      throw KernelOverflow("the kernel value of tree " + std::to_string(tree) +
                           " with itself is beyond the range of float64");
    }
    for (std::uint64_t k = out.begin[tree]; k < out.begin[tree + 1]; ++k) {
      const std::uint64_t at = k - out.begin[tree];  // all columns have values
      const Wide value = values[at] * sqrt(size_of(merged_mass_[out.columns[k]]));
      out.values[out.value_begin[tree] + at] = self.is_zero() ? 0.0 : ratio(value, norm, Wide(1.0));
    }
    out.diagonal[tree] = self.is_zero() ? 0.0 : ratio(private_[tree], norm, norm);
  }

  void finish_masses(TreeFactors& out) {
    if constexpr (std::is_same_v<Real, double>) {
      out.mass = std::move(merged_mass_);
    } else {
      for (const Real& mass : merged_mass_) out.mass.push_back(is_negative(mass) ? -1.0 : 1.0);
    }
  }

  Factors<Real>& factors_;
  const Dag& dag_;
  std::span<const NodeId> roots_;
  AssemblyOptions options_;
  MemoryMeter meter_;
  std::size_t n_features_;
  bool has_values_;  // of the nodes' features
  int n_threads_;
  const Watch& watch_;

  LargeArray<Column> columns_;             // the features, then the nodes' residuals
  std::vector<Real> merged_mass_;          // by first column; later by rank
  std::vector<Real> private_;              // by tree: squared part that no other tree has
  std::vector<std::uint32_t> rank_;        // by column; kNone: not listed
  std::vector<NodeId> number_;             // in the factors, by node of the forest; empty: the same
  std::vector<std::uint64_t> node_begin_;  // by node of the factors
  LargeArray<std::uint32_t> node_columns_;  // ranks; columns with values other than 1 come last
  std::vector<std::uint64_t> value_begin_;
  LargeArray<Real> node_values_;  // the values of these last columns
  Occurrences x_;
  std::vector<Lost> lost_;         // by node, or empty
  std::vector<double> lost_rows_;  // by node: those of its subtree
  bool repeats_all_ = false;
};

}  // namespace

template <class Real>
TreeFactors assemble(Factors<Real>&& factors, const Dag& dag, std::span<const NodeId> roots,
                     const AssemblyOptions& options, int n_threads, const Watch& watch) {
  return Assembler<Real>(factors, dag, roots, options, std::max(1, n_threads), watch).run();
}

template TreeFactors assemble(Factors<double>&&, const Dag&, std::span<const NodeId>,
                              const AssemblyOptions&, int, const Watch&);
template TreeFactors assemble(Factors<Wide>&&, const Dag&, std::span<const NodeId>,
                              const AssemblyOptions&, int, const Watch&);

}  // namespace filbert
