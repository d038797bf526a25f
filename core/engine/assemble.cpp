// From the factors of Delta between nodes to the factors of the kernel between trees.
//
// Every feature, and every node's residual, is a column: which trees have it, and how often. Where
// it occurs is known without a look at the trees: a node is in a tree once for each way down to it
// from the root, so what is to be known of its occurrences is handed down the DAG from parents to
// children, and a feature occurs where its nodes do.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "base/errors.hpp"
#include "engine/memory_meter.hpp"
#include "engine/set_keys.hpp"
#include "engine/tree_factors.hpp"
#include "forest/occurrences.hpp"

namespace filbert {

namespace {

// Where something occurs.
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

std::vector<Profile> profiles_of_nodes(const Dag& dag, std::span<const NodeId> roots) {
  std::vector<Profile> profiles(dag.size());
  for (std::uint32_t tree = 0; tree < roots.size(); ++tree) {
    profiles[roots[tree]].add({set_key(tree), 1.0, tree, tree});
  }
  for (std::size_t u = dag.size(); u-- > 0;) {  // parents before children
    if (!profiles[u].occurs()) continue;
    for (const NodeId c : dag.children(static_cast<NodeId>(u))) profiles[c].add(profiles[u]);
  }
  return profiles;
}

// Columns of about the same frequency are one class, the most frequent first.
constexpr std::size_t kFrequencyClasses = 64 * 8;
std::size_t frequency_class(double count) {
  const double steps = 8.0 * std::log2(std::max(1.0, count));
  return kFrequencyClasses - 1 - std::min(static_cast<std::size_t>(steps), kFrequencyClasses - 1);
}

template <class Real>
class Assembler {
 public:
  Assembler(const Factors<Real>& factors, const Dag& dag, std::span<const NodeId> roots,
            const AssemblyOptions& options, int n_threads, const Watch& watch)
      : factors_(factors),
        dag_(dag),
        roots_(roots),
        options_(options),
        meter_(options.max_bytes),
        n_features_(factors.mass.size()),
        has_values_(!factors.values.empty()),
        n_threads_(n_threads),
        watch_(watch) {}

  TreeFactors run() {
    find_columns();
    merge_columns();
    number_columns();
    columns_ = {};
    list_by_node();
    rank_ = {};
    TreeFactors out;
    list_by_tree(out);
    finish_masses(out);
    out.peak_bytes = meter_.most();
    return out;
  }

 private:
  struct Column {
    SetKey key;
    double count = 0.0;           // in all trees together; of real values, about
    std::uint32_t tree = kNone;   // the only one that has it; kNone: there are several, or none
    std::uint32_t first = kNone;  // the first column of the same trees; kNone: it is not shared
  };

  // work(begin, end, worker) on parts of 0 ... n.
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

  bool counts(NodeId u) const { return options_.include_leaves || !dag_.is_leaf(u); }

  bool has_residual(NodeId u) const { return counts(u) && !is_zero(factors_.residual[u]); }

  const Real& mass_of(std::size_t column) const {
    return column < n_features_ ? factors_.mass[column] : factors_.residual[column - n_features_];
  }

  // What each column's trees are. What one tree alone has goes to its diagonal.
  void find_columns() {
    const std::vector<Profile> profiles = profiles_of_nodes(dag_, roots_);
    columns_.resize(n_features_ + dag_.size());
    in_parts(columns_.size(), 20.0, [&](std::size_t begin, std::size_t end, std::size_t) {
      std::vector<TreesOfValue> scratch;
      for (std::size_t c = begin; c < end; ++c) {
        Profile profile;
        if (c >= n_features_) {
          const auto u = static_cast<NodeId>(c - n_features_);
          if (has_residual(u)) profile = profiles[u];
        } else {
          for (const NodeId u : factors_.nodes_of(static_cast<std::uint32_t>(c))) {
            profile.add(profiles[u]);
          }
          if (has_values_) profile.key = key_with_values(c, profiles, scratch);
        }
        if (!profile.occurs()) continue;
        columns_[c].key = profile.key;
        columns_[c].count = profile.count;
        if (profile.shared()) {
          columns_[c].first = static_cast<std::uint32_t>(c);
        } else {
          columns_[c].tree = profile.first;
        }
      }
    });
    private_.assign(roots_.size(), Real(0.0));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (column.tree == kNone) continue;
      const Real count = total_of(c, profiles);
      private_[column.tree] += count * count * mass_of(c);
    }
  }

