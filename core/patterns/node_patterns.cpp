#include "patterns/node_patterns.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace filbert {

namespace {

// Fewer trees than this of a larger forest are read without arrays over the whole forest.
constexpr std::size_t kFewTrees = 64;
constexpr std::size_t kSmallForest = 1 << 12;

// Counts an id, and returns nothing: new ids are at the end.
void count_in(PlaceMap& ids, std::vector<std::uint64_t>& counts, std::uint32_t id,
              std::uint64_t count) {
  const std::uint32_t at = ids.insert(id);
  if (at == counts.size()) counts.push_back(0);
  counts[at] += count;
}

}  // namespace

NodePatterns::NodePatterns(const Dag& dag, std::span<const NodeId> roots, PatternTable& table,
                           const StopToken& token)
    : dag_(dag), table_(table) {
  std::vector<NodeId> nodes;
  if (roots.size() >= kFewTrees || dag.size() <= kSmallForest) {
    nodes = reachable(dag, roots);
  } else {
    find_nodes(roots);
  }
  const std::span<const NodeId> listed = nodes_.empty() ? nodes : nodes_;
  std::size_t n_done = 0;
  for (const NodeId u : listed) {
    if (++n_done % 1024 == 0) token.check();
    // Nodes of other trees have places too, which stay empty.
    while (begin_.size() <= place(u)) {
      begin_.push_back(entries_.size());
      label_.push_back(kNone);
      path_ends_.resize(path_ends_.size() + table.spec().paths, 0);
      cuts_.resize(cuts_.size() + n_stored_cuts(), kNone);
      height_.push_back(0);
      ends_.resize(ends_.size() + 2 * std::size_t{n_ends()}, kNone);
      n_leaves_.push_back(0);
    }
    add_node(u);
    begin_.push_back(entries_.size());
  }
}

void NodePatterns::find_nodes(std::span<const NodeId> roots) {
  PlaceMap seen;
  for (const NodeId root : roots) seen.insert(root);
  for (std::uint32_t next = 0; next < seen.size(); ++next) {
    for (const NodeId child : dag_.children(seen.id(next))) seen.insert(child);
  }
  for (std::uint32_t i = 0; i < seen.size(); ++i) nodes_.push_back(seen.id(i));
  std::sort(nodes_.begin(), nodes_.end());
  for (const NodeId u : nodes_) places_.insert(u);
}

std::span<const NodePatterns::Entry> NodePatterns::paths_of(std::uint32_t place,
                                                            std::uint32_t n_nodes) const {
  const std::uint32_t* const ends = path_ends_.data() + place * table_.spec().paths;
  const Entry* const first = entries_.data() + begin_[place];
  return {first + ends[n_nodes - 2], first + ends[n_nodes - 1]};
}

void NodePatterns::add(PatternId pattern, std::uint64_t count) {
  if (count >= kNone) {
    throw CapacityError("a node has a pattern more than 2^32 times: leave its tree out");
  }
  if (table_.is_feature(pattern)) {
    entries_.push_back({pattern, static_cast<std::uint32_t>(count)});
  }
}

std::pair<LabelId, PatternId> NodePatterns::label_of(NodeId u) {
  const LabelId own = dag_.label(u);
  const std::uint32_t at = known_labels_.insert(own);
  if (at == labels_.size()) {
    const LabelId label = table_.label(dag_.labels().text(own));
    labels_.emplace_back(label, table_.intern(Family::label, 0, std::span(&label, 1)));
  }
  return labels_[at];
}

void NodePatterns::add_node(NodeId u) {
  const auto [label, pattern] = label_of(u);
  label_.push_back(label);
  add(pattern, 1);
  add_paths(u);
  add_subtrees(u, pattern);
  add_siblings(u);
  add_leaves(u);
}

void NodePatterns::add_paths(NodeId u) {
  const std::uint32_t longest = table_.spec().paths;
  const std::uint64_t first = begin_.back();
  path_ends_.push_back(static_cast<std::uint32_t>(entries_.size() - first));
  children_.clear();
  child_counts_.clear();
  if (longest > 2) {
    for (const NodeId c : dag_.children(u)) count_in(children_, child_counts_, c, 1);
  }
  for (std::uint32_t n = 2; n <= longest; ++n) {
    tails_.clear();
    tail_counts_.clear();
    if (n == 2) {
      for (const NodeId c : dag_.children(u)) {
        count_in(tails_, tail_counts_, label_[place(c)], 1);
      }
    }
    for (std::uint32_t i = 0; n > 2 && i < children_.size(); ++i) {
      for (const Entry& tail : paths_of(place(children_.id(i)), n - 1)) {
        count_in(tails_, tail_counts_, tail.pattern, child_counts_[i] * tail.count);
      }
    }
    for (std::uint32_t i = 0; i < tails_.size(); ++i) {
      const std::uint32_t key[] = {label_.back(), tails_.id(i)};
      add(table_.intern(Family::path, n, key), tail_counts_[i]);
    }
    path_ends_.push_back(static_cast<std::uint32_t>(entries_.size() - first));
  }
}

