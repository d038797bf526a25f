// Rows against a weighted DAG for partial trees.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/partial_tree.hpp"
#include "scoring/kernel_dag.hpp"

namespace filbert {

class PartialDag final : public DagRecursion {
 public:
  explicit PartialDag(const PartialTree& kernel) : light_(kernel), delta_(kernel) {}

  // Most nodes of a label, such as a part of speech, have no children in common.
  void compute(const KernelDag::List& list, const TreeNodes& tree, std::uint32_t v,
               const DagRow* rows, const StopToken& token, double* out) override {
    std::uint64_t bits = 0;
    children_.clear();
    for (const std::uint32_t child : tree.children_of(v)) {
      children_.push_back(rows[child]);
      if (children_.back().list != kNone) bits |= KernelDag::bit(children_.back().list);
    }
    std::fill_n(out, list.size(), light_.single);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if ((list.bits[i] & bits) == 0) continue;
      const std::span<const KernelDag::Place> own = list.children_of(i);
      const auto match = [&](std::size_t a, std::size_t b) {
        return children_[b].list == own[a].list;
      };
      const auto paid = [&](std::size_t a, std::size_t b) {
        return children_[b].deltas[own[a].at] * light_.pay;
      };
      out[i] = delta_(light_.single, own.size(), children_.size(), match, paid, token);
    }
  }

 private:
  const LightWeights<double> light_;
  PartialDelta<double> delta_;
  std::vector<DagRow> children_;  // of the current node
};

}  // namespace filbert
