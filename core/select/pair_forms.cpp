#include "select/pair_forms.hpp"

#include <numeric>
#include <utility>

#include "learn/kernel_dag.hpp"
#include "learn/tree_nodes.hpp"

namespace filbert {

namespace {

// The trees as one DAG with weights f, which is then compared with itself.
void add_column(const TrainingTrees& trees, std::span<const double> weights, std::size_t column,
                std::size_t n_columns, const StopToken& token, std::vector<double>& forms) {
  std::vector<std::uint32_t> all(trees.size());
  std::iota(all.begin(), all.end(), 0u);
  std::vector<double> scaled(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    scaled[i] = weights[i * n_columns + column] * trees.scale(i);
  }
  const TreeNodes nodes = trees.together(all, scaled);
  KernelDag dag;
  const std::span<const std::uint32_t> entries = dag.add(nodes, 1.0);
  std::vector<std::uint64_t> offsets(dag.n_lists() + 1, 0);
  for (std::uint32_t l = 0; l < dag.n_lists(); ++l) {
    offsets[l + 1] = offsets[l] + dag.list(l).size();
  }
  std::vector<double> products(dag.size(), 0.0);
  DagKernel(trees.spec()).project(dag, nodes, offsets, products, token);
  for (std::uint32_t v = 0; v < nodes.size(); ++v) {
    const KernelDag::Place place = dag.place(entries[v]);
    forms[nodes.nodes[v] * n_columns + column] =
        nodes.weights[v] * products[offsets[place.list] + place.at];
  }
}

}  // namespace

std::vector<double> node_forms_by_pairs(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                                        std::vector<NodeId> roots, bool normalize,
                                        std::span<const double> weights, std::size_t n_columns,
                                        int n_threads, const Watch& watch) {
  std::vector<double> forms(dag->size() * n_columns, 0.0);
  const TrainingTrees trees(spec, std::move(dag), std::move(roots), normalize, n_threads, watch);
  parallel_for(n_columns, n_threads, watch,
               [&](std::size_t column, int, const StopToken& token) {
                 add_column(trees, weights, column, n_columns, token, forms);
               });
  return forms;
}

}  // namespace filbert
