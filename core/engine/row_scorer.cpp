#include "engine/row_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "base/errors.hpp"
#include "engine/local_self.hpp"
#include "engine/local_tree.hpp"
#include "forest/occurrences.hpp"
#include "forest/productions.hpp"
#include "kernels/matrix.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/tile_sums.hpp"

namespace filbert {

namespace {

// Beyond these, doubles may have lost digits on the way.
constexpr double kLargest = 1e300;
constexpr double kSmallestDecay = 1e-200;
constexpr double kLargestNorm = 1e150;

// A tree of more steps goes through the kernel matrix, which has threads for one tree, and a
// shorter way for long chains.
constexpr double kManySteps = 3e8;
constexpr double kTooManySteps = 1e10;
constexpr double kManyOwnPairs = 1e6;

bool is_narrow(const Wide& norm) {
  return norm.is_zero() || (norm.to_double() < kLargestNorm && norm.to_double() > 1 / kLargestNorm);
}

double divided(double x, const Wide& norm) { return x / norm.to_double(); }
double divided(const Wide& x, const Wide& norm) { return ratio(x, norm, Wide(1.0)); }

}  // namespace

// A new tree with what it has in common with the support vectors.
struct RowScorer::MappedTree {
  LocalTree tree;
  LocalProductions productions;    // subset trees
  std::vector<std::uint32_t> cls;  // by node, in the support vectors' numbering
  // By child: where the support vectors' nodes of the parent's production have a child of the same
  // production in the same place. Empty where there are none.
  std::vector<std::span<const ColumnTile::Link>> links;
  std::vector<std::uint32_t> uses;  // by node: children's places in which its row is needed
  double own_pairs = 0.0;           // of nodes of one production
  std::optional<Wide> norm;         // where it is known beforehand
  std::size_t place = 0;            // among the trees to be scored
  double steps = 0.0;
};

// ------------------------------------------------------------------------------ rows of Delta

// Goes through one tree from the leaves up. Most entries of a row have the value that nodes of one
// production have at least; a row holds 0 for these and a list of the others. Rows are given back
// as zeros, so that a tree costs no more than what it touches.
template <class Real>
class RowScorer::Pass {
 public:
  Pass(const RowScorer& scorer, const Weights<Real>& weights)
      : scorer_(scorer), weights_(weights), k_(scorer.n_columns_) {}

  // (D f)(u) by node and column.
  const std::vector<Real>& run(const MappedTree& mapped, const StopToken& token) {
    const LocalTree& tree = mapped.tree;
    products_.assign(tree.size() * k_, Real(0.0));
    rows_.resize(std::max<std::size_t>(rows_.size(), tree.size()));
    uses_.assign(mapped.uses.begin(), mapped.uses.end());
    if (scorer_.spec_.kernel == TreeKernel::subtree) {
      base_ = subtree_weights<Real>(scorer_.spec_, tree);
    } else {
      base_.assign(tree.size(), Real(scorer_.spec_.decay));
    }
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      if (mapped.cls[u] == kNone) continue;
      make_row(mapped, u, token);
      sum_row(mapped, u, products_.data() + u * k_);
      if (uses_[u] == 0) give_back(u);
      for_each_link(mapped, u, [&](std::uint32_t child, auto) {
        if (--uses_[child] == 0) give_back(child);
      });
      token.check();
    }
    return products_;
  }

 private:
  struct Row {
    Real* values = nullptr;
    std::size_t width = 0;
    std::vector<std::uint32_t> touched;  // the first n_touched of them
    std::size_t n_touched = 0;

    std::span<const std::uint32_t> list() const { return {touched.data(), n_touched}; }
  };

  void make_row(const MappedTree& mapped, std::uint32_t u, const StopToken& token) {
    std::size_t most = 0;
    for_each_link(mapped, u, [&](std::uint32_t, auto links) { most += links.size(); });
    if (most == 0) return;
    Row& row = rows_[u];
    row.width = scorer_.tile_->width(mapped.cls[u]);
    row.values = pool_.take(row.width);
    row.n_touched = 0;
    most = std::min(most, row.width) + 1;  // one more may be written to
    if (row.touched.size() < most) row.touched.resize(most);
    for_each_link(mapped, u, [&](std::uint32_t child, auto links) {
      multiply(links, rows_[child].values, base_[u], row);
      token.check();
    });
  }

