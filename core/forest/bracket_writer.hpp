#pragma once

#include <string>
#include <string_view>

#include "forest/dag.hpp"

namespace filbert {

// Appends a label as it is written in brackets. Characters with a special meaning get a backslash.
void append_label(std::string_view label, std::string& out);

// The tree below `root` as bracketed text, which BracketParser reads back to the same tree. A leaf
// inside a tree is its bare label, and a tree of one node is `(label)`. A text longer than `limit`
// bytes is cut there and ends in an ellipsis.
std::string to_brackets(const Dag& dag, NodeId root, std::size_t limit = std::string::npos);

}  // namespace filbert
