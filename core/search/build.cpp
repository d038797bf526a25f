#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/errors.hpp"
#include "forest/distinct_trees.hpp"
#include "forest/occurrences.hpp"
#include "rows/matrix.hpp"
#include "search/query_tree.hpp"
#include "search/segment.hpp"

namespace filbert {

namespace {

constexpr double kApart = std::numeric_limits<double>::infinity();

class Builder {
 public:
  Builder(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch)
      : spec_(spec),
        dag_(trees.dag),
        distinct_(distinct_trees(trees.dag, trees.roots)),
        searched_(!spec.chosen && spec->has_search()),
        n_threads_(n_threads),
        watch_(watch) {}

  SegmentArrays run() {
    number_labels();
    number_nodes();
    list_trees();
    if (!searched_) {
      out_.norms.assign(distinct_.roots.size(), kApart);
      out_.apart_logs.assign(distinct_.roots.size(), kApart);
      return std::move(out_);
    }
    count_nodes();
    measure_trees();
    measure_apart();
    switch (spec_->matching()) {
      case Matching::subtree:
        post_classes(out_.node_labels.size(), [&](NodeId u) { return is_leaf(u) ? kNone : u; });
        break;
      case Matching::production: link_productions(); break;
      case Matching::label:
        post_labels();
        list_inner();
        break;
    }
    return std::move(out_);
  }

 private:
  bool is_leaf(NodeId u) const { return children_of(u).empty(); }
  std::span<const NodeId> children_of(NodeId u) const {
    const std::uint64_t first = u == 0 ? 0 : out_.child_ends[u - 1];
    return {out_.children.data() + first, out_.child_ends[u] - first};
  }

  // ---------------------------------------------------------------- labels, nodes and trees

  void number_labels() {
    nodes_ = reachable(dag_, distinct_.roots);
    std::vector<LabelId> used;
    rank_.assign(dag_.labels().size(), kNone);
    for (const NodeId u : nodes_) {
      if (std::exchange(rank_[dag_.label(u)], 0) == kNone) used.push_back(dag_.label(u));
    }
    const LabelTable& labels = dag_.labels();
    std::sort(used.begin(), used.end(),
              [&](LabelId a, LabelId b) { return labels.text(a) < labels.text(b); });
    for (const LabelId label : used) {
      rank_[label] = static_cast<LabelId>(out_.label_ends.size());
      const std::string_view text = labels.text(label);
      out_.label_bytes.insert(out_.label_bytes.end(), text.begin(), text.end());
      out_.label_ends.push_back(out_.label_bytes.size());
    }
  }

  void number_nodes() {
    const std::vector<std::uint32_t>& depths = dag_.depths();
    id_.assign(dag_.size(), kNone);
    std::vector<std::uint64_t> ends;
    for (const NodeId u : nodes_) {
      if (ends.size() < depths[u]) ends.resize(depths[u], 0);
      ++ends[depths[u] - 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<NodeId> by_height(nodes_.size());
    std::vector<std::uint64_t> next(ends);
    for (auto u = nodes_.rbegin(); u != nodes_.rend(); ++u) by_height[--next[depths[*u] - 1]] = *u;
    std::uint64_t first = 0;
    for (const std::uint64_t last : ends) {
      sort_level({by_height.data() + first, last - first});
      for (std::uint64_t i = first; i < last; ++i) id_[by_height[i]] = static_cast<NodeId>(i);
      first = last;
    }
    for (const NodeId u : by_height) {
      out_.node_labels.push_back(rank_[dag_.label(u)]);
      for (const NodeId child : dag_.children(u)) out_.children.push_back(id_[child]);
      out_.child_ends.push_back(out_.children.size());
    }
    out_.height_ends = std::move(ends);
  }

  // Children are on lower levels and have their numbers already.
  void sort_level(std::span<NodeId> level) const {
    struct Key {
      std::uint64_t label_and_arity;
      NodeId first_child, node;
    };
    std::vector<Key> keys;
    for (const NodeId u : level) {
      const auto children = dag_.children(u);
      keys.push_back({std::uint64_t{rank_[dag_.label(u)]} << 32 | children.size(),
                      children.empty() ? 0 : id_[children[0]], u});
    }
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
      if (a.label_and_arity != b.label_and_arity) return a.label_and_arity < b.label_and_arity;
      if (a.first_child != b.first_child) return a.first_child < b.first_child;
      const auto x = dag_.children(a.node);
      const auto y = dag_.children(b.node);
      for (std::size_t i = 1; i < x.size(); ++i) {
        if (id_[x[i]] != id_[y[i]]) return id_[x[i]] < id_[y[i]];
      }
      return false;
    });
    for (std::size_t i = 0; i < level.size(); ++i) level[i] = keys[i].node;
  }