  // One child's place: all entries that have a matching child there.
  void multiply(std::span<const ColumnTile::Link> links, const Real* child, const Real& base,
                Row& row) const {
    Real* const out = row.values;
    std::uint32_t* const touched = row.touched.data();
    std::size_t n = row.n_touched;
    const Real one(1.0);
    const Real least = one + Real(scorer_.spec_.decay);
    for (const auto [parent, column] : links) {
      const bool is_new = is_zero(out[parent]);
      touched[n] = parent;
      n += is_new;
      const bool more = child != nullptr && !is_zero(child[column]);
      const Real factor = more ? one + child[column] : least;
      out[parent] = (is_new ? base : out[parent]) * factor;
    }
    row.n_touched = n;
  }

  // The row's product with f: what all nodes of the class have in common, and the rest.
  void sum_row(const MappedTree& mapped, std::uint32_t u, Real* out) const {
    const Real base = base_[u];
    const Real* const of_class = weights_.of_class.data() + std::size_t{mapped.cls[u]} * k_;
    for (std::size_t c = 0; c < k_; ++c) out[c] = base * of_class[c];
    const Row& row = rows_[u];
    if (row.values == nullptr) return;
    const Real* const of_node =
        weights_.of_node.data() + std::size_t{scorer_.tile_->begin(mapped.cls[u])} * k_;
    if (k_ == 1) {
      Real sum(0.0);
      for (const std::uint32_t i : row.list()) sum += (row.values[i] - base) * of_node[i];
      out[0] += sum;
      return;
    }
    for (const std::uint32_t i : row.list()) {
      const Real more = row.values[i] - base;
      for (std::size_t c = 0; c < k_; ++c) out[c] += more * of_node[i * k_ + c];
    }
  }

  void give_back(std::uint32_t u) {
    Row& row = rows_[u];
    if (row.values == nullptr) return;
    for (const std::uint32_t i : row.list()) row.values[i] = Real(0.0);
    pool_.give_back(row.values, row.width);
    row.values = nullptr;
  }

  template <class Visit>
  static void for_each_link(const MappedTree& mapped, std::uint32_t u, const Visit& visit) {
    for (std::uint32_t e = mapped.tree.child_begin[u]; e < mapped.tree.child_begin[u + 1]; ++e) {
      if (!mapped.links[e].empty()) visit(mapped.tree.children[e], mapped.links[e]);
    }
  }

  const RowScorer& scorer_;
  const Weights<Real>& weights_;
  const std::size_t k_;
  RowPool<Real> pool_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> uses_;
  std::vector<Real> products_;
  std::vector<Real> base_;  // by node: the least Delta with a node of its class
};

// ------------------------------------------------------------------------------ support vectors

RowScorer::RowScorer(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                     std::vector<NodeId> roots, std::vector<double> coef, std::size_t n_columns,
                     bool normalize, int n_threads, const Watch& watch)
    : spec_(spec),
      dag_(std::move(dag)),
      roots_(std::move(roots)),
      coef_(std::move(coef)),
      n_columns_(n_columns),
      normalize_(normalize) {
  NodeClasses classes = classify(spec_, *dag_, roots_, *dag_, roots_);
  class_of_ = std::move(classes.rows);
  n_classes_ = classes.size;
  const Occurrences x = count_occurrences(*dag_, roots_, class_of_, n_threads, watch);
  tile_ = std::make_unique<ColumnTile>(spec_, *dag_, class_of_, n_classes_);
  tile_->load(x, {}, 0, roots_.size());
  narrow_ = spec_.decay >= kSmallestDecay;
  if (normalize_) {
    for (const Wide& self : self_kernels(spec_, {*dag_, roots_}, n_threads, watch)) {
      norms_.push_back(sqrt(self));
      narrow_ = narrow_ && is_narrow(norms_.back());
    }
  }
  if (narrow_) {
    weights_ = weights<double>(n_threads, watch);
  } else {
    std::call_once(wide_once_, [&] { wide_weights_ = weights<Wide>(n_threads, watch); });
  }
}

