// f^T D f split up by node, from the pairs of distinct nodes: for kernels whose factors are too
// many. See KernelOperator::node_forms for the same by the factors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "kernels/spec.hpp"

namespace filbert {

// weights[i * n_columns + c]: that of tree i in column c; the result by node and column. Throws what
// TrainingTrees throws. A column is the task of one thread.
std::vector<double> node_forms_by_pairs(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                                        std::vector<NodeId> roots, bool normalize,
                                        std::span<const double> weights, std::size_t n_columns,
                                        int n_threads, const Watch& watch);

}  // namespace filbert