  // What all trees have of a column together.
  Real total_of(std::size_t c, const std::vector<Profile>& profiles) const {
    if (c >= n_features_ || !has_values_) return Real(columns_[c].count);
    Real total(0.0);
    for (std::uint64_t k = factors_.set_begin[c]; k < factors_.set_begin[c + 1]; ++k) {
      total += Real(profiles[factors_.nodes[k]].count) * factors_.set_values[k];
    }
    return total;
  }

  struct TreesOfValue {
    std::uint64_t value;
    SetKey trees;
  };

  // Nodes of the same value are one multiset of trees; columns are the same where these and their
  // values are. Where all values are 1, the key is that of a column without values.
  SetKey key_with_values(std::size_t c, const std::vector<Profile>& profiles,
                         std::vector<TreesOfValue>& scratch) const {
    scratch.clear();
    for (std::uint64_t k = factors_.set_begin[c]; k < factors_.set_begin[c + 1]; ++k) {
      const Profile& profile = profiles[factors_.nodes[k]];
      if (profile.occurs()) scratch.push_back({exact_bits(factors_.set_values[k]), profile.key});
    }
    std::sort(scratch.begin(), scratch.end(),
              [](const TreesOfValue& x, const TreesOfValue& y) { return x.value < y.value; });
    SetKey sum;
    for (std::size_t i = 0; i < scratch.size();) {
      const std::uint64_t value = scratch[i].value;
      SetKey trees;
      for (; i < scratch.size() && scratch[i].value == value; ++i) trees += scratch[i].trees;
      const bool one = value == exact_bits(Real(1.0));
      sum += one ? trees : SetKey{spread(trees.a ^ value), spread(trees.b + value)};
    }
    return sum;
  }

  static std::uint64_t exact_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
  static std::uint64_t exact_bits(const Wide& x) {
    return exact_bits(x.mantissa()) ^ spread(static_cast<std::uint64_t>(x.power()));
  }

  // Columns of the same trees are one. They are found within parts of the keys, so that the tables
  // are small and each thread has its own.
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

  // Frequent columns get small numbers: they are close together and stay in the cache.
  void number_columns() {
    std::array<std::uint32_t, kFrequencyClasses + 1> begin{};
    const auto is_first = [&](std::uint32_t c) { return columns_[c].first == c; };
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (is_first(c)) ++begin[frequency_class(columns_[c].count) + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    rank_.assign(columns_.size(), kNone);
    std::vector<Real> mass(begin.back());
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (!is_first(c)) continue;
      rank_[c] = begin[frequency_class(columns_[c].count)]++;
      mass[rank_[c]] = merged_mass_[c];
    }
    merged_mass_ = std::move(mass);
  }

  // visit(rank, value) for the columns of a node; of those that were merged only the first is
  // listed.
  template <class Visit>
  void for_each_rank(NodeId u, const Visit& visit) const {
    for (std::uint64_t k = factors_.begin[u]; k < factors_.begin[u + 1]; ++k) {
      const std::uint32_t rank = rank_[factors_.features[k]];
      if (rank != kNone) visit(rank, has_values_ ? factors_.values[k] : Real(1.0));
    }
    if (rank_[n_features_ + u] != kNone) visit(rank_[n_features_ + u], Real(1.0));
  }

