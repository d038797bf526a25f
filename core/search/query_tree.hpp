// A query, and its nodes in terms of a segment.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "forest/local_tree.hpp"
#include "search/segment.hpp"

namespace filbert {

// A tree with itself: its kernel, and for kernels whose classes are labels the rest of each node
// (see PartialSearch). `apart`: doubles or memory do not suffice.
struct TreeMeasure {
  double self = 0.0;
  // The sum over nodes of Delta with themselves, if Delta(u, v) is at most Delta(u, u).
  double mass = std::numeric_limits<double>::infinity();
  std::vector<double> rest;  // by local node
  bool apart = false;
};

struct QueryPatterns;

struct QueryTree {
  const Dag& dag;
  LocalTree tree;
  LocalProductions productions;  // empty unless the kernel matches productions
  TreeMeasure measure;
  std::shared_ptr<const QueryPatterns> patterns;  // of local patterns
};

// Takes a tree out of its forest and measures it.
QueryTree query_tree(const KernelSpec& spec, const Dag& dag, NodeId root, std::size_t place,
                     const StopToken& token);

// By local node: the segment's labels, and its nodes. kNone: the segment does not have it.
std::vector<LabelId> labels_in(const Segment& segment, const QueryTree& query);
std::vector<NodeId> nodes_in(const Segment& segment, const QueryTree& query,
                             std::span<const LabelId> labels);

// Whether a node of the segment is the whole query.
bool is_query(const Segment& segment, NodeId node, const QueryTree& query,
              std::span<const LabelId> labels);

}  // namespace filbert
