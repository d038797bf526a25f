#pragma once

#include <string>
#include <string_view>

#include "forest/dag.hpp"

namespace filbert {

// A label as it stands in brackets: what has a meaning there gets a backslash.
void append_label(std::string_view label, std::string& out);

// The tree below `root` as bracketed text that BracketParser reads back to the same tree: a leaf
// inside a tree is its bare label, a tree of one node is `(label)`. A text longer than `limit`
// bytes stops there and ends in an ellipsis.
std::string to_brackets(const Dag& dag, NodeId root, std::size_t limit = std::string::npos);

}  // namespace filbert
