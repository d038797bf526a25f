// One fragment with its nodes in preorder, and its text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "forest/dag.hpp"

namespace filbert {

struct FlatFragment {
  std::vector<LabelId> labels;
  std::vector<std::uint32_t> arity;  // number of children in the fragment
  // A node whose children are cut off: it has children in a tree, but not in the fragment.
  std::vector<std::uint8_t> open;

  void clear() {
    labels.clear();
    arity.clear();
    open.clear();
  }
  void add(LabelId label, std::uint32_t n_children, bool is_open) {
    labels.push_back(label);
    arity.push_back(n_children);
    open.push_back(is_open ? 1 : 0);
  }
};

// The whole subtree of a node.
void to_flat(const Dag& dag, NodeId root, FlatFragment& out);

// The text in brackets. An open node is written with an ellipsis for its children, "(S (NP …) (VP
// (V ran)))". A leaf whose label is "…" gets a backslash, so that different fragments have
// different texts.
std::string fragment_text(std::span<const std::string_view> labels,
                          std::span<const std::uint32_t> arity, std::span<const std::uint8_t> open);

// The texts of many fragments; `open` has the nodes of all, one fragment after another. Throws
// std::invalid_argument if it has too few.
std::vector<std::string> fragment_texts(const Dag& dag, std::span<const NodeId> roots,
                                        std::span<const std::uint8_t> open);

// The texts of a fragment's labels.
std::vector<std::string_view> label_texts(const Dag& dag, const FlatFragment& fragment);

}  // namespace filbert
