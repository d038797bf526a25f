#include "search/indexed_kernel.hpp"

#include <utility>

#include "search/pattern_search.hpp"

namespace filbert {

namespace {

// A sum over pairs of nodes.
class IndexedTreeKernel final : public IndexedKernel {
 public:
  explicit IndexedTreeKernel(const KernelSpec& spec) : spec_(spec) {}

  QueryTree query(const Dag& dag, NodeId root, std::size_t place,
                  const StopToken& token) const override {
    return query_tree(spec_, dag, root, place, token);
  }
  bool has_lists() const override { return !spec_.chosen && spec_->has_search(); }
  std::unique_ptr<SegmentSearch> segment_search(const Segment& segment) const override {
    return spec_->segment_search(segment);
  }
  std::unique_ptr<TileRows> rows(std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
                                 std::span<const std::uint32_t> numbers, bool normalize,
                                 int n_threads, const Watch& watch) const override {
    return std::make_unique<TileRows>(spec_, std::move(dag), std::move(roots), numbers, normalize,
                                      n_threads, watch);
  }

 private:
  const KernelSpec spec_;
};

// Lists give the kernel of local patterns with all trees, and none is set apart.
class IndexedPatterns final : public IndexedKernel {
 public:
  explicit IndexedPatterns(const PatternSpec& spec) : spec_(spec) {}

  QueryTree query(const Dag& dag, NodeId root, std::size_t place,
                  const StopToken& token) const override {
    return pattern_query(spec_, dag, root, place, token);
  }
  bool has_lists() const override { return true; }
  std::unique_ptr<SegmentSearch> segment_search(const Segment& segment) const override {
    return std::make_unique<PatternSearch>(spec_, segment);
  }
  std::unique_ptr<TileRows> rows(std::shared_ptr<const Dag>, std::vector<NodeId>,
                                 std::span<const std::uint32_t>, bool, int,
                                 const Watch&) const override {
    Segment::damaged();  // only a file can say that a tree is set apart
  }

 private:
  const PatternSpec spec_;
};

}  // namespace

std::unique_ptr<const IndexedKernel> indexed(const KernelSpec& spec) {
  return std::make_unique<IndexedTreeKernel>(spec);
}

std::unique_ptr<const IndexedKernel> indexed(const PatternSpec& spec) {
  return std::make_unique<IndexedPatterns>(spec);
}

}  // namespace filbert
