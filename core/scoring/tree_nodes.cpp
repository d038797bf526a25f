#include "scoring/tree_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/step_limit.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

[[noreturn]] void refuse_norm(std::size_t tree) {
  throw KernelOverflow("the norm of tree " + std::to_string(tree) +
                       " is beyond the range in which cutting planes compute");
}

}  // namespace

TrainingTrees::TrainingTrees(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                             std::vector<NodeId> roots, bool normalize, int n_threads,
                             const Watch& watch)
    : spec_(spec), dag_(std::move(dag)), roots_(std::move(roots)) {
  NodeClasses classes = classify(spec_, *dag_, roots_, *dag_, roots_);
  class_of_ = std::move(classes.rows);
  occurrences_ = count_roots(spec_, *dag_, roots_, class_of_, n_threads, watch);
  const StepLimit limit = spec_->step_limit();
  if (limit.is_set()) {
    const auto most = most_children(limit, *dag_, occurrences_, class_of_, classes.size);
    check_steps(limit, most, most, *dag_);
  }
  const std::vector<Wide> selves = self_kernels(spec_, {*dag_, roots_}, n_threads, watch);
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const double norm = sqrt(selves[tree]).to_double();
    const bool zero = selves[tree].is_zero();
    if (!zero && !(norm < kLargestNorm && norm > 1.0 / kLargestNorm)) refuse_norm(tree);
    scale_.push_back(normalize && !zero ? 1.0 / norm : 1.0);
    const double self = normalize ? (zero ? 0.0 : 1.0) : norm * norm;
    largest_self_ = std::max(largest_self_, self);
  }
}

void TrainingTrees::take(std::size_t tree, TreeNodes& out) const {
  const auto nodes = occurrences_.nodes_of(tree);
  const auto counts = occurrences_.counts_of(tree);
  out.nodes.assign(nodes.begin(), nodes.end());
  out.calls.assign(counts.begin(), counts.end());
  out.weights.assign(counts.begin(), counts.end());
  describe(out);
}

TreeNodes TrainingTrees::together(std::span<const std::uint32_t> trees,
                                  std::span<const double> weights) const {
  std::vector<std::pair<NodeId, double>> entries;
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const auto nodes = occurrences_.nodes_of(trees[k]);
    const auto counts = occurrences_.counts_of(trees[k]);
    for (std::size_t e = 0; e < nodes.size(); ++e) {
      entries.push_back({nodes[e], weights[k] * counts[e]});
    }
  }
  // Stable, so that sums are in the order of the trees.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  TreeNodes out;
  for (const auto& [node, weight] : entries) {
    if (out.nodes.empty() || out.nodes.back() != node) {
      out.nodes.push_back(node);
      out.weights.push_back(0.0);
    }
    out.weights.back() += weight;
  }
  out.calls.assign(out.nodes.size(), 1);
  describe(out);
  return out;
}

void TrainingTrees::describe(TreeNodes& out) const {
  out.cls.clear();
  out.child_begin.assign(1, 0);
  out.children.clear();
  out.uses.assign(out.nodes.size(), 0);
  const bool into_leaves = spec_->takes_all_children();
  for (const NodeId u : out.nodes) {
    out.cls.push_back(class_of_[u]);
    for (const NodeId child : dag_->children(u)) {
      std::uint32_t place = kNone;
      if (class_of_[child] != kNone && (into_leaves || !dag_->is_leaf(child))) {
        const auto found = std::lower_bound(out.nodes.begin(), out.nodes.end(), child);
        place = static_cast<std::uint32_t>(found - out.nodes.begin());
        ++out.uses[place];
      }
      out.children.push_back(place);
    }
    out.child_begin.push_back(static_cast<std::uint32_t>(out.children.size()));
  }
}

}  // namespace filbert
