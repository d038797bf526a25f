#include "search/segment.hpp"

#include <algorithm>
#include <memory>

#include "base/errors.hpp"
#include "forest/builder.hpp"

namespace filbert {

Segment::Segment(const SegmentArrays& arrays) {
  visit_arrays(*this, arrays, [](const char*, auto& mine, const auto& theirs) { mine = theirs; });
}

void Segment::damaged() { throw InvalidForest("the index is damaged: build it again"); }

void Segment::check_lengths() const {
  const auto last = [](ConstList<std::uint64_t> ends) { return ends.empty() ? 0 : ends.back(); };
  const bool by_label = !most_children.empty();
  if (by_label && (n_labels() == 0 || class_ends.size() < n_labels())) damaged();
  const std::uint64_t n_rests = by_label ? class_ends[n_labels() - 1] : 0;
  const bool right =
      last(label_ends) == label_bytes.size() && child_ends.size() == n_nodes() &&
      last(child_ends) == children.size() && last(height_ends) == n_nodes() &&
      norms.size() == n_trees() && position_ends.size() == n_trees() &&
      last(position_ends) == positions.size() && last(class_ends) == class_trees.size() &&
      class_counts.size() == class_trees.size() && class_rests.size() == n_rests &&
      hashes.size() == examples.size() && member_ends.size() == examples.size() &&
      slot_ends.size() == examples.size() && last(slot_ends) == group_ends.size() &&
      last(group_ends) == group_classes.size() && link_ends.size() == group_classes.size() &&
      last(link_ends) == link_parents.size() && link_children.size() == link_parents.size() &&
      last(member_ends) == posting_ends.size() && last(posting_ends) == posting_trees.size() &&
      posting_counts.size() == posting_trees.size() &&
      (inner_ends.empty() || inner_ends.size() == n_trees()) &&
      last(inner_ends) == inner_nodes.size() && inner_counts.size() == inner_nodes.size() &&
      (!by_label || most_children.size() == n_labels()) &&
      (!by_label || class_ends.size() == n_labels() + label_pairs.size()) &&
      pattern_kinds.size() == pattern_hashes.size() &&
      pattern_key_ends.size() == pattern_hashes.size() &&
      last(pattern_key_ends) == pattern_keys.size() &&
      (pattern_hashes.empty() || class_ends.size() == pattern_hashes.size()) &&
      (family_factors.empty() || family_factors.size() == n_trees() * kFamilies) &&
      n_nodes() < kNone && n_trees() < kNone && n_labels() < kNone;
  if (!right) damaged();
}

std::string_view Segment::label(LabelId id) const {
  const Range r = range(label_ends, id, label_bytes.size());
  return {reinterpret_cast<const char*>(label_bytes.data()) + r.first, r.size()};
}

LabelId Segment::find_label(std::string_view text) const {
  std::size_t first = 0;
  std::size_t last = n_labels();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const int order = label(static_cast<LabelId>(middle)).compare(text);
    if (order == 0) return static_cast<LabelId>(middle);
    (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
  }
  return kNone;
}

NodeId Segment::find_node(std::uint32_t height, LabelId label,
                          std::span<const NodeId> wanted) const {
  if (label == kNone || height >= height_ends.size()) return kNone;
  Range r = range(height_ends, height, n_nodes());
  while (r.first < r.last) {
    const auto u = static_cast<NodeId>(r.first + r.size() / 2);
    const std::span<const NodeId> own = children_of(u);
    bool less = node_labels[u] < label;
    if (node_labels[u] == label) {
      less = own.size() < wanted.size();
      if (own.size() == wanted.size()) {
        if (std::equal(own.begin(), own.end(), wanted.begin())) return u;
        less = std::lexicographical_compare(own.begin(), own.end(), wanted.begin(), wanted.end());
      }
    }
    (less ? r.first : r.last) = less ? u + 1 : u;
  }
  return kNone;
}

std::uint32_t Segment::find_production(LabelId label, std::span<const LabelId> wanted) const {
  const std::uint64_t hash = production_hash(label, wanted);
  const auto is_it = [&](NodeId u) {
    if (u >= n_nodes()) damaged();
    const std::span<const NodeId> own = children_of(u);
    bool same = node_labels[u] == label && own.size() == wanted.size();
    for (std::size_t j = 0; same && j < own.size(); ++j) {
      if (own[j] >= n_nodes()) damaged();
      same = node_labels[own[j]] == wanted[j];
    }
    return same;
  };
  auto p = static_cast<std::size_t>(std::lower_bound(hashes.begin(), hashes.end(), hash) -
                                    hashes.begin());
  for (; p < hashes.size() && hashes[p] == hash; ++p) {
    if (is_it(examples[p])) return static_cast<std::uint32_t>(p);
  }
  return kNone;
}

std::uint32_t Segment::find_pattern(std::uint64_t hash, std::uint32_t kind,
                                    std::span<const std::uint32_t> key) const {
  auto p = static_cast<std::size_t>(
      std::lower_bound(pattern_hashes.begin(), pattern_hashes.end(), hash) -
      pattern_hashes.begin());
  for (; p < pattern_hashes.size() && pattern_hashes[p] == hash; ++p) {
    const Range r = range(pattern_key_ends, p, pattern_keys.size());
    const auto own = pattern_keys.subspan(r.first, r.size());
    if (pattern_kinds[p] == kind && std::ranges::equal(own, key)) {
      return static_cast<std::uint32_t>(p);
    }
  }
  return kNone;
}

std::shared_ptr<const Dag> forest_of(const Segment& segment, std::span<const std::uint32_t> trees,
                                     std::vector<NodeId>& roots) {
  std::vector<bool> wanted(segment.n_nodes(), false);
  for (const std::uint32_t tree : trees) {
    if (tree >= segment.n_trees() || segment.roots[tree] >= segment.n_nodes()) Segment::damaged();
    wanted[segment.roots[tree]] = true;
  }
  for (NodeId u = static_cast<NodeId>(segment.n_nodes()); u-- > 0;) {
    if (!wanted[u]) continue;
    for (const NodeId child : segment.children_of(u)) {
      if (child >= u) Segment::damaged();
      wanted[child] = true;
    }
  }
  DagBuilder builder;
  std::vector<LabelId> label_of(segment.n_labels(), kNone);
  std::vector<NodeId> new_id(segment.n_nodes(), kNone);
  std::vector<NodeId> children;
  for (NodeId u = 0; u < segment.n_nodes(); ++u) {
    if (!wanted[u]) continue;
    const LabelId label = segment.node_labels[u];
    if (label >= segment.n_labels()) Segment::damaged();
    if (label_of[label] == kNone) {
      try {
        label_of[label] = builder.label(segment.label(label));
      } catch (const InvalidLabel&) {
        Segment::damaged();
      }
    }
    children.clear();
    for (const NodeId child : segment.children_of(u)) children.push_back(new_id[child]);
    new_id[u] = builder.node(label_of[label], children);
  }
  roots.clear();
  for (const std::uint32_t tree : trees) roots.push_back(new_id[segment.roots[tree]]);
  return builder.finish();
}

}  // namespace filbert
