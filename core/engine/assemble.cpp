#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/errors.hpp"
#include "engine/set_keys.hpp"
#include "engine/tree_factors.hpp"
#include "forest/occurrences.hpp"

namespace filbert {

namespace {

// A tree's fragments before columns are merged: the features of its nodes, and for each node a
// column of its own for the residual.
template <class Real>
class Assembler {
 public:
  Assembler(const Factors<Real>& factors, const Dag& dag, std::span<const NodeId> roots,
            bool include_leaves, bool normalize)
      : factors_(factors), n_features_(factors.mass.size()), normalize_(normalize) {
    std::vector<std::uint32_t> keep(dag.size());
    for (NodeId u = 0; u < dag.size(); ++u) {
      keep[u] = include_leaves || !dag.is_leaf(u) ? 0 : kNone;
    }
    x_ = count_occurrences(dag, roots, keep);
  }

  TreeFactors run() {
    find_columns();
    number_columns();
    TreeFactors out;
    list_columns(out);
    scale(out);
    return out;
  }

 private:
  struct Column {
    SetKey key;                  // of the trees that have it, as a multiset
    std::uint32_t tree = kNone;  // the first one
    bool shared = false;         // there is another
    double count = 0;            // in all trees
    std::uint32_t id = kNone;    // after merging
  };

  // visit(column, count) for all that a tree contains.
  template <class Visit>
  void for_each(std::size_t tree, const Visit& visit) const {
    const auto nodes = x_.nodes_of(tree);
    const auto counts = x_.counts_of(tree);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const std::uint32_t t : factors_.features_of(nodes[i])) visit(t, counts[i]);
      if (has_residual(nodes[i])) visit(n_features_ + nodes[i], counts[i]);
    }
  }

  bool has_residual(NodeId u) const {
    if constexpr (std::is_same_v<Real, double>) {
      return factors_.residual[u] != 0.0;
    } else {
      return !factors_.residual[u].is_zero();
    }
  }

  const Real& mass_of(std::size_t column) const {
    return column < n_features_ ? factors_.mass[column] : factors_.residual[column - n_features_];
  }

  void find_columns() {
    columns_.resize(n_features_ + factors_.residual.size());
    for (std::uint32_t tree = 0; tree < x_.n_trees(); ++tree) {
      const SetKey key = set_key(tree);
      for_each(tree, [&](std::size_t c, std::uint32_t count) {
        Column& column = columns_[c];
        column.key.a += key.a * count;
        column.key.b += key.b * count;
        column.count += count;
        if (column.tree == kNone) column.tree = tree;
        column.shared = column.shared || column.tree != tree;
      });
    }
  }

