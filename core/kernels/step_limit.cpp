#include "kernels/step_limit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace filbert {

std::vector<std::size_t> most_children(const StepLimit& limit, const Dag& dag,
                                       const Occurrences& trees,
                                       std::span<const std::uint32_t> class_of,
                                       std::uint32_t n_classes) {
  const bool distinct = limit.max_subsequence == 1;
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

void check_steps(const StepLimit& limit, std::span<const std::size_t> row_children,
                 std::span<const std::size_t> column_children, const Dag& named) {
  double most = 0.0;
  std::uint32_t worst = 0;
  for (std::uint32_t cls = 0; cls < row_children.size(); ++cls) {
    const double steps = limit.steps(row_children[cls], column_children[cls]);
    if (steps > most) {
      most = steps;
      worst = cls;
    }
  }
  if (most <= limit.most) return;
  refuse_steps(named.labels().text(worst), row_children[worst], column_children[worst], most);
}

void refuse_steps(std::string_view text, std::size_t n, std::size_t m, double steps) {
  std::string label(text);
  if (label.size() > 40) {  // cut, but not within a character
    std::size_t end = 40;
    while ((static_cast<unsigned char>(label[end]) & 0xC0u) == 0x80u) --end;
    label = label.substr(0, end) + "...";
  }
  throw TooExpensive("nodes labelled '" + label + "' with " + std::to_string(n) + " and " +
                         std::to_string(m) + " children",
                     steps);
}

}  // namespace filbert
