#include "search/segment_search.hpp"

namespace filbert {

// Here, because the return types are complete only now.
TreeMeasure TreeKernel::measure(const QueryTree&, const StopToken&) const {
  refuse("has no search by lists");
}

std::unique_ptr<SegmentSearch> TreeKernel::segment_search(const Segment&) const {
  refuse("has no search by lists");
}

}  // namespace filbert