template <class Real>
RowScorer::Weights<Real> RowScorer::weights(int n_threads, const Watch& watch) const {
  const std::size_t n = roots_.size();
  const std::size_t k = n_columns_;
  Weights<Real> w;
  w.of_node.assign(tile_->n_columns() * k, Real(0.0));
  w.of_class.assign(std::size_t{n_classes_} * k, Real(0.0));
  const auto scaled = [&](std::size_t c, std::size_t i) {
    const double coef = coef_[c * n + i];
    if (!normalize_) return Real(coef);
    if (norms_[i].is_zero()) return Real(0.0);
    if constexpr (std::is_same_v<Real, double>) {
      return coef / norms_[i].to_double();
    } else {
      return Wide(coef) / norms_[i];
    }
  };
  const double steps = 30.0 * static_cast<double>(n * k);
  parallel_for(k, threads_for(steps, n_threads), watch,
               [&](std::size_t c, int, const StopToken& token) {
                 for (std::size_t i = 0; i < n; ++i) {
                   const Real weight = scaled(c, i);
                   if (is_zero(weight)) continue;
                   for (const auto [column, count] : tile_->terms(i)) {
                     w.of_node[column * k + c] += weight * Real(count);
                   }
                   token.check();
                 }
                 for (std::size_t column = 0; column < tile_->n_columns(); ++column) {
                   const std::size_t cls = class_of_[tile_->node(column)];
                   w.of_class[cls * k + c] += w.of_node[column * k + c];
                 }
               });
  return w;
}

RowScorer::~RowScorer() = default;

// ------------------------------------------------------------------------------ new trees

void RowScorer::map_tree(const Dag& dag, NodeId root, std::size_t place, const StopToken& token,
                         MappedTree& mapped) const {
  mapped.place = place;
  mapped.tree = take_out(dag, root, place, token);
  map_classes(dag, mapped);
  link_rows(mapped);
}

// The classes of a tree's nodes in the support vectors' numbering: the tree's labels are looked up,
// then its productions, or its subtrees from the leaves up.
void RowScorer::map_classes(const Dag& dag, MappedTree& mapped) const {
  const LocalTree& tree = mapped.tree;
  std::vector<LabelId> label(tree.size());
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    label[u] = dag_->labels().find(dag.labels().text(dag.label(tree.nodes[u])));
  }
  mapped.cls.assign(tree.size(), kNone);
  std::vector<std::uint32_t> found, parts;
  const auto look_up = [&](std::uint32_t u, const auto& part_of, const auto& find) {
    parts.clear();
    bool known = label[u] != kNone;
    for (const std::uint32_t c : tree.children_of(u)) {
      parts.push_back(part_of(c));
      known = known && parts.back() != kNone;
    }
    return known ? find(label[u], parts) : kNone;
  };
  if (spec_.kernel == TreeKernel::subtree) {
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      found.push_back(look_up(
          u, [&](std::uint32_t c) { return found[c]; },
          [&](LabelId l, const auto& children) { return dag_->find(l, children); }));
      if (!tree.is_leaf(u)) mapped.cls[u] = found[u];
    }
    return;
  }
  const Productions& productions = dag_->productions();
  mapped.productions = local_productions(dag, tree);
  mapped.own_pairs = n_own_pairs(mapped.productions);
  for (const std::uint32_t u : mapped.productions.example) {
    found.push_back(look_up(
        u, [&](std::uint32_t c) { return label[c]; },
        [&](LabelId l, const auto& children) { return productions.find(*dag_, l, children); }));
  }
  const auto n_productions = static_cast<std::uint32_t>(productions.size());
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (!tree.is_leaf(u)) {
      mapped.cls[u] = found[mapped.productions.of[u]];
    } else if (spec_.include_leaves && label[u] != kNone) {
      mapped.cls[u] = n_productions + label[u];
    }
  }
}

