#include "catalogue/tree_kernels.hpp"

#include <stdexcept>
#include <string>

namespace filbert {

KernelSpec make_kernel(std::string_view name, const KernelParameters& p) {
  if (name == "subtree") return {subtree_kernel({p.decay}), nullptr};
  if (name == "subset_tree") return {subset_tree_kernel({p.decay, p.include_leaves}), nullptr};
  if (name == "partial_tree") {
    return {
        partial_tree_kernel({p.decay, p.depth_decay, p.penalty, p.max_subsequence, p.max_steps}),
        nullptr};
  }
  throw std::invalid_argument("there is no tree kernel '" + std::string(name) +
                              "': take subtree, subset_tree or partial_tree");
}

Penalty penalty_by_name(std::string_view name) {
  if (name == "span") return Penalty::span;
  if (name == "gaps") return Penalty::gaps;
  throw std::invalid_argument("there is no penalty '" + std::string(name) + "': take span or gaps");
}

}  // namespace filbert
