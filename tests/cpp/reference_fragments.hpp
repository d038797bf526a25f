// All fragments of small trees, written out: what mining and matching are held against.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "some_kernel.hpp"
#include "trees.hpp"

namespace filbert {

// A fragment as text, every node in brackets.
inline std::string plain_text(const Tree& tree) {
  std::string text = "(" + tree.label;
  for (const Tree& child : tree.children) text += plain_text(child);
  return text + ")";
}

// The ways in which fragments are rooted at a node, each with what it weighs.
using Ways = std::vector<std::pair<Tree, double>>;

inline Ways subset_ways(const Tree& node, double root_decay) {
  Ways ways;
  if (node.children.empty()) return ways;
  ways.push_back({{node.label, {}}, root_decay});
  for (const Tree& child : node.children) {
    Ways longer;
    Ways below = subset_ways(child, root_decay);
    below.push_back({{child.label, {}}, 1.0});
    for (const auto& [fragment, weight] : ways) {
      for (const auto& [part, own] : below) {
        longer.push_back({fragment, weight * own});
        longer.back().first.children.push_back(part);
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

inline Ways partial_ways(const Tree& node, const SomeKernel& spec) {
  const double root = std::sqrt(spec.depth_decay);
  Ways ways{{{node.label, {}}, root * spec.decay}};
  std::vector<Ways> below;
  for (const Tree& child : node.children) below.push_back(partial_ways(child, spec));
  for (std::uint32_t kept = 1; kept < (1u << node.children.size()); ++kept) {
    std::size_t first = node.children.size(), last = 0, n = 0;
    Ways some{{{node.label, {}}, root}};
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (!(kept >> i & 1u)) continue;
      first = std::min(first, i);
      last = i;
      ++n;
      Ways longer;
      for (const auto& [fragment, weight] : some) {
        for (const auto& [part, own] : below[i]) {
          longer.push_back({fragment, weight * own});
          longer.back().first.children.push_back(part);
        }
      }
      some = std::move(longer);
    }
    if (spec.max_subsequence > 0 && n > spec.max_subsequence) continue;
    const std::size_t span = last - first + 1;
    const double paid =
        std::pow(spec.decay, static_cast<double>(spec.penalty == Penalty::span ? span : span - n));
    for (auto& [fragment, weight] : some) ways.push_back({std::move(fragment), weight * paid});
  }
  return ways;
}

inline Ways subtree_ways(const Tree& node, double root_decay) {
  if (node.children.empty()) return {};
  double weight = root_decay;
  for (const Tree& child : node.children) {
    for (const auto& [subtree, own] : subtree_ways(child, root_decay)) weight *= own;
  }
  return {{node, weight}};
}

inline Ways ways_at(const Tree& node, const SomeKernel& spec) {
  const double root = std::sqrt(spec.decay);
  if (spec.name == "subtree") return subtree_ways(node, root);
  if (spec.name == "partial_tree") return partial_ways(node, spec);
  if (node.children.empty() && spec.include_leaves) return {{node, root}};
  return subset_ways(node, root);
}

struct Figures {
  double value = 0.0;       // the sum of the ways' weights
  double ways = 0.0;        // their number
  std::uint64_t roots = 0;  // the nodes at which there are any
};

// By fragment, all that is in one tree.
inline std::map<std::string, Figures> all_fragments(const Tree& tree, const SomeKernel& spec) {
  std::map<std::string, Figures> found;
  const std::function<void(const Tree&)> visit = [&](const Tree& node) {
    std::map<std::string, Figures> here;
    for (const auto& [fragment, weight] : ways_at(node, spec)) {
      Figures& own = here[plain_text(fragment)];
      own.value += weight;
      own.ways += 1.0;
    }
    for (const auto& [text, own] : here) {
      Figures& all = found[text];
      all.value += own.value;
      all.ways += own.ways;
      ++all.roots;
    }
    for (const Tree& child : node.children) visit(child);
  };
  visit(tree);
  return found;
}

}  // namespace filbert
