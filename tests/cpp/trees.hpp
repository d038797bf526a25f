// Small forests for the tests: from bracketed text, from plain trees, at random.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "forest/bracket_parser.hpp"
#include "forest/bracket_writer.hpp"
#include "forest/builder.hpp"

namespace filbert {

struct Forest {
  std::shared_ptr<const Dag> dag;
  std::vector<NodeId> roots;
};

inline Forest read(std::string_view text) {
  DagBuilder builder;
  BracketParser parser(builder, BracketParser::OnError::raise);
  parser.feed(text);
  parser.finish();
  return {builder.finish(), parser.roots()};
}

inline std::vector<std::string> written(const Dag& dag, const std::vector<NodeId>& roots) {
  std::vector<std::string> texts;
  for (const NodeId root : roots) texts.push_back(to_brackets(dag, root));
  return texts;
}

// A tree as a plain recursive value: for small trees only.
struct Tree {
  std::string label;
  std::vector<Tree> children;

  bool operator==(const Tree&) const = default;
};

inline NodeId insert(DagBuilder& builder, const Tree& tree) {
  std::vector<NodeId> children;
  for (const Tree& child : tree.children) children.push_back(insert(builder, child));
  return builder.node(builder.label(tree.label), children);
}

inline Forest forest_of(const std::vector<Tree>& trees) {
  DagBuilder builder;
  std::vector<NodeId> roots;
  for (const Tree& tree : trees) roots.push_back(insert(builder, tree));
  return {builder.finish(), roots};
}

// The same numbers with every standard library, unlike std::uniform_int_distribution.
inline std::uint32_t below(std::mt19937& random, std::uint32_t n) {
  return static_cast<std::uint32_t>(random() % n);
}

// Few labels, for leaves and inner nodes alike, so that much matches and some of it nearly.
inline Tree random_tree(std::mt19937& random, int depth, std::uint32_t most_children = 4,
                        std::uint32_t n_labels = 3) {
  Tree tree{std::string(1, static_cast<char>('A' + below(random, n_labels))), {}};
  if (depth <= 1) return tree;
  for (std::uint32_t n = below(random, most_children + 1); n > 0; --n) {
    tree.children.push_back(random_tree(random, depth - 1, most_children, n_labels));
  }
  return tree;
}

inline std::vector<Tree> random_trees(unsigned seed, std::size_t n, int depth,
                                      std::uint32_t most_children = 4) {
  std::mt19937 random(seed);
  std::vector<Tree> trees;
  while (trees.size() < n) trees.push_back(random_tree(random, depth, most_children));
  return trees;
}

// n nodes, each with the one before it as both children: a tree with 2^(n - 1) leaves.
inline Forest doubling_forest(std::size_t n) {
  DagBuilder builder;
  const LabelId label = builder.label("A");
  NodeId top = builder.leaf(label);
  while (builder.size() < n) top = builder.node(label, std::vector<NodeId>{top, top});
  return {builder.finish(), {top}};
}

}  // namespace filbert
