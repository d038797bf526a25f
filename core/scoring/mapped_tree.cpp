#include "scoring/mapped_tree.hpp"

#include "forest/productions.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/node_classes.hpp"
#include "kernels/self_delta.hpp"

namespace filbert {

namespace {

// The classes of a tree's nodes in the support vectors' numbering: looks up the tree's labels, then
// its productions, or its subtrees from the leaves up.
void map_classes(const KernelSpec& spec, const Dag& support, const Dag& dag, MappedTree& mapped) {
  const LocalTree& tree = mapped.tree;
  std::vector<LabelId> label(tree.size());
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    label[u] = support.labels().find(dag.labels().text(dag.label(tree.nodes[u])));
  }
  mapped.cls.assign(tree.size(), kNone);
  std::vector<std::uint32_t> found, parts;
  const auto look_up = [&](std::uint32_t u, const auto& part_of, const auto& find) {
    parts.clear();
    bool known = label[u] != kNone;
    for (const std::uint32_t c : tree.children_of(u)) {
      parts.push_back(part_of(c));
      known = known && parts.back() != kNone;
    }
    return known ? find(label[u], parts) : kNone;
  };
  const std::uint32_t first = first_leaf_class(*spec.kernel, support);
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    const bool counts = spec->counts_leaves() && tree.is_leaf(u);
    if (counts && label[u] != kNone) mapped.cls[u] = first + label[u];
  }
  if (spec->matching() == Matching::subtree) {
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      found.push_back(look_up(
          u, [&](std::uint32_t c) { return found[c]; },
          [&](LabelId l, const auto& children) { return support.find(l, children); }));
      if (!tree.is_leaf(u)) mapped.cls[u] = found[u];
    }
    return;
  }
  const Productions& productions = support.productions();
  mapped.productions = local_productions(dag, tree);
  mapped.own_pairs = n_own_pairs(mapped.productions);
  for (const std::uint32_t u : mapped.productions.example) {
    found.push_back(look_up(
        u, [&](std::uint32_t c) { return label[c]; },
        [&](LabelId l, const auto& children) { return productions.find(support, l, children); }));
  }
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (!tree.is_leaf(u)) mapped.cls[u] = found[mapped.productions.of[u]];
  }
}

// Links the rows of the nodes to the rows of their children, and estimates the number of steps.
void link_rows(const KernelSpec& spec, const ColumnTile& tile, MappedTree& mapped) {
  const LocalTree& tree = mapped.tree;
  mapped.links.resize(tree.children.size());
  mapped.uses.assign(tree.size(), 0);
  mapped.steps = 10.0 * tree.size();
  if (mapped.own_pairs <= kManyOwnPairs) mapped.steps += mapped.own_pairs;
  if (!spec->aligns_children()) return;
  for (std::uint32_t u = 0; u < tree.size(); ++u) {
    if (mapped.cls[u] == kNone) continue;
    for (std::uint32_t e = tree.child_begin[u]; e < tree.child_begin[u + 1]; ++e) {
      const std::uint32_t child = tree.children[e];
      if (tree.is_leaf(child) || mapped.cls[child] == kNone) continue;
      mapped.links[e] = tile.links(mapped.cls[u], e - tree.child_begin[u], mapped.cls[child]);
      if (mapped.links[e].empty()) continue;
      ++mapped.uses[child];
      mapped.steps += static_cast<double>(mapped.links[e].size());
    }
  }
}

}  // namespace

MappedTree map_tree(const KernelSpec& spec, const Dag& support, const ColumnTile& tile,
                    const Dag& dag, NodeId root, std::size_t place, const StopToken& token) {
  MappedTree mapped;
  mapped.place = place;
  mapped.tree = take_out(dag, root, place, token);
  for (std::uint32_t u = 0; u < mapped.tree.size() && spec.chosen; ++u) {
    if (!spec.chosen->has(dag, mapped.tree.nodes[u])) mapped.tree.counts[u] = 0;
  }
  map_classes(spec, support, dag, mapped);
  // The support vectors may have a class without having a counted node of it.
  for (std::uint32_t& cls : mapped.cls) {
    if (cls != kNone && tile.width(cls) == 0) cls = kNone;
  }
  link_rows(spec, tile, mapped);
  return mapped;
}

}  // namespace filbert
