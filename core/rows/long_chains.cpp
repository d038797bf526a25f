#include "rows/long_chains.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace filbert {

namespace {

bool has_one_child(const Dag& dag, NodeId u) { return dag.arity(u) == 1; }

// The position of a node among the tree's nodes, or kNone.
std::uint32_t position(const CountedTree& tree, NodeId u) {
  const auto found = std::lower_bound(tree.nodes.begin(), tree.nodes.end(), u);
  if (found == tree.nodes.end() || *found != u) return kNone;
  return static_cast<std::uint32_t>(found - tree.nodes.begin());
}

// ------------------------------------------------------------------------------ prefix order
//
// Read the productions downwards from a node with one child, as long as nodes have one child: this
// gives a string of productions. With m the length of the common prefix of two such strings,
//
//   Delta(u, v) = lambda + lambda^2 + ... + lambda^m
//                 + lambda^m Delta(below), if both end there
//
// So the sum over all pairs needs the sorted strings and the common prefixes of neighbours, as in a
// suffix array. The strings are the suffixes of the chains. Prefix doubling (Manber & Myers 1993)
// ranks them by their first 1, 2, 4, ... productions, and the ranks of all levels give the common
// prefix of any two strings in a logarithmic number of steps.

class PrefixOrder {
 public:
  // `next[i]` is the string without its first symbol, and `first[i]` is that symbol. The last entry
  // is the empty string; its `next` is itself.
  PrefixOrder(std::vector<std::uint32_t> next, std::vector<std::uint32_t> first,
              const StopToken& token) {
    ranks_.push_back(std::move(first));
    jumps_.push_back(std::move(next));
    std::size_t n_ranks = compress(ranks_.back());
    for (;;) {
      token.check();
      auto [ranks, n_finer] = refine(n_ranks);
      if (n_finer == n_ranks) return;  // equal prefixes of this length mean equal strings
      n_ranks = n_finer;
      std::vector<std::uint32_t> jump(jumps_.back().size());
      for (std::size_t i = 0; i < jump.size(); ++i) jump[i] = jumps_.back()[jumps_.back()[i]];
      ranks_.push_back(std::move(ranks));
      jumps_.push_back(std::move(jump));
    }
  }

  std::uint32_t rank(std::uint32_t i) const { return ranks_.back()[i]; }

  // The number of symbols that two different strings share, not counting their last symbol.
  std::size_t common_prefix(std::uint32_t i, std::uint32_t j) const {
    std::size_t length = 0;
    for (std::size_t level = ranks_.size(); level-- > 0;) {
      if (ranks_[level][i] != ranks_[level][j]) continue;
      length += std::size_t{1} << level;
      i = jumps_[level][i];
      j = jumps_[level][j];
    }
    return length;
  }

 private:
  static std::size_t compress(std::vector<std::uint32_t>& values) {
    std::vector<std::uint32_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (std::uint32_t& value : values) {
      value = static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                         sorted.begin());
    }
    return sorted.size();
  }

