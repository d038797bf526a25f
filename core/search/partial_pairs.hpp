// Partial trees of two trees, pair by pair of their inner nodes. Delta of two nodes of one label is
// `single`, unless their children have something in common; only what is above that is kept here:
//
//   K(s, t) = single * (pairs of nodes of one label) + sum over pairs of Delta(u, v) - single
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "kernels/partial_tree.hpp"
#include "rows/lanes.hpp"

namespace filbert {

// The inner nodes of a tree, children first.
struct InnerTree {
  struct Child {
    std::uint32_t label;  // kNone matches nothing
    std::uint32_t inner;  // its index here; kNone for a leaf
  };
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> counts;
  std::vector<std::uint64_t> bits;        // of the children's labels
  std::vector<std::uint32_t> child_ends;  // by node
  std::vector<Child> children;

  std::size_t size() const { return labels.size(); }
  std::span<const Child> children_of(std::size_t u) const {
    const std::uint32_t first = u == 0 ? 0 : child_ends[u - 1];
    return {children.data() + first, child_ends[u] - first};
  }
  void clear() {
    labels.clear();
    counts.clear();
    bits.clear();
    child_ends.clear();
    children.clear();
  }
  void add_child(std::uint32_t label, std::uint32_t inner) { children.push_back({label, inner}); }
  // Ends a node whose children were added.
  void add_node(std::uint32_t label, std::uint32_t count) {
    const std::size_t first = child_ends.empty() ? 0 : child_ends.back();
    std::uint64_t all = 0;
    for (std::size_t i = first; i < children.size(); ++i) {
      if (children[i].label != kNone) all |= label_bit(children[i].label);
    }
    labels.push_back(label);
    counts.push_back(count);
    bits.push_back(all);
    child_ends.push_back(static_cast<std::uint32_t>(children.size()));
  }
};

class PartialPairs {
 public:
  explicit PartialPairs(const PartialTree& kernel)
      : kernel_(kernel), weights_(kernel), sums_(kernel.decay) {}

  // The first tree of the following pairs. Its labels are below n_labels, or kNone.
  void load(const InnerTree& tree, std::size_t n_labels) {
    for (const std::uint32_t label : used_) group_of_[label] = kNone;
    used_.clear();
    if (group_of_.size() < n_labels) group_of_.resize(n_labels, kNone);
    first_ = &tree;
    for (const std::uint32_t label : tree.labels) {
      if (label == kNone || group_of_[label] != kNone) continue;
      group_of_[label] = static_cast<std::uint32_t>(used_.size());
      used_.push_back(label);
    }
    members_.resize(used_.size());
  }

  // The number of pairs of nodes of one label.
  double n_pairs(const InnerTree& tree) {
    group(tree);
    double pairs = 0.0;
    for (const std::uint32_t label : first_->labels) {
      if (label != kNone) pairs += static_cast<double>(members_[group_of_[label]].size());
    }
    return pairs;
  }

  // The sum of count * count * (Delta - single). With `diagonal`, both trees are the same, and it
  // gets Delta - single of each node with itself.
  double excess(const InnerTree& tree, const StopToken& token,
                std::vector<double>* diagonal = nullptr) {
    group(tree);
    second_ = &tree;
    row_.clear();
    std::size_t n = 0;
    for (const std::uint32_t label : first_->labels) {
      row_.push_back(n);
      if (label != kNone) n += members_[group_of_[label]].size();
    }
    if (delta_.size() < n) delta_.resize(n);
    double total = 0.0;
    for (std::uint32_t u = 0; u < first_->size(); ++u) {
      const std::uint32_t label = first_->labels[u];
      if (label == kNone) continue;
      double* row = delta_.data() + row_[u];
      double sum = 0.0;
      for (const std::uint32_t v : members_[group_of_[label]]) {
        *row = (first_->bits[u] & tree.bits[v]) == 0 ? 0.0 : pair(u, v, token);
        sum += tree.counts[v] * *row++;
      }
      total += first_->counts[u] * sum;
      if (diagonal != nullptr) diagonal->push_back(delta_[row_[u] + place_[u]]);
      token.check();
    }
    return total;
  }

 private:
  void group(const InnerTree& tree) {
    for (std::vector<std::uint32_t>& members : members_) members.clear();
    place_.assign(tree.size(), 0);
    for (std::uint32_t v = 0; v < tree.size(); ++v) {
      const std::uint32_t label = tree.labels[v];
      const std::uint32_t g = label < group_of_.size() ? group_of_[label] : kNone;
      if (g == kNone) continue;
      place_[v] = static_cast<std::uint32_t>(members_[g].size());
      members_[g].push_back(v);
    }
  }

  double pair(std::uint32_t u, std::uint32_t v, const StopToken& token) {
    const auto a = first_->children_of(u);
    const auto b = second_->children_of(v);
    const auto match = [&](std::size_t i, std::size_t j) {
      return a[i].label == b[j].label && a[i].label != kNone;
    };
    const auto paid = [&](std::size_t i, std::size_t j) {
      double delta = weights_.single;
      if (a[i].inner != kNone && b[j].inner != kNone) {
        delta += delta_[row_[a[i].inner] + place_[b[j].inner]];
      }
      return delta * weights_.pay;
    };
    return kernel_.depth_decay *
           sums_.sum(a.size(), b.size(), kernel_.max_subsequence, match, paid, token);
  }

  const PartialTree kernel_;
  const LightWeights<double> weights_;
  SubsequenceSums<double> sums_;
  const InnerTree* first_ = nullptr;
  const InnerTree* second_ = nullptr;
  std::vector<std::uint32_t> group_of_;              // by label
  std::vector<std::uint32_t> used_;                  // labels of the first tree
  std::vector<std::vector<std::uint32_t>> members_;  // by group: nodes of the second tree
  std::vector<std::uint32_t> place_;                 // by node of the second tree: in its group
  std::vector<std::size_t> row_;                     // by node of the first tree
  std::vector<double> delta_;                        // Delta - single, row by row
};

}  // namespace filbert