  void list_trees() {
    for (const NodeId root : distinct_.roots) out_.roots.push_back(id_[root]);
    std::vector<std::uint64_t> ends(distinct_.roots.size(), 0);
    for (const std::uint32_t tree : distinct_.tree_of) ++ends[tree];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    out_.positions.resize(distinct_.tree_of.size());
    std::vector<std::uint64_t> next(ends);
    for (std::size_t i = distinct_.tree_of.size(); i-- > 0;) {
      out_.positions[--next[distinct_.tree_of[i]]] = static_cast<std::uint32_t>(i);
    }
    out_.position_ends = std::move(ends);
  }

  // ---------------------------------------------------------------- what trees have

  // The nodes of each tree, ascending by their new numbers.
  void count_nodes() {
    const std::vector<std::uint32_t> all(dag_.size(), 0);
    x_ = count_occurrences(dag_, distinct_.roots, all, n_threads_, watch_);
    std::vector<std::pair<NodeId, std::uint32_t>> row;
    for (std::size_t t = 0; t < x_.n_trees(); ++t) {
      row.clear();
      for (std::uint64_t i = x_.row_begin[t]; i < x_.row_begin[t + 1]; ++i) {
        row.emplace_back(id_[x_.nodes[i]], x_.counts[i]);
      }
      std::sort(row.begin(), row.end());
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::tie(x_.nodes[x_.row_begin[t] + i], x_.counts[x_.row_begin[t] + i]) = row[i];
      }
    }
  }

  // Norms; and for labels the rests, by entry of x_.
  void measure_trees() {
    const std::size_t n = distinct_.roots.size();
    const bool by_label = spec_->matching() == Matching::label;
    if (by_label) rests_.assign(x_.nodes.size(), 0.0);
    out_.norms.assign(n, 0.0);
    constexpr std::size_t kChunk = 64;
    parallel_for((n + kChunk - 1) / kChunk, n_threads_, watch_,
                 [&](std::size_t task, int, const StopToken& token) {
                   const std::size_t last = std::min(n, (task + 1) * kChunk);
                   for (std::size_t t = task * kChunk; t < last; ++t) {
                     const QueryTree tree =
                         query_tree(spec_, dag_, distinct_.roots[t], distinct_.first[t], token);
                     const bool apart = tree.measure.apart;
                     out_.norms[t] = apart ? kApart : std::sqrt(tree.measure.self);
                     if (by_label && !apart) keep_rests(t, tree);
                     token.check();
                   }
                 });
  }

  void measure_apart() {
    std::vector<NodeId> roots;
    for (std::size_t t = 0; t < out_.norms.size(); ++t) {
      if (is_apart(t)) roots.push_back(distinct_.roots[t]);
    }
    if (roots.empty()) return;
    const std::vector<Wide> selves = self_kernels(spec_, {dag_, roots}, n_threads_, watch_);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const Wide norm = sqrt(selves[i]);
      const double log_norm =
          std::log(norm.mantissa()) + 512.0 * std::log(2.0) * static_cast<double>(norm.power());
      const double log_size = std::log(static_cast<double>(dag_.sizes()[roots[i]]));
      out_.apart_logs.push_back(norm.is_zero() ? kApart : log_size - log_norm);
    }
  }

  void keep_rests(std::size_t t, const QueryTree& tree) {
    const auto nodes = x_.nodes_of(t);
    for (std::uint32_t u = 0; u < tree.tree.size(); ++u) {
      if (tree.tree.is_leaf(u)) continue;
      const auto place = std::lower_bound(nodes.begin(), nodes.end(), id_[tree.tree.nodes[u]]);
      rests_[x_.row_begin[t] + static_cast<std::size_t>(place - nodes.begin())] =
          tree.measure.rest[u];
    }
  }

  bool is_apart(std::size_t t) const { return out_.norms[t] == kApart; }

  // ---------------------------------------------------------------- lists of trees