// Adds the production too: it is the subtree that is cut off at depth 1.
void NodePatterns::add_subtrees(NodeId u, PatternId label) {
  const std::uint32_t deepest = table_.spec().subtree_depth;
  const std::span<const NodeId> children = dag_.children(u);
  std::uint8_t height = 0;
  for (const NodeId c : children) {
    height = std::max(height, static_cast<std::uint8_t>(height_[place(c)] + 1));
  }
  height = std::min(height, static_cast<std::uint8_t>(deepest));
  height_.push_back(height);
  PatternId cut = label;
  for (std::uint32_t depth = 1; depth <= deepest; ++depth) {
    const bool is_used = depth > 1 || deepest > 1 || table_.spec().productions;
    if (height >= depth && is_used) {
      key_.assign(1, label_.back());
      for (const NodeId c : children) {
        const std::uint32_t at = place(c);
        key_.push_back(depth == 1 ? label_[at] : cuts_[at * n_stored_cuts() + depth - 2]);
      }
      cut = depth == 1 ? table_.intern(Family::production, 0, key_)
                       : table_.intern(Family::subtree, depth, key_);
      add(cut, 1);
    }
    if (depth < deepest) cuts_.push_back(cut);
  }
}

void NodePatterns::add_siblings(NodeId u) {
  const std::uint32_t longest = table_.spec().siblings;
  if (longest < 2 || dag_.is_leaf(u)) return;
  row_.assign(1, kStart);
  for (const NodeId c : dag_.children(u)) row_.push_back(label_[place(c)]);
  row_.push_back(kEnd);
  for (std::uint32_t n = 2; n <= longest && n <= row_.size(); ++n) {
    tails_.clear();
    tail_counts_.clear();
    for (std::size_t i = 0; i + n <= row_.size(); ++i) {
      key_.assign(1, label_.back());
      key_.insert(key_.end(), row_.begin() + static_cast<std::ptrdiff_t>(i),
                  row_.begin() + static_cast<std::ptrdiff_t>(i + n));
      count_in(tails_, tail_counts_, table_.intern(Family::siblings, n, key_), 1);
    }
    for (std::uint32_t i = 0; i < tails_.size(); ++i) add(tails_.id(i), tail_counts_[i]);
  }
}

// A run belongs to the lowest node above all its leaves: they are below at least two of its
// children. So only the ends of the children's rows matter.
void NodePatterns::add_leaves(NodeId u) {
  const std::uint32_t longest = table_.spec().leaves;
  if (longest < 2) return;
  find_ends(u);
  row_.clear();
  owners_.clear();
  const std::span<const NodeId> children = dag_.children(u);
  if (children.size() < 2) return;
  for (std::uint32_t i = 0; i < children.size(); ++i) {
    const std::uint32_t at = place(children[i]);
    const auto append = [&](std::span<const LabelId> labels) {
      row_.insert(row_.end(), labels.begin(), labels.end());
      owners_.resize(row_.size(), i);
    };
    append(ends_of(at, false));
    if (n_leaves_[at] < longest) continue;
    row_.push_back(kNone);  // no run has leaves on both sides of it
    append(ends_of(at, true));
  }
  tails_.clear();
  tail_counts_.clear();
  for (std::size_t i = 0; i < row_.size(); ++i) {
    for (std::size_t n = 1; n <= longest && i + n <= row_.size(); ++n) {
      if (row_[i + n - 1] == kNone) break;
      if (owners_[i + n - 1] == owners_[i]) continue;
      const std::span<const LabelId> run(row_.data() + i, n);
      const auto level = static_cast<std::uint32_t>(n);
      count_in(tails_, tail_counts_, table_.intern(Family::leaves, level, run), 1);
    }
  }
  for (std::uint32_t i = 0; i < tails_.size(); ++i) add(tails_.id(i), tail_counts_[i]);
}

// Finds the first and the last leaves below a node from those of its children.
void NodePatterns::find_ends(NodeId u) {
  const std::span<const NodeId> children = dag_.children(u);
  const std::size_t first = ends_.size();
  const std::uint32_t most = n_ends();
  ends_.resize(first + 2 * std::size_t{most}, kNone);
  std::uint32_t n_leaves = children.empty() ? 1 : 0;
  if (children.empty()) ends_[first] = ends_[first + most] = label_.back();
  for (const NodeId c : children) {
    const std::span<const LabelId> own = ends_of(place(c), false);
    for (std::size_t i = 0; i < own.size() && n_leaves + i < most; ++i) {
      ends_[first + n_leaves + i] = own[i];
    }
    n_leaves = std::min(n_leaves + n_leaves_[place(c)], most + 1);
  }
  n_leaves_.push_back(n_leaves);
  if (children.empty()) return;
  std::uint32_t n_free = std::min(n_leaves, most);  // from the end
  for (std::size_t k = children.size(); k-- > 0 && n_free > 0;) {
    const std::span<const LabelId> own = ends_of(place(children[k]), true);
    for (std::size_t i = own.size(); i-- > 0 && n_free > 0;) {
      ends_[first + most + --n_free] = own[i];
    }
  }
}

}  // namespace filbert