  // One id for columns of the same trees, the most frequent first.
  void number_columns() {
    ScratchMap<SetKey, std::uint32_t> merged_of_key;
    merged_of_key.clear();
    std::vector<std::uint32_t> first_of_merged;
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].shared) continue;
      std::uint32_t& known = merged_of_key.at(columns_[c].key);
      if (known == 0) {
        first_of_merged.push_back(c);
        merged_mass_.push_back(Real(0.0));
        known = static_cast<std::uint32_t>(first_of_merged.size());
      }
      columns_[c].id = known - 1;
      merged_mass_[known - 1] += mass_of(c);
    }
    std::vector<std::uint32_t> order(first_of_merged.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return columns_[first_of_merged[a]].count > columns_[first_of_merged[b]].count;
    });
    std::vector<std::uint32_t> rank(order.size());
    std::vector<Real> mass(order.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) {
      rank[order[r]] = r;
      mass[r] = merged_mass_[order[r]];
    }
    merged_mass_ = std::move(mass);
    // Only the first column of those that were merged is listed in the trees.
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].shared) continue;
      const std::uint32_t id = columns_[c].id;
      columns_[c].id = first_of_merged[id] == c ? rank[id] : kNone;
    }
  }

  void list_columns(TreeFactors& out) {
    private_.assign(x_.n_trees(), Real(0.0));
    std::uint64_t distinct = 0;
    std::uint64_t repeated = 0;
    for (std::uint32_t tree = 0; tree < x_.n_trees(); ++tree) {
      for_each(tree, [&](std::size_t c, std::uint32_t count) {
        distinct += columns_[c].id != kNone;
        repeated += columns_[c].id != kNone ? count : 0;
      });
    }
    // A few repetitions cost less than values beside all columns.
    const bool with_values = !std::is_same_v<Real, double> || repeated > distinct + distinct / 4;
    out.begin.assign(1, 0);
    out.columns.reserve(with_values ? distinct : repeated);
    if (with_values) out.values.reserve(distinct);
    for (std::uint32_t tree = 0; tree < x_.n_trees(); ++tree) {
      for_each(tree, [&](std::size_t c, std::uint32_t count) {
        const Column& column = columns_[c];
        if (!column.shared) {
          // Met once for each node that has it: count * (count in the whole tree), summed up.
          private_[tree] += Real(count * column.count) * mass_of(c);
        } else if (column.id != kNone) {
          out.columns.insert(out.columns.end(), with_values ? 1 : count, column.id);
          if (with_values) out.values.push_back(count);
        }
      });
      out.begin.push_back(out.columns.size());
    }
  }

  // Norms; and for Wide, values that are doubles.
  void scale(TreeFactors& out) const {
    const std::size_t n = x_.n_trees();
    out.scale.assign(n, 1.0);
    out.diagonal.resize(n);
    out.self.resize(n);
    std::vector<double> count(merged_mass_.size(), 0.0);
    std::vector<Real> root_mass;
    if constexpr (!std::is_same_v<Real, double>) {
      for (const Real& mass : merged_mass_) root_mass.push_back(sqrt(size_of_wide(mass)));
    }
    for (std::size_t tree = 0; tree < n; ++tree) {
      const Real self = self_kernel(out, tree, count);
      if constexpr (std::is_same_v<Real, double>) {
        const double norm = normalize_ ? std::sqrt(self) : 1.0;
        out.scale[tree] = self > 0.0 ? 1.0 / norm : 0.0;
        out.self[tree] = self > 0.0 ? (normalize_ ? 1.0 : self) : 0.0;
        out.diagonal[tree] = private_[tree] * out.scale[tree] * out.scale[tree];
      } else {
        scale_wide(out, tree, self, root_mass);
      }
    }
    if constexpr (std::is_same_v<Real, double>) {
      out.mass = merged_mass_;
    } else {
      for (const Real& mass : merged_mass_) out.mass.push_back(is_negative(mass) ? -1.0 : 1.0);
    }
  }

  static Wide size_of_wide(const Wide& x) { return is_negative(x) ? Wide(0.0) - x : x; }
  static bool is_negative(const Wide& x) { return ratio(x, Wide(1.0), Wide(1.0)) < 0.0; }

  void scale_wide(TreeFactors& out, std::size_t tree, const Wide& self,
                  const std::vector<Wide>& root_mass) const {
    const Wide norm = normalize_ ? sqrt(self) : Wide(1.0);
    out.self[tree] = normalize_ ? (self.is_zero() ? 0.0 : 1.0) : self.to_double();
    if (!(out.self[tree] < 1e300)) {
      throw KernelOverflow("the kernel value of tree " + std::to_string(tree) +
                           " with itself is beyond the range of float64");
    }
    for (std::uint64_t k = out.begin[tree]; k < out.begin[tree + 1]; ++k) {
      const Wide value = Wide(out.values[k]) * root_mass[out.columns[k]];
      out.values[k] = self.is_zero() ? 0.0 : ratio(value, norm, Wide(1.0));
    }
    out.diagonal[tree] = self.is_zero() ? 0.0 : ratio(private_[tree], norm, norm);
  }

  Real self_kernel(const TreeFactors& out, std::size_t tree, std::vector<double>& count) const {
    Real self = private_[tree];
    const auto value = [&](std::uint64_t k) { return out.values.empty() ? 1.0 : out.values[k]; };
    const std::uint64_t begin = out.begin[tree];
    const std::uint64_t end = out.begin[tree + 1];
    for (std::uint64_t k = begin; k < end; ++k) count[out.columns[k]] += value(k);
    for (std::uint64_t k = begin; k < end; ++k) {
      self += Real(value(k) * count[out.columns[k]]) * merged_mass_[out.columns[k]];
    }
    for (std::uint64_t k = begin; k < end; ++k) count[out.columns[k]] = 0.0;
    return self;
  }

  const Factors<Real>& factors_;
  std::size_t n_features_;
  bool normalize_;
  Occurrences x_;
  std::vector<Column> columns_;
  std::vector<Real> merged_mass_;
  std::vector<Real> private_;
};

}  // namespace

template <class Real>
TreeFactors assemble(const Factors<Real>& factors, const Dag& dag, std::span<const NodeId> roots,
                     bool include_leaves, bool normalize) {
  return Assembler<Real>(factors, dag, roots, include_leaves, normalize).run();
}

template TreeFactors assemble(const Factors<double>&, const Dag&, std::span<const NodeId>, bool,
                              bool);
template TreeFactors assemble(const Factors<Wide>&, const Dag&, std::span<const NodeId>, bool,
                              bool);

}  // namespace filbert
