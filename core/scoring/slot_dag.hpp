// Rows against a weighted DAG for kernels that multiply over the slots of children.
#pragma once

#include <algorithm>
#include <span>

#include "scoring/kernel_dag.hpp"

namespace filbert {

template <class Kernel>
class SlotDag final : public DagRecursion {
 public:
  explicit SlotDag(const Kernel& kernel) : kernel_(kernel) {}

  void compute(const KernelDag::List& list, const TreeNodes& tree, std::uint32_t v,
               const DagRow* rows, const StopToken&, double* out) override {
    const std::uint32_t n = list.size();
    std::fill_n(out, n, kernel_.template bare<double>());
    const std::span<const std::uint32_t> children = tree.children_of(v);
    for (std::size_t slot = 0; slot < children.size(); ++slot) {
      if (children[slot] == kNone) continue;
      const DagRow& child = rows[children[slot]];
      if (child.list == kNone) continue;
      const KernelDag::Place* place = list.children.data() + slot;
      for (std::uint32_t i = 0; i < n; ++i, place += children.size()) {
        if (place->list == child.list) out[i] *= kernel_.factor(child.deltas[place->at]);
      }
    }
  }

 private:
  const Kernel kernel_;
};

}  // namespace filbert