  void list_by_node() {
    node_begin_.assign(dag_.size() + 1, 0);
    in_parts(dag_.size(), 20.0, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t u = begin; u < end; ++u) {
        for_each_rank(static_cast<NodeId>(u),
                      [&](std::uint32_t, const Real&) { ++node_begin_[u + 1]; });
      }
    });
    std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
    node_columns_.resize(node_begin_.back());
    if (has_values_) node_values_.resize(node_begin_.back());
    in_parts(dag_.size(), 20.0, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t u = begin; u < end; ++u) {
        std::uint64_t at = node_begin_[u];
        for_each_rank(static_cast<NodeId>(u), [&](std::uint32_t rank, const Real& value) {
          if (has_values_) node_values_[at] = value;
          node_columns_[at++] = rank;
        });
      }
    });
  }

  void list_by_tree(TreeFactors& out) {
    std::vector<std::uint32_t> keep(dag_.size());
    for (NodeId u = 0; u < dag_.size(); ++u) {
      const bool empty = node_begin_[u] == node_begin_[u + 1];
      keep[u] = counts(u) && !empty ? 0 : kNone;
    }
    x_ = count_occurrences(dag_, roots_, keep, n_threads_, watch_);
    std::uint64_t distinct = 0;
    std::uint64_t repeated = 0;
    for (std::size_t i = 0; i < x_.nodes.size(); ++i) {
      const std::uint64_t n = node_begin_[x_.nodes[i] + 1] - node_begin_[x_.nodes[i]];
      distinct += n;
      repeated += n * x_.counts[i];
    }
    // A few repetitions cost less than values beside all columns.
    with_values_ =
        has_values_ || !std::is_same_v<Real, double> || repeated > distinct + distinct / 4;
    const std::uint64_t n_entries = with_values_ ? distinct : repeated;
    const std::size_t of_values = has_values_ ? sizeof(Real) : 0;
    meter_.set_kept(factors_.features.size() * (8 + 2 * of_values) +
                    node_columns_.size() * (4 + of_values) + x_.nodes.size() * 8 +
                    n_entries * (with_values_ ? 12 : 4));
    make_room(out, n_entries);
    std::vector<std::unique_ptr<Counter>> counters(
        static_cast<std::size_t>(std::max(1, n_threads_)));
    in_parts(roots_.size(), 500.0, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      if (!counters[worker]) counters[worker] = std::make_unique<Counter>(merged_mass_);
      for (std::size_t tree = begin; tree < end; ++tree) {
        fill_tree(out, tree, *counters[worker]);
        scale_tree(out, tree, *counters[worker]);
      }
    });
  }

  void make_room(TreeFactors& out, std::uint64_t n_entries) const {
    const std::size_t n = roots_.size();
    out.begin.assign(1, 0);
    for (std::size_t tree = 0; tree < n; ++tree) {
      std::uint64_t size = 0;
      for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
        const std::uint64_t each = node_begin_[x_.nodes[i] + 1] - node_begin_[x_.nodes[i]];
        size += with_values_ ? each : each * x_.counts[i];
      }
      out.begin.push_back(out.begin.back() + size);
    }
    out.columns.resize(n_entries);
    if (with_values_) out.values.resize(n_entries);
    out.scale.assign(n, 1.0);
    out.diagonal.resize(n);
    out.self.resize(n);
    if (!std::is_same_v<Real, double>) out.norm.resize(n);
  }

  // How often a tree has each column.
  struct Counter {
    struct Entry {
      Real mass;
      Real count;
    };
    explicit Counter(const std::vector<Real>& masses) {
      for (const Real& mass : masses) entries.push_back({mass, Real(0.0)});
    }
    std::vector<Entry> entries;
    std::vector<Real> values;  // of one tree, beside its columns; unless all are 1
  };

  // The columns, and the values before they are scaled.
  void fill_tree(TreeFactors& out, std::size_t tree, Counter& counter) const {
    counter.values.clear();
    std::uint64_t at = out.begin[tree];
    for (std::size_t i = x_.row_begin[tree]; i < x_.row_begin[tree + 1]; ++i) {
      const std::uint32_t* const from = node_columns_.data() + node_begin_[x_.nodes[i]];
      const std::size_t n = node_begin_[x_.nodes[i] + 1] - node_begin_[x_.nodes[i]];
      for (std::uint32_t k = 0; k < (with_values_ ? 1 : x_.counts[i]); ++k) {
        std::copy_n(from, n, out.columns.data() + at);
        at += n;
        if (!with_values_) continue;
        const Real count(x_.counts[i]);
        for (std::size_t j = 0; j < n; ++j) {
          counter.values.push_back(has_values_ ? count * node_values_[node_begin_[x_.nodes[i]] + j]
                                               : count);
        }
      }
    }
  }

  // Adding a column `value` times to `count` times adds (2 count + value) value to the square.
  Real self_kernel(const TreeFactors& out, std::size_t tree, Counter& counter) const {
    Real self = private_[tree];
    for (std::uint64_t k = out.begin[tree]; k < out.begin[tree + 1]; ++k) {
      auto& entry = counter.entries[out.columns[k]];
      const Real value = with_values_ ? counter.values[k - out.begin[tree]] : Real(1.0);
      self += (Real(2.0) * entry.count + value) * value * entry.mass;
      entry.count += value;
    }
    for (std::uint64_t k = out.begin[tree]; k < out.begin[tree + 1]; ++k) {
      counter.entries[out.columns[k]].count = Real(0.0);
    }
    return self;
  }

  // Norms; and for Wide, values that are doubles.
  void scale_tree(TreeFactors& out, std::size_t tree, Counter& counter) const {
    const Real self = self_kernel(out, tree, counter);
    if constexpr (std::is_same_v<Real, double>) {
      const double norm = options_.normalize ? std::sqrt(self) : 1.0;
      out.scale[tree] = self > 0.0 ? 1.0 / norm : 0.0;
      out.self[tree] = self > 0.0 ? (options_.normalize ? 1.0 : self) : 0.0;
      out.diagonal[tree] = private_[tree] * out.scale[tree] * out.scale[tree];
      std::copy(counter.values.begin(), counter.values.end(), values_of(out, tree));
    } else {
      scale_wide(out, tree, self, counter.values);
    }
  }

  static auto values_of(TreeFactors& out, std::size_t tree) {
    return out.values.begin() +
           (out.values.empty() ? 0 : static_cast<std::ptrdiff_t>(out.begin[tree]));
  }

  static Wide size_of(const Wide& x) { return is_negative(x) ? Wide(0.0) - x : x; }
  static bool is_negative(const Wide& x) { return ratio(x, Wide(1.0), Wide(1.0)) < 0.0; }

  // The root of a column's mass goes into the values, and its sign stays.
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
      const Wide value = values[k - out.begin[tree]] * sqrt(size_of(merged_mass_[out.columns[k]]));
      out.values[k] = self.is_zero() ? 0.0 : ratio(value, norm, Wide(1.0));
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

  const Factors<Real>& factors_;
  const Dag& dag_;
  std::span<const NodeId> roots_;
  AssemblyOptions options_;
  MemoryMeter meter_;
  std::size_t n_features_;
  bool has_values_;  // of the nodes' features
  int n_threads_;
  const Watch& watch_;

  std::vector<Column> columns_;      // the features, then the nodes' residuals
  std::vector<Real> merged_mass_;    // by first column; later by rank
  std::vector<Real> private_;        // by tree: what no other tree has, squared
  std::vector<std::uint32_t> rank_;  // by column; kNone: it is not listed
  std::vector<std::uint64_t> node_begin_;
  std::vector<std::uint32_t> node_columns_;  // ranks
  std::vector<Real> node_values_;            // beside them, or empty: then all are 1
  Occurrences x_;
  bool with_values_ = false;
};

}  // namespace

template <class Real>
TreeFactors assemble(const Factors<Real>& factors, const Dag& dag, std::span<const NodeId> roots,
                     const AssemblyOptions& options, int n_threads, const Watch& watch) {
  return Assembler<Real>(factors, dag, roots, options, std::max(1, n_threads), watch).run();
}

template TreeFactors assemble(const Factors<double>&, const Dag&, std::span<const NodeId>,
                              const AssemblyOptions&, int, const Watch&);
template TreeFactors assemble(const Factors<Wide>&, const Dag&, std::span<const NodeId>,
                              const AssemblyOptions&, int, const Watch&);

}  // namespace filbert