void RowScorer::link_rows(MappedTree& mapped) const {
  const LocalTree& tree = mapped.tree;
  mapped.links.resize(tree.children.size());
  mapped.uses.assign(tree.size(), 0);
  mapped.steps = 10.0 * tree.size();
  if (mapped.own_pairs <= kManyOwnPairs) mapped.steps += mapped.own_pairs;
  if (spec_.kernel != TreeKernel::subset_tree) return;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (mapped.cls[u] == kNone) continue;
    for (std::uint32_t e = tree.child_begin[u]; e < tree.child_begin[u + 1]; ++e) {
      const std::uint32_t child = tree.children[e];
      if (tree.is_leaf(child) || mapped.cls[child] == kNone) continue;
      mapped.links[e] = tile_->links(mapped.cls[u], e - tree.child_begin[u], mapped.cls[child]);
      if (mapped.links[e].empty()) continue;
      ++mapped.uses[child];
      mapped.steps += static_cast<double>(mapped.links[e].size());
    }
  }
}

std::vector<RowScorer::MappedTree> RowScorer::map(Trees trees, std::size_t first, std::size_t last,
                                                  int n_threads, const Watch& watch) const {
  double steps = 0.0;
  for (std::size_t i = first; i < last; ++i) {
    steps += 30.0 * static_cast<double>(trees.dag.sizes()[trees.roots[i]]);
  }
  std::vector<MappedTree> mapped(last - first);
  parallel_for(mapped.size(), threads_for(steps, n_threads), watch,
               [&](std::size_t task, int, const StopToken& token) {
                 const std::size_t i = first + task;
                 map_tree(trees.dag, trees.roots[i], i, token, mapped[task]);
               });
  return mapped;
}

// ------------------------------------------------------------------------------ norms

// Trees of many pairs of their own: with threads, and with the short way for long chains.
void RowScorer::large_norms(Trees trees, std::vector<MappedTree>& mapped, double max_steps,
                            int n_threads, const Watch& watch) const {
  if (!normalize_) return;
  for (MappedTree& one : mapped) {
    if (one.own_pairs <= kManyOwnPairs || one.steps > max_steps) continue;
    const Trees tree{trees.dag, trees.roots.subspan(one.place, 1)};
    one.norm = sqrt(self_kernels(spec_, tree, n_threads, watch)[0]);
  }
}

Wide RowScorer::norm_of(const MappedTree& mapped) const {
  if (!normalize_) return Wide(1.0);
  if (mapped.norm) return *mapped.norm;
  const auto self = [&]<class Real>() {
    return spec_.kernel == TreeKernel::subtree
               ? self_subtree<Real>(spec_, mapped.tree)
               : self_subset_tree<Real>(spec_, mapped.tree, mapped.productions);
  };
  if (spec_.decay >= kSmallestDecay) {
    const double narrow = self.template operator()<double>();
    if (narrow < kLargest) return sqrt(Wide(narrow));
  }
  return sqrt(self.template operator()<Wide>());
}

// ------------------------------------------------------------------------------ values

// By node and column: what an occurrence adds to the score. False where numbers were out of range.
template <class Real>
bool RowScorer::node_values(const MappedTree& mapped, const Wide& norm, const StopToken& token,
                            std::vector<double>& values) const {
  Idle<Real>* idle;
  const Weights<Real>* weights_of_support;
  if constexpr (std::is_same_v<Real, double>) {
    idle = &idle_;
    weights_of_support = &weights_;
  } else {
    std::call_once(wide_once_, [&] { wide_weights_ = weights<Wide>(kInline, {}); });
    idle = &wide_idle_;
    weights_of_support = &wide_weights_;
  }
  std::unique_ptr<Pass<Real>> pass;
  {
    const std::lock_guard lock(idle->mutex);
    if (!idle->passes.empty()) {
      pass = std::move(idle->passes.back());
      idle->passes.pop_back();
    }
  }
  if (!pass) pass = std::make_unique<Pass<Real>>(*this, *weights_of_support);
  const std::vector<Real>& products = pass->run(mapped, token);
  bool in_range = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = divided(products[i], norm);
    in_range = in_range && std::fabs(values[i]) < kLargest;
  }
  const std::lock_guard lock(idle->mutex);
  idle->passes.push_back(std::move(pass));
  return in_range;
}

std::vector<double> RowScorer::node_values(const MappedTree& mapped, const StopToken& token) const {
  std::vector<double> values(mapped.tree.size() * n_columns_, 0.0);
  const Wide norm = norm_of(mapped);
  if (norm.is_zero()) return values;  // a tree without fragments
  if (narrow_ && is_narrow(norm) && node_values<double>(mapped, norm, token, values)) return values;
  if (!node_values<Wide>(mapped, norm, token, values)) {
    throw KernelOverflow("the kernel values of tree " + std::to_string(mapped.place) +
                         " with the support vectors are beyond the range of float64");
  }
  return values;
}

