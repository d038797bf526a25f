#include "forest/productions.hpp"

#include "base/hash.hpp"
#include "forest/dag.hpp"

namespace filbert {

namespace {

bool has_production(const Dag& dag, NodeId u, LabelId label, std::span<const LabelId> wanted) {
  if (dag.label(u) != label || dag.arity(u) != wanted.size()) return false;
  const std::span<const NodeId> children = dag.children(u);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    if (dag.label(children[j]) != wanted[j]) return false;
  }
  return true;
}

}  // namespace

Productions::Productions(const Dag& dag) : of_(dag.size(), kNone) {
  std::vector<LabelId> child_labels;
  for (NodeId u = 0; u < dag.size(); ++u) {
    if (dag.is_leaf(u)) continue;
    const LabelId label = dag.label(u);
    child_labels.clear();
    for (const NodeId c : dag.children(u)) child_labels.push_back(dag.label(c));
    of_[u] = index_.find_or_insert(
        hash_ids(label, child_labels),
        [&](std::uint32_t p) { return has_production(dag, example_[p], label, child_labels); },
        [&] {
          example_.push_back(u);
          return static_cast<std::uint32_t>(example_.size() - 1);
        });
  }
  example_.shrink_to_fit();
}

std::uint32_t Productions::find(const Dag& dag, LabelId label,
                                std::span<const LabelId> child_labels) const {
  return index_.find(hash_ids(label, child_labels), [&](std::uint32_t p) {
    return has_production(dag, example_[p], label, child_labels);
  });
}

std::size_t Productions::memory() const {
  return (of_.capacity() + example_.capacity()) * sizeof(std::uint32_t) + index_.bytes();
}

}  // namespace filbert
