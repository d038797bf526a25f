// The most similar trees of a segment, exactly: trees are visited in the order of upper bounds of
// their similarity, until no other can be among the results.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "search/indexed_kernel.hpp"
#include "search/segment.hpp"

namespace filbert {

// What to find. Results have at least `least`, and there are at most `n_neighbors` for each query.
struct SearchTask {
  std::size_t n_neighbors;
  double least;
  std::span<const std::uint8_t> removed;    // by position; empty: none are
  std::span<const std::uint32_t> excluded;  // by query: a position to leave out, or kNone; or empty
};

// By query, the most similar first, equal ones by position.
struct SearchResults {
  std::vector<std::uint64_t> ends;
  std::vector<std::uint32_t> positions;
  std::vector<double> values;
  std::uint64_t n_evaluated = 0;  // pairs of a query and a distinct tree that were compared
};

class SegmentSearcher {
 public:
  // The caller keeps the arrays of the segment alive.
  SegmentSearcher(std::unique_ptr<const IndexedKernel> kernel, const Segment& segment,
                  bool normalize);
  ~SegmentSearcher();

  const Segment& segment() const { return segment_; }

  // Throws KernelOverflow, TooExpensive and TooManyOccurrences as matrix.hpp does, and
  // InvalidForest for a damaged segment. Values do not depend on the number of threads, nor on the
  // other trees of the segment, except for the rounding of those that are computed by rows.
  SearchResults search(Trees queries, const SearchTask& task, int n_threads, const Watch& watch);

 private:
  struct Worker;
  class Hits;
  class Scale;

  void search_lists(Worker& worker, const QueryTree& query, const Scale& scale, Hits& hits,
                    const StopToken& token) const;
  void search_rows(Trees query, const QueryTree& tree, const Scale& scale, Hits& hits,
                   int n_threads, const Watch& watch);
  TileRows& rows_of(std::unique_ptr<TileRows>& rows, std::span<const std::uint32_t> trees,
                    int n_threads, const Watch& watch);
  std::vector<std::uint32_t> all_trees() const;

  const std::unique_ptr<const IndexedKernel> kernel_;
  const Segment segment_;
  const bool normalize_;
  std::vector<std::uint32_t> apart_;  // trees that are set apart
  std::mutex mutex_;                  // guards the making of rows
  std::unique_ptr<TileRows> apart_rows_, all_rows_;
};

}  // namespace filbert
