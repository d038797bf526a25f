#include "catalogue/tree_kernels.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/subset_tree.hpp"
#include "kernels/subtree.hpp"

namespace filbert {

// Each in a file of its own.
std::shared_ptr<const TreeKernel> subtree_kernel(const Subtree& formula);
std::shared_ptr<const TreeKernel> subset_tree_kernel(const SubsetTree& formula);
std::shared_ptr<const TreeKernel> partial_tree_kernel(const PartialTree& formula);

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
