// A term of trees: the DAG-perceptron's model (Aiolli et al. 2007, section IV). All nodes of the
// support vectors' trees form one DAG, each with its weighted frequency. A tree is scored by its
// Deltas with that DAG, row by row, and a row is freed when no parent needs it any more (section
// IV-C; see kernel_dag).
#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/step_limit.hpp"
#include "learn/perceptron/growing_forest.hpp"
#include "learn/perceptron/growing_term.hpp"
#include "scoring/kernel_dag.hpp"

namespace filbert {

namespace {

[[noreturn]] void refuse_norm(std::size_t tree) {
  throw KernelOverflow("the norm of tree " + std::to_string(tree) +
                       " is beyond the range in which trees are learnt online");
}

// The tree's nodes that have a class, in the form that the kernel needs. They are in the order of a
// walk through the tree, so that sums do not depend on the forest of the tree.
void describe(const KernelSpec& spec, const Dag& dag, const LocalTree& tree,
              std::span<const NodeId> nodes, std::span<const std::uint32_t> classes,
              TreeNodes& out) {
  const bool all = spec->takes_all_children();
  out.nodes.clear();
  out.cls.clear();
  out.weights.clear();
  out.child_begin.assign(1, 0);
  out.children.clear();
  out.uses.clear();
  std::vector<std::uint32_t> place(tree.size(), kNone);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (classes[u] == kNone && !all) continue;
    place[u] = out.size();
    out.nodes.push_back(nodes[u]);
    out.cls.push_back(classes[u]);
    const bool counted = !spec.chosen || spec.chosen->has(dag, tree.nodes[u]);
    out.weights.push_back(counted ? tree.counts[u] : 0.0);
    out.uses.push_back(0);
    for (const std::uint32_t c : tree.children_of(u)) {
      const std::uint32_t child = all || !tree.is_leaf(c) ? place[c] : kNone;
      if (child != kNone) ++out.uses[child];
      out.children.push_back(child);
    }
    out.child_begin.push_back(static_cast<std::uint32_t>(out.children.size()));
  }
  out.calls.assign(out.nodes.size(), 1);
}

// Classes within one tree.
void own_classes(const KernelSpec& spec, const Dag& dag, const LocalTree& tree,
                 std::vector<std::uint32_t>& classes) {
  classes.clear();
  if (spec->matching() == Matching::production) {
    LocalProductions productions = local_productions(dag, tree);
    classes = std::move(productions.of);
    const auto n = static_cast<std::uint32_t>(productions.example.size());
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      if (tree.is_leaf(u) && spec->counts_leaves()) classes[u] = n + u;
    }
    return;
  }
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const std::uint32_t of_subtree = tree.is_leaf(u) ? kNone : u;
    const bool by_label = spec->matching() == Matching::label;
    classes.push_back(by_label ? dag.label(tree.nodes[u]) : of_subtree);
  }
}

struct TreeScratch final : GrowingTerm::Scratch {
  explicit TreeScratch(const KernelSpec& spec) : kernel(spec) {}
  void begin_part() override { labels.forget(); }

  KnownLabels labels;
  LocalTree tree;
  std::vector<NodeId> ids;
  std::vector<std::uint32_t> classes;
  TreeNodes nodes;
  DagKernel kernel;
  KernelDag own;  // of one tree
  std::vector<double> sums;
};

class GrowingTrees final : public GrowingTerm {
 public:
  GrowingTrees(const KernelSpec& spec, std::size_t n_columns)
      : spec_(spec), forest_(spec), dag_(n_columns) {}

  std::unique_ptr<Scratch> scratch() const override { return std::make_unique<TreeScratch>(spec_); }

  std::vector<double> selves(const ExamplePart& part, int n_threads,
                             const Watch& watch) const override;

  void score(const ExamplePart& part, std::size_t row, double factor, Scratch& scratch,
             std::span<double> out, const StopToken& token) const override {
    auto& s = static_cast<TreeScratch&>(scratch);
    s.tree = take_out(*part.dag, part.roots[row], row, token);
    forest_.look_up(*part.dag, s.tree, s.labels, s.classes);
    describe(spec_, *part.dag, s.tree, s.tree.nodes, s.classes, s.nodes);
    s.sums.assign(out.size(), 0.0);
    s.kernel.scores(dag_, s.nodes, s.sums, token);
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += factor * s.sums[c];
  }

