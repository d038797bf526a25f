#pragma once

#include <string>

#include "forest/dag.hpp"

namespace filbert {

// The tree below `root` as bracketed text that BracketParser reads back to the same tree: a leaf
// inside a tree is its bare label, a tree of one node is `(label)`. A text longer than `limit`
// bytes stops there and ends in an ellipsis.
std::string to_brackets(const Dag& dag, NodeId root, std::size_t limit = std::string::npos);

}  // namespace filbert