  // Sorts by (rank of the first half, rank of the second half) with two counting sorts.
  std::pair<std::vector<std::uint32_t>, std::size_t> refine(std::size_t n_ranks) const {
    const std::vector<std::uint32_t>& rank = ranks_.back();
    const std::vector<std::uint32_t>& jump = jumps_.back();
    std::vector<std::uint32_t> order(rank.size());
    std::iota(order.begin(), order.end(), 0u);
    order = counting_sort(order, n_ranks, [&](std::uint32_t i) { return rank[jump[i]]; });
    order = counting_sort(order, n_ranks, [&](std::uint32_t i) { return rank[i]; });
    std::vector<std::uint32_t> finer(rank.size());
    std::uint32_t n_finer = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::uint32_t i = order[k];
      const bool same =
          k > 0 && rank[i] == rank[order[k - 1]] && rank[jump[i]] == rank[jump[order[k - 1]]];
      if (!same) ++n_finer;
      finer[i] = n_finer - 1;
    }
    return {std::move(finer), n_finer};
  }

  template <class Key>
  static std::vector<std::uint32_t> counting_sort(const std::vector<std::uint32_t>& items,
                                                  std::size_t n_keys, const Key& key) {
    std::vector<std::uint32_t> begin(n_keys + 1, 0);
    for (const std::uint32_t i : items) ++begin[key(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> sorted(items.size());
    for (const std::uint32_t i : items) sorted[begin[key(i)]++] = i;
    return sorted;
  }

  std::vector<std::vector<std::uint32_t>> ranks_;  // by level: ranks by the first 2^level symbols
  std::vector<std::vector<std::uint32_t>> jumps_;  // by level: the string without these symbols
};

// ------------------------------------------------------------------------------ one pair of trees

class ChainPair {
 public:
  ChainPair(const SubsetTree& kernel, const CountedTree& a, const CountedTree& b,
            const StopToken& token)
      : kernel_(kernel), a_(a), b_(b), token_(token) {
    list_entries(a_, entry_of_a_);
    n_entries_a_ = entries_.size();
    list_entries(b_, entry_of_b_);
    measure_chains();
  }

  Wide value() {
    const PrefixOrder order = prefix_order();
    compute_branching(order);
    Wide total = sum_of_branching();
    total += sum_of_chains(order);
    if (kernel_.include_leaves) total += sum_of_leaves();
    return total;
  }

 private:
  // A node with one child, in one of the trees.
  struct Entry {
    NodeId node;
    std::uint32_t cls;
    double count;
    std::uint32_t next;    // the child's entry, or kNone if the chain ends
    NodeId below;          // the inner node with several children at the end, or kNone
    std::uint32_t length;  // the number of nodes with one child from here on
  };

  // `entry_of` is indexed by a node's position in the tree.
  void list_entries(const CountedTree& tree, std::vector<std::uint32_t>& entry_of) {
    entry_of.assign(tree.nodes.size(), kNone);
    for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
      const NodeId u = tree.nodes[k];
      if (!has_one_child(tree.dag, u)) continue;
      const NodeId child = tree.dag.children(u)[0];
      Entry entry{u, tree.class_of[u], static_cast<double>(tree.counts[k]), kNone, kNone, 1};
      if (has_one_child(tree.dag, child)) {
        // A child whose production is not in the other forest is in no list: the chain ends.
        const std::uint32_t at = position(tree, child);
        if (at != kNone) entry.next = entry_of[at];
      } else if (!tree.dag.is_leaf(child) && tree.class_of[child] != kNone) {
        entry.below = child;
      }
      entry_of[k] = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back(entry);
    }
  }

  void measure_chains() {
    std::uint32_t longest = 0;
    for (Entry& entry : entries_) {  // children come first
      if (entry.next != kNone) {
        entry.length = entries_[entry.next].length + 1;
        entry.below = entries_[entry.next].below;
      }
      longest = std::max(longest, entry.length);
    }
    geometric_.assign(longest + 1, 0.0);
    powers_.assign(longest + 1, Wide(1.0));
    for (std::uint32_t m = 1; m <= longest; ++m) {
      powers_[m] = powers_[m - 1] * kernel_.bare<Wide>();
      geometric_[m] = geometric_[m - 1] + powers_[m].to_double();
    }
  }

  // The last symbol of a string identifies what is below: the class of an inner node, or a symbol
  // that matches nothing. Each such ending is a separate string, followed by the empty string.
  PrefixOrder prefix_order() const {
    const auto n = static_cast<std::uint32_t>(entries_.size());
    std::vector<std::uint32_t> next(n), first(n);
    std::unordered_map<std::uint32_t, std::uint32_t> ending;
    std::vector<std::uint32_t> ending_symbols;
    const auto ending_with = [&](std::uint32_t symbol) {
      const auto [it, is_new] =
          ending.emplace(symbol, n + static_cast<std::uint32_t>(ending_symbols.size()));
      if (is_new) ending_symbols.push_back(symbol);
      return it->second;
    };
    for (std::uint32_t i = 0; i < n; ++i) {
      const Entry& entry = entries_[i];
      first[i] = entry.cls;
      // Nodes of chains and nodes below them differ in their number of children, so their classes
      // differ and can serve as symbols.
      next[i] = entry.next != kNone    ? entry.next
                : entry.below != kNone ? ending_with(tree_of(i).class_of[entry.below])
                                       : ending_with(kNone);
    }
    const auto empty = static_cast<std::uint32_t>(n + ending_symbols.size());
    next.insert(next.end(), ending_symbols.size() + 1, empty);
    first.insert(first.end(), ending_symbols.begin(), ending_symbols.end());
    first.push_back(kNone - 1);
    return PrefixOrder(std::move(next), std::move(first), token_);
  }

  const CountedTree& tree_of(std::uint32_t entry) const { return entry < n_entries_a_ ? a_ : b_; }

  // lambda + ... + lambda^m for two entries, and the Delta below if both chains end alike.
  Wide delta_of_chains(const PrefixOrder& order, std::uint32_t i, std::uint32_t j) const {
    if (order.rank(i) != order.rank(j)) return Wide(geometric_[shared_productions(order, i, j)]);
    Wide delta(geometric_[entries_[i].length]);
    if (entries_[i].below != kNone) {
      delta += powers_[entries_[i].length] * branching(entries_[i].below, entries_[j].below);
    }
    return delta;
  }

  std::size_t shared_productions(const PrefixOrder& order, std::uint32_t i, std::uint32_t j) const {
    const std::size_t longest = std::min(entries_[i].length, entries_[j].length);
    return std::min(order.common_prefix(i, j), longest);
  }

  // ---------------------------------------------------------------- nodes with several children

  // is_long_chain ensures that there are few pairs: all of them are kept, class by class.
  void compute_branching(const PrefixOrder& order) {
    std::unordered_map<std::uint32_t, std::vector<NodeId>> by_class;
    for (const NodeId v : b_.nodes) {
      if (b_.dag.arity(v) < 2) continue;
      std::vector<NodeId>& members = by_class[b_.class_of[v]];
      column_[v] = static_cast<std::uint32_t>(members.size());
      members.push_back(v);
    }
    for (const NodeId u : a_.nodes) {
      if (a_.dag.arity(u) < 2) continue;
      const auto found = by_class.find(a_.class_of[u]);
      if (found == by_class.end()) continue;
      row_[u] = deltas_.size();
      for (const NodeId v : found->second) deltas_.push_back(delta_of_branching(order, u, v));
      token_.check();
    }
  }

  Wide delta_of_branching(const PrefixOrder& order, NodeId u, NodeId v) const {
    Wide delta = kernel_.bare<Wide>();
    for (std::size_t slot = 0; slot < a_.dag.arity(u); ++slot) {
      const NodeId x = a_.dag.children(u)[slot];
      const NodeId y = b_.dag.children(v)[slot];
      if (a_.dag.is_leaf(x) || b_.dag.is_leaf(y)) continue;
      if (a_.class_of[x] != b_.class_of[y] || a_.class_of[x] == kNone) continue;
      const Wide below =
          has_one_child(a_.dag, x)
              ? delta_of_chains(order, entry_of_a_[position(a_, x)], entry_of_b_[position(b_, y)])
              : branching(x, y);
      delta *= kernel_.factor(below);
    }
    return delta;
  }

  Wide branching(NodeId u, NodeId v) const { return deltas_[row_.at(u) + column_.at(v)]; }

  Wide sum_of_branching() const {
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_class;
    for (std::size_t k = 0; k < b_.nodes.size(); ++k) {
      if (b_.dag.arity(b_.nodes[k]) >= 2) by_class[b_.class_of[b_.nodes[k]]].push_back(k);
    }
    Wide total;
    for (std::size_t k = 0; k < a_.nodes.size(); ++k) {
      if (row_.find(a_.nodes[k]) == row_.end()) continue;
      for (const std::size_t m : by_class.at(a_.class_of[a_.nodes[k]])) {
        const double pairs = static_cast<double>(a_.counts[k]) * b_.counts[m];
        total += Wide(pairs) * branching(a_.nodes[k], b_.nodes[m]);
      }
    }
    return total;
  }

  // ---------------------------------------------------------------- nodes with one child

  // Entries of equal strings, and their counts on either side.
  struct Segment {
    double x, y;         // sums of the counts in a and in b
    double shared_gain;  // geometric sum of the prefix shared with the segment below in the stack
  };

  Wide sum_of_chains(const PrefixOrder& order) const {
    std::vector<std::uint32_t> sorted(entries_.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t i, std::uint32_t j) {
      return order.rank(i) != order.rank(j) ? order.rank(i) < order.rank(j) : i < j;
    });
    Wide total;
    // Sorted strings form a tree by their common prefixes. Two neighbouring segments are merged as
    // soon as no later string shares more with the upper one.
    std::vector<Segment> stack;
    const auto merge_top = [&] {
      const Segment top = stack.back();
      stack.pop_back();
      Segment& below = stack.back();
      total += Wide((below.x * top.y + top.x * below.y) * top.shared_gain);
      below.x += top.x;
      below.y += top.y;
    };
    for (std::size_t begin = 0; begin < sorted.size();) {
      std::size_t end = begin;
      while (end < sorted.size() && order.rank(sorted[end]) == order.rank(sorted[begin])) ++end;
      const std::span<const std::uint32_t> equal(sorted.data() + begin, end - begin);
      const double gain =
          begin == 0 ? 0.0
                     : geometric_[shared_productions(order, sorted[begin - 1], sorted[begin])];
      while (stack.size() > 1 && stack.back().shared_gain > gain) merge_top();
      stack.push_back({0.0, 0.0, gain});
      total += sum_of_equal(equal, stack.back());
      begin = end;
    }
    while (stack.size() > 1) merge_top();
    return total;
  }

  Wide sum_of_equal(std::span<const std::uint32_t> equal, Segment& segment) const {
    const auto first_of_b = std::lower_bound(equal.begin(), equal.end(), n_entries_a_);
    for (auto i = equal.begin(); i != first_of_b; ++i) segment.x += entries_[*i].count;
    for (auto j = first_of_b; j != equal.end(); ++j) segment.y += entries_[*j].count;
    const Entry& entry = entries_[equal.front()];
    Wide total(segment.x * segment.y * geometric_[entry.length]);
    if (entry.below == kNone) return total;
    for (auto i = equal.begin(); i != first_of_b; ++i) {
      for (auto j = first_of_b; j != equal.end(); ++j) {
        total += Wide(entries_[*i].count * entries_[*j].count) * powers_[entry.length] *
                 branching(entries_[*i].below, entries_[*j].below);
      }
    }
    return total;
  }

  Wide sum_of_leaves() const {
    std::unordered_map<std::uint32_t, double> count_in_b;
    for (std::size_t k = 0; k < b_.nodes.size(); ++k) {
      if (b_.dag.is_leaf(b_.nodes[k])) count_in_b[b_.class_of[b_.nodes[k]]] = b_.counts[k];
    }
    double pairs = 0.0;
    for (std::size_t k = 0; k < a_.nodes.size(); ++k) {
      if (!a_.dag.is_leaf(a_.nodes[k])) continue;
      const auto found = count_in_b.find(a_.class_of[a_.nodes[k]]);
      if (found != count_in_b.end()) pairs += a_.counts[k] * found->second;
    }
    return Wide(pairs) * kernel_.bare<Wide>();
  }

  const SubsetTree kernel_;
  const CountedTree& a_;
  const CountedTree& b_;
  const StopToken& token_;
  std::vector<Entry> entries_;  // of a, then of b; children first within each
  std::size_t n_entries_a_ = 0;
  std::vector<std::uint32_t> entry_of_a_, entry_of_b_;
  std::vector<double> geometric_;  // lambda + ... + lambda^m
  std::vector<Wide> powers_;       // lambda^m

  std::unordered_map<NodeId, std::size_t> row_;       // the row of deltas of a node of a
  std::unordered_map<NodeId, std::uint32_t> column_;  // the position of a node of b in these rows
  std::vector<Wide> deltas_;
};

}  // namespace

bool is_long_chain(const CountedTree& tree) {
  constexpr double kManyPairs = 3e8;  // about a second with rows of Delta
  constexpr double kFewPairs = 1e6;
  std::unordered_map<std::uint32_t, double> chained, branching;
  for (const NodeId u : tree.nodes) {
    const std::size_t arity = tree.dag.arity(u);
    if (arity == 1) chained[tree.class_of[u]] += 1.0;
    if (arity >= 2) branching[tree.class_of[u]] += 1.0;
  }
  const auto pairs = [](const auto& counts) {
    double total = 0.0;
    for (const auto& [cls, n] : counts) total += n * n;
    return total;
  };
  return pairs(chained) > kManyPairs && pairs(branching) < kFewPairs;
}

Wide subset_tree_of_chains(const SubsetTree& kernel, const CountedTree& a, const CountedTree& b,
                           const StopToken& token) {
  return ChainPair(kernel, a, b, token).value();
}

}  // namespace filbert