  void add(const ExamplePart& part, std::size_t row, std::uint32_t support,
           std::span<const double> weights, Scratch& scratch) override {
    auto& s = static_cast<TreeScratch&>(scratch);
    s.tree = take_out(*part.dag, part.roots[row], row, StopToken());
    forest_.insert(*part.dag, s.tree, s.labels, s.ids, s.classes);
    describe(spec_, *part.dag, s.tree, s.ids, s.classes, s.nodes);
    const std::span<const std::uint32_t> entries = dag_.add(s.nodes, 0.0);
    for (std::size_t c = 0; c < weights.size(); ++c) {
      if (weights[c] == 0.0) continue;
      for (std::uint32_t v = 0; v < s.nodes.size(); ++v) {
        dag_.add_weight(entries[v], weights[c] * s.nodes.weights[v], c);
      }
    }
    if (support == roots_.size()) enter(s);
  }

  SupportTrees support_trees() const override {
    return {DagBuilder(forest_.dag()).finish(), roots_};
  }

  std::uint64_t n_nodes() const override { return forest_.dag().size(); }
  std::uint64_t n_tree_nodes() const override { return n_tree_nodes_; }

 private:
  void enter(const TreeScratch& s) {
    roots_.push_back(s.ids.back());
    for (const std::uint32_t count : s.tree.counts) n_tree_nodes_ += count;
    if (!spec_->step_limit().is_set()) return;
    most_children_.resize(forest_.dag().labels().size(), 0);
    for (std::uint32_t u = 0; u < s.tree.size(); ++u) {
      std::size_t& most = most_children_[s.classes[u]];
      most = std::max(most, s.tree.children_of(u).size());
    }
  }

  void check_steps(const Dag& dag, TreeScratch& s) const;
  double self(const Dag& dag, TreeScratch& s, const StopToken& token) const;

  const KernelSpec spec_;
  GrowingForest forest_;
  KernelDag dag_;
  std::vector<NodeId> roots_;  // of the support vectors
  std::uint64_t n_tree_nodes_ = 0;
  std::vector<std::size_t> most_children_;  // maximum of a node, by label; if steps are limited
};

// A new example may become a support vector, and is then also compared with itself. For two
// examples of a batch, the check of the one with more children covers the pair.
void GrowingTrees::check_steps(const Dag& dag, TreeScratch& s) const {
  const StepLimit limit = spec_->step_limit();
  if (!limit.is_set()) return;
  forest_.look_up(dag, s.tree, s.labels, s.classes);
  for (std::uint32_t u = 0; u < s.tree.size(); ++u) {
    const std::size_t n = s.tree.children_of(u).size();
    const bool known = s.classes[u] < most_children_.size();
    const std::size_t m = std::max(n, known ? most_children_[s.classes[u]] : 0);
    const double steps = limit.steps(n, m);
    if (steps > limit.most) {
      refuse_steps(dag.labels().text(dag.label(s.tree.nodes[u])), n, m, steps);
    }
  }
}

// The tree itself serves as the DAG.
double GrowingTrees::self(const Dag& dag, TreeScratch& s, const StopToken& token) const {
  own_classes(spec_, dag, s.tree, s.classes);
  describe(spec_, dag, s.tree, s.tree.nodes, s.classes, s.nodes);
  s.own.clear();
  s.own.add(s.nodes, 1.0);
  return s.kernel(s.own, s.nodes, token);
}

std::vector<double> GrowingTrees::selves(const ExamplePart& part, int n_threads,
                                         const Watch& watch) const {
  constexpr std::size_t kTreesATask = 64;
  const Dag& dag = *part.dag;
  const std::size_t n = part.size();
  std::vector<double> values(n);
  std::vector<std::unique_ptr<TreeScratch>> scratch(
      static_cast<std::size_t>(std::max(1, n_threads)));
  parallel_for((n + kTreesATask - 1) / kTreesATask, n_threads, watch,
               [&](std::size_t task, int worker, const StopToken& token) {
                 auto& s = scratch[static_cast<std::size_t>(worker)];
                 if (!s) s = std::make_unique<TreeScratch>(spec_);
                 const std::size_t last = std::min(n, (task + 1) * kTreesATask);
                 for (std::size_t row = task * kTreesATask; row < last; ++row) {
                   token.check();
                   s->tree = take_out(dag, part.roots[row], row, token);
                   check_steps(dag, *s);
                   values[row] = self(dag, *s, token);
                   const double norm = std::sqrt(values[row]);
                   if (values[row] != 0.0 && !(norm < kLargestNorm && norm > 1.0 / kLargestNorm)) {
                     refuse_norm(row);
                   }
                 }
               });
  return values;
}

}  // namespace

std::unique_ptr<GrowingTerm> growing_trees(const KernelSpec& spec, std::size_t n_columns) {
  return std::make_unique<GrowingTrees>(spec, n_columns);
}

}  // namespace filbert