  // Lists of trees by key, the trees ascending. entries(t, put) calls put(key, count, rest), where
  // keys may repeat.
  template <class Entries>
  void post(std::size_t n_keys, const Entries& entries, std::vector<std::uint64_t>& ends,
            std::vector<std::uint32_t>& trees, std::vector<std::uint32_t>& counts,
            std::vector<float>* rests) {
    ends.assign(n_keys, 0);
    std::vector<std::uint32_t> seen(n_keys, kNone);
    const auto visit_trees = [&](const auto& put) {
      for (std::uint32_t t = 0; t < distinct_.roots.size(); ++t) {
        if (is_apart(t)) continue;
        entries(t, [&](std::uint32_t key, std::uint64_t count, double rest) {
          put(t, key, count, rest);
        });
      }
    };
    visit_trees([&](std::uint32_t t, std::uint32_t key, std::uint64_t, double) {
      if (std::exchange(seen[key], t) != t) ++ends[key];
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::uint64_t> next(n_keys, 0);
    for (std::size_t key = 1; key < n_keys; ++key) next[key] = ends[key - 1];
    const std::size_t n = ends.empty() ? 0 : ends.back();
    trees.assign(n, 0);
    counts.assign(n, 0);
    std::vector<double> sums(rests == nullptr ? 0 : n, 0.0);
    std::fill(seen.begin(), seen.end(), kNone);
    visit_trees([&](std::uint32_t t, std::uint32_t key, std::uint64_t count, double rest) {
      if (std::exchange(seen[key], t) != t) trees[next[key]++] = t;
      const std::uint64_t place = next[key] - 1;
      counts[place] = saturated(counts[place] + count);
      if (rests != nullptr) sums[place] += rest;
    });
    if (rests == nullptr) return;
    for (const double sum : sums) rests->push_back(rounded_up(sum));
  }

  static std::uint32_t saturated(std::uint64_t count) {
    if (count >= kNone) throw CapacityError("a tree has more than 2^32 nodes of one class");
    return static_cast<std::uint32_t>(count);
  }
  static float rounded_up(double x) {
    const auto narrow = static_cast<float>(x);
    return narrow < x ? std::nextafter(narrow, std::numeric_limits<float>::infinity()) : narrow;
  }

  template <class ClassOf>
  void post_classes(std::size_t n_classes, const ClassOf& class_of) {
    const auto entries = [&](std::uint32_t t, const auto& put) {
      for (std::uint64_t i = x_.row_begin[t]; i < x_.row_begin[t + 1]; ++i) {
        const std::uint32_t cls = class_of(x_.nodes[i]);
        if (cls == kNone) continue;
        put(cls, x_.counts[i], 0.0);
      }
    };
    post(n_classes, entries, out_.class_ends, out_.class_trees, out_.class_counts, nullptr);
  }

  // Labels, and pairs of a label and a child's label.
  void post_labels() {
    const auto n = static_cast<std::uint32_t>(out_.label_ends.size());
    std::vector<std::uint64_t> pairs;  // by edge
    for (NodeId u = 0; u < out_.node_labels.size(); ++u) {
      for (const NodeId child : children_of(u)) {
        pairs.push_back(label_pair(out_.node_labels[u], out_.node_labels[child]));
      }
    }
    std::vector<std::uint64_t>& known = out_.label_pairs;
    known = pairs;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    if (known.size() + n >= kNone) throw CapacityError("there are too many pairs of labels");
    std::vector<std::uint32_t> class_of;  // by edge
    for (const std::uint64_t pair : pairs) {
      const auto place = std::lower_bound(known.begin(), known.end(), pair) - known.begin();
      class_of.push_back(n + static_cast<std::uint32_t>(place));
    }
    const auto entries = [&](std::uint32_t t, const auto& put) {
      for (std::uint64_t i = x_.row_begin[t]; i < x_.row_begin[t + 1]; ++i) {
        const NodeId u = x_.nodes[i];
        put(out_.node_labels[u], x_.counts[i], x_.counts[i] * rests_[i]);
        const std::uint64_t last = out_.child_ends[u];
        for (std::uint64_t e = last - children_of(u).size(); e < last; ++e) {
          put(class_of[e], x_.counts[i], 0.0);
        }
      }
    };
    post(n + known.size(), entries, out_.class_ends, out_.class_trees, out_.class_counts,
         &out_.class_rests);
    out_.class_rests.resize(n == 0 ? 0 : out_.class_ends[n - 1]);
  }

  // ---------------------------------------------------------------- productions

  void link_productions() {
    number_productions();
    const auto n = static_cast<std::uint32_t>(out_.examples.size());
    const bool leaves = spec_->counts_leaves();
    post_classes(n + (leaves ? out_.label_ends.size() : 0), [&](NodeId u) {
      if (!is_leaf(u)) return production_[u];
      return leaves ? n + out_.node_labels[u] : kNone;
    });
    list_links();
    const auto entries = [&](std::uint32_t t, const auto& put) {
      for (std::uint64_t i = x_.row_begin[t]; i < x_.row_begin[t + 1]; ++i) {
        const NodeId u = x_.nodes[i];
        if (!is_leaf(u) && linked_[u]) put(member_[u], x_.counts[i], 0.0);
      }
    };
    post(members_.size(), entries, out_.posting_ends, out_.posting_trees, out_.posting_counts,
         nullptr);
  }

  // Sorts the inner nodes by production, and within a production by number.
  void number_productions() {
    for (NodeId u = 0; u < out_.node_labels.size(); ++u) {
      if (!is_leaf(u)) members_.push_back(u);
    }
    const auto& labels = out_.node_labels;
    const auto order = [&](NodeId a, NodeId b) {
      if (labels[a] != labels[b]) return labels[a] < labels[b] ? -1 : 1;
      const auto x = children_of(a);
      const auto y = children_of(b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      for (std::size_t j = 0; j < x.size(); ++j) {
        if (labels[x[j]] != labels[y[j]]) return labels[x[j]] < labels[y[j]] ? -1 : 1;
      }
      return 0;
    };
    std::vector<std::uint64_t> hash(labels.size(), 0);
    std::vector<LabelId> child_labels;
    for (const NodeId u : members_) {
      child_labels.clear();
      for (const NodeId child : children_of(u)) child_labels.push_back(labels[child]);
      hash[u] = production_hash(labels[u], child_labels);
    }
    std::sort(members_.begin(), members_.end(), [&](NodeId a, NodeId b) {
      if (hash[a] != hash[b]) return hash[a] < hash[b];
      const int by_labels = order(a, b);
      return by_labels != 0 ? by_labels < 0 : a < b;
    });
    production_.assign(labels.size(), kNone);
    member_.assign(labels.size(), kNone);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const NodeId u = members_[i];
      if (i == 0 || order(members_[i - 1], u) != 0) {
        if (i > 0) out_.member_ends.push_back(i);
        out_.examples.push_back(u);
        out_.hashes.push_back(hash[u]);
      }
      production_[u] = static_cast<std::uint32_t>(out_.examples.size() - 1);
      member_[u] = static_cast<std::uint32_t>(i);
    }
    if (!members_.empty()) out_.member_ends.push_back(members_.size());
  }

  void list_links() {
    struct Link {
      std::uint32_t cls, parent, child;
    };
    std::vector<Link> links;
    linked_.assign(out_.node_labels.size(), false);
    const auto first_of = [&](std::uint32_t p) { return p == 0 ? 0 : out_.member_ends[p - 1]; };
    for (std::uint32_t p = 0; p < out_.examples.size(); ++p) {
      const std::size_t arity = children_of(out_.examples[p]).size();
      for (std::size_t slot = 0; slot < arity; ++slot) {
        links.clear();
        for (std::uint64_t i = first_of(p); i < out_.member_ends[p]; ++i) {
          const NodeId child = children_of(members_[i])[slot];
          if (is_leaf(child)) continue;
          linked_[members_[i]] = true;
          const std::uint32_t cls = production_[child];
          links.push_back({cls, static_cast<std::uint32_t>(i - first_of(p)),
                           static_cast<std::uint32_t>(member_[child] - first_of(cls))});
        }
        std::stable_sort(links.begin(), links.end(),
                         [](const Link& a, const Link& b) { return a.cls < b.cls; });
        for (std::size_t i = 0; i < links.size(); ++i) {
          out_.link_parents.push_back(links[i].parent);
          out_.link_children.push_back(links[i].child);
          if (i + 1 < links.size() && links[i + 1].cls == links[i].cls) continue;
          out_.group_classes.push_back(links[i].cls);
          out_.link_ends.push_back(out_.link_parents.size());
        }
        out_.group_ends.push_back(out_.group_classes.size());
      }
      out_.slot_ends.push_back(out_.group_ends.size());
    }
  }

  // ---------------------------------------------------------------- labels

  void list_inner() {
    for (std::size_t t = 0; t < x_.n_trees(); ++t) {
      for (std::uint64_t i = x_.row_begin[t]; i < x_.row_begin[t + 1]; ++i) {
        if (is_leaf(x_.nodes[i])) continue;
        out_.inner_nodes.push_back(x_.nodes[i]);
        out_.inner_counts.push_back(x_.counts[i]);
      }
      out_.inner_ends.push_back(out_.inner_nodes.size());
    }
    out_.most_children.assign(out_.label_ends.size(), 0);
    for (NodeId u = 0; u < out_.node_labels.size(); ++u) {
      std::uint32_t& most = out_.most_children[out_.node_labels[u]];
      most = std::max(most, static_cast<std::uint32_t>(children_of(u).size()));
    }
  }

  const KernelSpec& spec_;
  const Dag& dag_;
  const DistinctTrees distinct_;
  const bool searched_;
  const int n_threads_;
  const Watch& watch_;
  SegmentArrays out_;

  std::vector<NodeId> nodes_;                       // of the forest
  std::vector<LabelId> rank_;                       // by label of the forest
  std::vector<NodeId> id_;                          // by node of the forest
  Occurrences x_;                                   // with the segment's nodes
  std::vector<double> rests_;                       // by entry of x_
  std::vector<NodeId> members_;                     // nodes by production
  std::vector<std::uint32_t> production_, member_;  // by node
  std::vector<bool> linked_;                        // by node: it has inner children
};

}  // namespace

SegmentArrays build_segment(const KernelSpec& spec, Trees trees, int n_threads,
                            const Watch& watch) {
  return Builder(spec, trees, n_threads, watch).run();
}

}  // namespace filbert