// take(tree, values of its nodes) for all trees but those of more than max_steps, whose places are
// returned. On threads, in any order.
template <class Take>
std::vector<std::size_t> RowScorer::visit(Trees trees, double max_steps, int n_threads,
                                          const Watch& watch, const Take& take) const {
  constexpr std::size_t kChunk = 4096;  // so many mapped trees are there at a time
  std::vector<std::size_t> left_out;
  for (std::size_t first = 0; first < trees.size(); first += kChunk) {
    const std::size_t last = std::min(first + kChunk, trees.size());
    std::vector<MappedTree> mapped = map(trees, first, last, n_threads, watch);
    large_norms(trees, mapped, max_steps, n_threads, watch);
    double steps = 0.0;
    for (const MappedTree& one : mapped) {
      if (one.steps > max_steps) {
        left_out.push_back(one.place);
      } else {
        steps += one.steps * (1.0 + 0.1 * static_cast<double>(n_columns_));
      }
    }
    parallel_for(mapped.size(), threads_for(steps, n_threads), watch,
                 [&](std::size_t task, int, const StopToken& token) {
                   if (mapped[task].steps > max_steps) return;
                   take(mapped[task], node_values(mapped[task], token));
                 });
  }
  return left_out;
}

std::vector<double> RowScorer::scores(Trees trees, int n_threads, const Watch& watch) const {
  const std::size_t k = n_columns_;
  std::vector<double> out(trees.size() * k, 0.0);
  const auto sum = [&](const MappedTree& mapped, const std::vector<double>& values) {
    double* const scores = out.data() + mapped.place * k;
    for (std::size_t u = 0; u < mapped.tree.size(); ++u) {
      for (std::size_t c = 0; c < k; ++c) scores[c] += mapped.tree.counts[u] * values[u * k + c];
    }
  };
  score_by_pairs(trees, visit(trees, kManySteps, n_threads, watch, sum), n_threads, watch, out);
  return out;
}

void RowScorer::score_by_pairs(Trees trees, std::span<const std::size_t> places, int n_threads,
                               const Watch& watch, std::vector<double>& out) const {
  const std::size_t n = roots_.size();
  std::vector<double> kernels(n);
  for (const std::size_t i : places) {
    kernel_matrix(spec_, {trees.dag, trees.roots.subspan(i, 1)}, {*dag_, roots_}, normalize_,
                  n_threads, watch, kernels.data());
    for (std::size_t c = 0; c < n_columns_; ++c) {
      for (std::size_t j = 0; j < n; ++j) out[i * n_columns_ + c] += coef_[c * n + j] * kernels[j];
    }
  }
}

NodeContributions RowScorer::contributions(Trees trees, int n_threads, const Watch& watch) const {
  const std::size_t k = n_columns_;
  std::vector<NodeContributions> parts(trees.size());
  const auto keep = [&](const MappedTree& mapped, const std::vector<double>& values) {
    NodeContributions& part = parts[mapped.place];
    for (std::uint32_t u = 0; u < mapped.tree.size(); ++u) {
      if (mapped.cls[u] == kNone) continue;
      part.trees.push_back(static_cast<std::uint32_t>(mapped.place));
      part.nodes.push_back(mapped.tree.nodes[u]);
      part.counts.push_back(mapped.tree.counts[u]);
      part.values.insert(part.values.end(), values.data() + u * k, values.data() + (u + 1) * k);
    }
  };
  const std::vector<std::size_t> left_out = visit(trees, kTooManySteps, n_threads, watch, keep);
  if (!left_out.empty()) {
    throw TooExpensive("the contributions of the nodes of tree " + std::to_string(left_out[0]) +
                           " would take too many steps: explain smaller trees, or parts of it",
                       kTooManySteps);
  }
  NodeContributions all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (NodeContributions& part : parts) {
    append(all.trees, part.trees);
    append(all.nodes, part.nodes);
    append(all.counts, part.counts);
    append(all.values, part.values);
    part = {};
  }
  return all;
}

}  // namespace filbert
