// Approximate kernels of two large trees, for kernels that align children. The search goes
// downwards from the pairs of chosen nodes, so that it visits only pairs of nodes reached from such
// a pair. If few symbols are chosen, time and memory grow with the size of the trees and not with
// its square (Rieck, Brefeld & Krueger 2008, section 4.3). Rows of Delta would visit all pairs of a
// production.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/chosen_symbols.hpp"
#include "rows/counted_tree.hpp"
#include "rows/narrow.hpp"

namespace filbert {

// By tree: whether it is large and has so few chosen nodes that there are no more pairs of chosen
// nodes than nodes. For such trees this search visits fewer pairs than rows of Delta do.
std::vector<bool> few_chosen(const ChosenSymbols& chosen, const Dag& dag,
                             std::span<const NodeId> roots);

class NeededPairs {
 public:
  NeededPairs(const CountedTree& a, const CountedTree& b, std::size_t max_pairs)
      : a_(a), b_(b), max_pairs_(max_pairs) {}

  // False if there are too many pairs.
  bool collect(const StopToken& token) {
    if (!add_roots(token)) return false;
    n_roots_ = pairs_.size();
    child_begin_.push_back(0);
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const auto [u, v] = pairs_[k];
      const auto x = a_.dag.children(u);
      const auto y = b_.dag.children(v);
      for (std::size_t j = 0; j < x.size(); ++j) {
        if (a_.dag.is_leaf(x[j]) || a_.class_of[x[j]] == kNone) continue;
        if (a_.class_of[x[j]] == b_.class_of[y[j]]) children_.push_back(place_of(x[j], y[j]));
      }
      child_begin_.push_back(children_.size());
      if (pairs_.size() > max_pairs_) return false;
      if (k % 4096 == 0) token.check();
    }
    return true;
  }

  // Computes Delta of every pair, children first, and returns the sum over pairs of chosen nodes.
  template <class Real, class Kernel>
  Real sum(const Kernel& kernel, const StopToken& token) const {
    std::vector<std::uint32_t> order(pairs_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t k, std::uint32_t l) { return pairs_[k].u < pairs_[l].u; });
    std::vector<Real> delta(pairs_.size());
    for (const std::uint32_t k : order) {
      Real value = kernel.template bare<Real>();
      for (std::size_t e = child_begin_[k]; e < child_begin_[k + 1]; ++e) {
        value *= kernel.factor(delta[children_[e]]);
      }
      delta[k] = value;
      if (k % 4096 == 0) token.check();
    }
    Real total(0.0);
    for (std::size_t k = 0; k < n_roots_; ++k) total += Real(root_counts_[k]) * delta[k];
    return total;
  }

 private:
  struct Pair {
    NodeId u, v;
  };

  // Pairs of chosen nodes of one class: the nodes of b are sorted by class and looked up for each
  // node of a.
  bool add_roots(const StopToken& token) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < b_.nodes.size(); ++i) {
      if (b_.counts[i] != 0) chosen.push_back(i);
    }
    const auto class_at = [&](std::uint32_t i) { return b_.class_of[b_.nodes[i]]; };
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](std::uint32_t i, std::uint32_t j) { return class_at(i) < class_at(j); });
    for (std::size_t i = 0; i < a_.nodes.size(); ++i) {
      if (a_.counts[i] == 0) continue;
      const std::uint32_t cls = a_.class_of[a_.nodes[i]];
      auto j =
          std::lower_bound(chosen.begin(), chosen.end(), cls,
                           [&](std::uint32_t at, std::uint32_t c) { return class_at(at) < c; });
      for (; j != chosen.end() && class_at(*j) == cls; ++j) {
        place_of(a_.nodes[i], b_.nodes[*j]);
        root_counts_.push_back(static_cast<double>(a_.counts[i]) * b_.counts[*j]);
      }
      if (pairs_.size() > max_pairs_) return false;
      token.check();
    }
    return true;
  }

  std::uint32_t place_of(NodeId u, NodeId v) {
    return index_.find_or_insert(
        mix(u ^ kHashA, v ^ kHashB),
        [&](std::uint32_t k) { return pairs_[k].u == u && pairs_[k].v == v; },
        [&] {
          pairs_.push_back({u, v});
          return static_cast<std::uint32_t>(pairs_.size() - 1);
        });
  }

  const CountedTree& a_;
  const CountedTree& b_;
  const std::size_t max_pairs_;
  IdTable index_;
  std::vector<Pair> pairs_;  // pairs of chosen nodes first
  std::size_t n_roots_ = 0;
  std::vector<double> root_counts_;
  std::vector<std::size_t> child_begin_;
  std::vector<std::uint32_t> children_;  // indices of pairs
};

// Nodes with count 0 are no roots of fragments. Returns nothing if more than max_pairs are needed.
template <class Kernel>
std::optional<Wide> sum_of_needed_pairs(const Kernel& kernel, const CountedTree& a,
                                        const CountedTree& b, std::size_t max_pairs,
                                        const StopToken& token) {
  NeededPairs pairs(a, b, max_pairs);
  if (!pairs.collect(token)) return std::nullopt;
  if (kernel.template bare<double>() >= kSmallestDelta) {
    const double narrow = pairs.sum<double>(kernel, token);
    if (narrow < kLargestNarrow) return Wide(narrow);
  }
  return pairs.sum<Wide>(kernel, token);
}

}  // namespace filbert
