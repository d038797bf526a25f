// A term of local patterns: one weight for each pattern and column. The trees of the support
// vectors are kept in one forest.
#include <memory>
#include <span>
#include <vector>

#include "forest/builder.hpp"
#include "forest/local_tree.hpp"
#include "learn/perceptron/growing_term.hpp"
#include "patterns/node_patterns.hpp"
#include "patterns/pattern_rows.hpp"
#include "patterns/tree_patterns.hpp"

namespace filbert {

namespace {

// Patterns that the model does not have are in a table of the example's own: a family's norm needs
// them.
struct PatternScratch final : GrowingTerm::Scratch {
  void begin_part() override {}
};

class GrowingPatterns final : public GrowingTerm {
 public:
  GrowingPatterns(const PatternSpec& spec, std::size_t n_columns)
      : table_(spec), n_columns_(n_columns) {}

  std::unique_ptr<Scratch> scratch() const override { return std::make_unique<PatternScratch>(); }

  std::vector<double> selves(const ExamplePart& part, int n_threads,
                             const Watch& watch) const override {
    return pattern_selves(table_.spec(), {*part.dag, part.roots}, n_threads, watch);
  }

  void score(const ExamplePart& part, std::size_t row, double factor, Scratch&,
             std::span<double> out, const StopToken& token) const override {
    PatternTable both(table_.spec(), &table_);
    TreePatterns tree(both);
    read(part, row, both, tree, token);
    for (std::size_t k = 0; k < tree.size(); ++k) {
      const PatternId p = tree.pattern(k);
      if (p * n_columns_ >= weights_.size()) continue;  // no support vector has it
      const double* const weights = weights_.data() + p * n_columns_;
      for (std::size_t c = 0; c < out.size(); ++c) out[c] += factor * tree.value(k) * weights[c];
    }
  }

  void add(const ExamplePart& part, std::size_t row, std::uint32_t support,
           std::span<const double> weights, Scratch&) override {
    TreePatterns tree(table_);
    read(part, row, table_, tree, StopToken());
    weights_.resize(table_.size() * n_columns_, 0.0);
    for (std::size_t k = 0; k < tree.size(); ++k) {
      const PatternId p = tree.pattern(k);
      const double value = tree.value(k) * table_.mass(p);
      for (std::size_t c = 0; c < n_columns_; ++c) {
        weights_[p * n_columns_ + c] += weights[c] * value;
      }
    }
    if (support == roots_.size()) enter(*part.dag, part.roots[row], row);
  }

  SupportTrees support_trees() const override {
    return {DagBuilder(forest_.dag()).finish(), roots_};
  }
  std::uint64_t n_nodes() const override { return forest_.dag().size(); }
  std::uint64_t n_tree_nodes() const override { return n_tree_nodes_; }

 private:
  static void read(const ExamplePart& part, std::size_t row, PatternTable& table,
                   TreePatterns& tree, const StopToken& token) {
    const NodeId root = part.roots[row];
    const NodePatterns nodes(*part.dag, std::span(&root, 1), table, token);
    tree.read(*part.dag, root, row, nodes, token);
  }

  void enter(const Dag& dag, NodeId root, std::size_t row) {
    const LocalTree tree = take_out(dag, root, row, StopToken());
    std::vector<NodeId> nodes, children;
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      const LabelId label = forest_.label(dag.labels().text(dag.label(tree.nodes[u])));
      children.clear();
      for (const std::uint32_t c : tree.children_of(u)) children.push_back(nodes[c]);
      nodes.push_back(children.empty() ? forest_.leaf(label) : forest_.node(label, children));
      n_tree_nodes_ += tree.counts[u];
    }
    roots_.push_back(nodes.back());
  }

  PatternTable table_;
  const std::size_t n_columns_;
  std::vector<double> weights_;  // by pattern and column
  DagBuilder forest_;            // of the support vectors
  std::vector<NodeId> roots_;
  std::uint64_t n_tree_nodes_ = 0;
};

}  // namespace

std::unique_ptr<GrowingTerm> growing_patterns(const PatternSpec& spec, std::size_t n_columns) {
  return std::make_unique<GrowingPatterns>(spec, n_columns);
}

}  // namespace filbert
