#include "kernels/step_limit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace filbert {

std::vector<std::size_t> most_children(const KernelSpec& spec, const Dag& dag,
                                       const Occurrences& trees,
                                       std::span<const std::uint32_t> class_of,
                                       std::uint32_t n_classes) {
  const bool distinct = spec.max_subsequence == 1;
  std::vector<std::size_t> most(n_classes, 0);
  std::vector<NodeId> sorted;
  for (const NodeId u : trees.nodes) {
    std::size_t arity = dag.arity(u);
    if (arity <= most[class_of[u]]) continue;
    if (distinct) {
      const auto children = dag.children(u);
      sorted.assign(children.begin(), children.end());
      std::sort(sorted.begin(), sorted.end());
      arity = static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
    }
    most[class_of[u]] = std::max(most[class_of[u]], arity);
  }
  return most;
}

void check_steps(const KernelSpec& spec, std::span<const std::size_t> row_children,
                 std::span<const std::size_t> column_children, const Dag& named) {
  double most = 0.0;
  std::uint32_t worst = 0;
  for (std::uint32_t cls = 0; cls < row_children.size(); ++cls) {
    const std::size_t longest = std::min(row_children[cls], column_children[cls]);
    const bool bounded = spec.max_subsequence != 0 && spec.max_subsequence < longest;
    const double steps = static_cast<double>(row_children[cls]) *
                         static_cast<double>(column_children[cls]) *
                         (bounded ? spec.max_subsequence : 1.0);
    if (steps > most) {
      most = steps;
      worst = cls;
    }
  }
  if (most <= spec.max_steps) return;
  std::string label(named.labels().text(worst));
  if (label.size() > 40) {  // cut, but not within a character
    std::size_t end = 40;
    while ((static_cast<unsigned char>(label[end]) & 0xC0u) == 0x80u) --end;
    label = label.substr(0, end) + "...";
  }
  throw TooExpensive("nodes labelled '" + label + "' with " + std::to_string(row_children[worst]) +
                         " and " + std::to_string(column_children[worst]) + " children",
                     most);
}

}  // namespace filbert
