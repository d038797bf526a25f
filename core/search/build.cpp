#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "base/parallel_sort.hpp"
#include "forest/distinct_trees.hpp"
#include "forest/occurrences.hpp"
#include "rows/matrix.hpp"
#include "search/numbering.hpp"
#include "search/postings.hpp"
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
    id_ = number_nodes(dag_, distinct_.roots, n_threads_, watch_, out_);
    list_trees(distinct_, id_, out_);
    if (!searched_) {
      out_.norms.assign(distinct_.roots.size(), kApart);
      out_.apart_logs.assign(distinct_.roots.size(), kApart);
      return std::move(out_);
    }
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

  // ---------------------------------------------------------------- what trees have

  // Some consecutive trees: the nodes of each, ascending by their new numbers.
  struct Rows {
    std::vector<std::uint64_t> ends;
    std::vector<NodeId> nodes;
    std::vector<std::uint32_t> counts;
    std::vector<double> rests;  // if classes are labels; 0 for leaves and trees set apart
  };

  // The norms and nodes of trees.
  void measure_trees() {
    const std::size_t n = distinct_.roots.size();
    out_.norms.assign(n, 0.0);
    constexpr std::size_t kChunk = 64;
    std::vector<Rows> parts((n + kChunk - 1) / kChunk);
    parallel_for(parts.size(), n_threads_, watch_,
                 [&](std::size_t task, int, const StopToken& token) {
                   const std::size_t last = std::min(n, (task + 1) * kChunk);
                   for (std::size_t t = task * kChunk; t < last; ++t) {
                     const QueryTree tree =
                         query_tree(spec_, dag_, distinct_.roots[t], distinct_.first[t], token);
                     const TreeMeasure& measure = tree.measure;
                     out_.norms[t] = measure.apart ? kApart : std::sqrt(measure.self);
                     add_row(tree, parts[task]);
                     token.check();
                   }
                 });
    join(parts);
  }

  void add_row(const QueryTree& query, Rows& rows) const {
    const LocalTree& tree = query.tree;
    std::vector<std::uint64_t> order;  // new numbers, and numbers in the tree
    for (std::uint32_t u = 0; u < tree.size(); ++u) {
      order.push_back(std::uint64_t{id_[tree.nodes[u]]} << 32 | u);
    }
    std::sort(order.begin(), order.end());
    const bool by_label = spec_->matching() == Matching::label;
    for (const std::uint64_t one : order) {
      const auto u = static_cast<std::uint32_t>(one);
      rows.nodes.push_back(static_cast<NodeId>(one >> 32));
      rows.counts.push_back(tree.counts[u]);
      if (!by_label) continue;
      const bool has_rest = !query.measure.apart && !tree.is_leaf(u);
      rows.rests.push_back(has_rest ? query.measure.rest[u] : 0.0);
    }
    rows.ends.push_back(rows.nodes.size());
  }

  void join(std::vector<Rows>& parts) {
    std::vector<std::uint64_t> begin;  // by part
    for (const Rows& part : parts) {
      begin.push_back(x_.row_begin.back());
      for (const std::uint64_t end : part.ends) x_.row_begin.push_back(begin.back() + end);
    }
    const std::uint64_t n = x_.row_begin.back();
    x_.nodes.resize(n);
    x_.counts.resize(n);
    if (spec_->matching() == Matching::label) rests_.resize(n);
    const int threads = threads_for(10.0 * static_cast<double>(n), n_threads_);
    parallel_for(parts.size(), threads, watch_, [&](std::size_t i, int, const StopToken&) {
      const auto place = static_cast<std::ptrdiff_t>(begin[i]);
      std::copy(parts[i].nodes.begin(), parts[i].nodes.end(), x_.nodes.begin() + place);
      std::copy(parts[i].counts.begin(), parts[i].counts.end(), x_.counts.begin() + place);
      std::copy(parts[i].rests.begin(), parts[i].rests.end(), rests_.begin() + place);
      parts[i] = {};
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

  bool is_apart(std::size_t t) const { return out_.norms[t] == kApart; }

  // ---------------------------------------------------------------- lists of trees

  // Trees that are set apart have no entries.
  template <class Entries>
  Postings post(std::size_t n_keys, const Entries& entries, bool with_rests = false) const {
    const auto of_lists = [&](std::uint32_t t, const auto& put) {
      if (!is_apart(t)) entries(t, put);
    };
    return post_trees(n_keys, x_.row_begin, of_lists, with_rests, n_threads_, watch_);
  }

  void take_classes(Postings&& found) {
    out_.class_ends = std::move(found.ends);
    out_.class_trees = std::move(found.trees);
    out_.class_counts = std::move(found.counts);
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
    take_classes(post(n_classes, entries));
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
    parallel_sort(known, std::less<>(), n_threads_, watch_);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    if (known.size() + n >= kNone) throw CapacityError("there are too many pairs of labels");
    std::vector<std::uint32_t> class_of(pairs.size());  // by edge
    parallel_ranges(pairs.size(), n_threads_, watch_, [&](std::size_t first, std::size_t last) {
      for (std::size_t e = first; e < last; ++e) {
        const auto place = std::lower_bound(known.begin(), known.end(), pairs[e]) - known.begin();
        class_of[e] = n + static_cast<std::uint32_t>(place);
      }
    });
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
    Postings found = post(n + known.size(), entries, true);
    const std::uint64_t n_rests = n == 0 ? 0 : found.ends[n - 1];
    for (std::uint64_t i = 0; i < n_rests; ++i) {
      out_.class_rests.push_back(rounded_up(found.rests[i]));
    }
    take_classes(std::move(found));
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
        if (!is_leaf(u) && linked_[u] != 0) put(member_[u], x_.counts[i], 0.0);
      }
    };
    Postings found = post(members_.size(), entries);
    out_.posting_ends = std::move(found.ends);
    out_.posting_trees = std::move(found.trees);
    out_.posting_counts = std::move(found.counts);
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
    parallel_ranges(members_.size(), n_threads_, watch_, [&](std::size_t first, std::size_t last) {
      std::vector<LabelId> child_labels;
      for (std::size_t i = first; i < last; ++i) {
        const NodeId u = members_[i];
        child_labels.clear();
        for (const NodeId child : children_of(u)) child_labels.push_back(labels[child]);
        hash[u] = production_hash(labels[u], child_labels);
      }
    });
    sort_members(hash, order);
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

  // By hash, then by production, which only decides where hashes of different productions are
  // equal.
  template <class Order>
  void sort_members(const std::vector<std::uint64_t>& hash, const Order& order) {
    struct Key {
      std::uint64_t hash;
      NodeId node;
    };
    std::vector<Key> keys;
    keys.reserve(members_.size());
    for (const NodeId u : members_) keys.push_back({hash[u], u});
    const auto less = [](const Key& a, const Key& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.node < b.node;
    };
    parallel_sort(keys, less, n_threads_, watch_);
    for (std::size_t first = 0, last = 0; first < keys.size(); first = last) {
      bool one_production = true;
      for (last = first + 1; last < keys.size() && keys[last].hash == keys[first].hash; ++last) {
        one_production = one_production && order(keys[first].node, keys[last].node) == 0;
      }
      if (one_production) continue;
      std::stable_sort(keys.begin() + static_cast<std::ptrdiff_t>(first),
                       keys.begin() + static_cast<std::ptrdiff_t>(last),
                       [&](const Key& a, const Key& b) { return order(a.node, b.node) < 0; });
    }
    for (std::size_t i = 0; i < keys.size(); ++i) members_[i] = keys[i].node;
  }

  // The links of some productions, as in a segment.
  struct Links {
    std::vector<std::uint64_t> slot_ends, group_ends, link_ends;
    std::vector<std::uint32_t> group_classes, parents, children;
  };

  void list_links() {
    linked_.assign(out_.node_labels.size(), 0);
    const double steps = 20.0 * static_cast<double>(members_.size());
    const int threads = threads_for(steps, n_threads_);
    const std::size_t n_chunks = threads == kInline ? 1 : 16 * static_cast<std::size_t>(threads);
    std::vector<std::uint32_t> begin;  // chunks of about as many members
    for (std::size_t c = 0; c <= n_chunks; ++c) {
      const auto& ends = out_.member_ends;
      const std::uint64_t least = members_.size() * c / n_chunks;
      begin.push_back(static_cast<std::uint32_t>(std::lower_bound(ends.begin(), ends.end(), least) -
                                                 ends.begin()));
    }
    begin.front() = 0;
    begin.back() = static_cast<std::uint32_t>(out_.examples.size());
    std::vector<Links> found(n_chunks);
    parallel_for(n_chunks, threads, watch_, [&](std::size_t c, int, const StopToken& token) {
      for (std::uint32_t p = begin[c]; p < begin[c + 1]; ++p) {
        add_links(p, found[c]);
        token.check();
      }
    });
    for (Links& links : found) {
      append_ends(out_.slot_ends, links.slot_ends, out_.group_ends.size());
      append_ends(out_.group_ends, links.group_ends, out_.group_classes.size());
      append_ends(out_.link_ends, links.link_ends, out_.link_parents.size());
      append(out_.group_classes, links.group_classes);
      append(out_.link_parents, links.parents);
      append(out_.link_children, links.children);
      links = {};
    }
  }

  static void append(std::vector<std::uint32_t>& list, const std::vector<std::uint32_t>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }
  static void append_ends(std::vector<std::uint64_t>& ends, const std::vector<std::uint64_t>& more,
                          std::uint64_t before) {
    for (const std::uint64_t end : more) ends.push_back(before + end);
  }

  // A thread writes linked_ for the members of its own productions only.
  void add_links(std::uint32_t p, Links& out) {
    struct Link {
      std::uint32_t cls, parent, child;
    };
    const auto first_of = [&](std::uint32_t cls) {
      return cls == 0 ? 0 : out_.member_ends[cls - 1];
    };
    std::vector<Link> links;
    const std::size_t arity = children_of(out_.examples[p]).size();
    for (std::size_t slot = 0; slot < arity; ++slot) {
      links.clear();
      for (std::uint64_t i = first_of(p); i < out_.member_ends[p]; ++i) {
        const NodeId child = children_of(members_[i])[slot];
        if (is_leaf(child)) continue;
        linked_[members_[i]] = 1;
        const std::uint32_t cls = production_[child];
        links.push_back({cls, static_cast<std::uint32_t>(i - first_of(p)),
                         static_cast<std::uint32_t>(member_[child] - first_of(cls))});
      }
      std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
        return a.cls != b.cls ? a.cls < b.cls : a.parent < b.parent;
      });
      for (std::size_t i = 0; i < links.size(); ++i) {
        out.parents.push_back(links[i].parent);
        out.children.push_back(links[i].child);
        if (i + 1 < links.size() && links[i + 1].cls == links[i].cls) continue;
        out.group_classes.push_back(links[i].cls);
        out.link_ends.push_back(out.parents.size());
      }
      out.group_ends.push_back(out.group_classes.size());
    }
    out.slot_ends.push_back(out.group_ends.size());
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

  std::vector<NodeId> id_;                          // by node of the forest
  Occurrences x_{{0}, {}, {}};                      // with the segment's nodes
  std::vector<double> rests_;                       // by entry of x_
  std::vector<NodeId> members_;                     // nodes by production
  std::vector<std::uint32_t> production_, member_;  // by node
  std::vector<std::uint8_t> linked_;                // by node: whether it has inner children
};

}  // namespace

SegmentArrays build_segment(const KernelSpec& spec, Trees trees, int n_threads,
                            const Watch& watch) {
  return Builder(spec, trees, n_threads, watch).run();
}

}  // namespace filbert
