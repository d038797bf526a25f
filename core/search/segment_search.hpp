// A kernel's way to search a segment: upper bounds for all trees at once, and exact values of some.
#pragma once

#include <cstdint>
#include <span>

#include "search/query_tree.hpp"

namespace filbert {

// For one thread. Scratch memory is kept from query to query.
class SegmentSearch {
 public:
  virtual ~SegmentSearch() = default;

  // upper[t] >= K(query, tree t), not normalised, up to rounding. The values of trees set apart
  // have no meaning. Throws TooExpensive.
  virtual void bound(const QueryTree& query, std::span<const LabelId> labels,
                     const StopToken& token, std::span<double> upper) = 0;
  // Whether these bounds are the kernel itself.
  virtual bool is_exact() const = 0;
  // K(query, tree) for the query of the last bound().
  virtual double value(std::uint32_t tree, const StopToken& token) = 0;
};

}  // namespace filbert
