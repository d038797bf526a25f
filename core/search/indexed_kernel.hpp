// What an index asks of a kernel.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rows/tile_rows.hpp"
#include "search/query_tree.hpp"
#include "search/segment_search.hpp"

namespace filbert {

class IndexedKernel {
 public:
  virtual ~IndexedKernel() = default;

  // A tree as a query, measured. `place` is its index in errors.
  virtual QueryTree query(const Dag& dag, NodeId root, std::size_t place,
                          const StopToken& token) const = 0;
  // Whether segments have lists. If not, all trees are compared by rows.
  virtual bool has_lists() const = 0;
  virtual std::unique_ptr<SegmentSearch> segment_search(const Segment& segment) const = 0;
  // Rows of the kernel matrix, for trees that are set apart.
  virtual std::unique_ptr<TileRows> rows(std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
                                         std::span<const std::uint32_t> numbers, bool normalize,
                                         int n_threads, const Watch& watch) const = 0;
};

std::unique_ptr<const IndexedKernel> indexed(const KernelSpec& spec);
std::unique_ptr<const IndexedKernel> indexed(const PatternSpec& spec);

}  // namespace filbert
