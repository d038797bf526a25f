#include "fragments/count.hpp"

#include <algorithm>
#include <memory>

#include "base/errors.hpp"
#include "forest/occurrences.hpp"
#include "fragments/weighted_nodes.hpp"

namespace filbert {

namespace {

NodeMatches match(const KernelSpec& spec, FragmentForest fragments, Trees trees, bool counted,
                  const Watch& watch) {
  const std::vector<NodeId> nodes = reachable(trees.dag, trees.roots);
  NodeMatches matches(0);
  parallel_for(1, 1, watch, [&](std::size_t, int, const StopToken& token) {
    spec->match_fragments(fragments, trees.dag, nodes, counted, token, matches);
  });
  return matches;
}

// The sums of one tree at a time, for one thread.
class RowSums {
 public:
  explicit RowSums(std::size_t n_fragments) : sums_(n_fragments, 0.0), seen_(n_fragments, false) {}

  void add(const NodeMatches& matches, NodeId u, double count) {
    for (std::uint64_t i = matches.begin[u]; i < matches.end[u]; ++i) {
      const std::uint32_t fragment = matches.fragments[i];
      if (!seen_[fragment]) {
        seen_[fragment] = true;
        touched_.push_back(fragment);
      }
      sums_[fragment] += count * matches.values[i];
    }
  }

  void finish(double scale, FragmentRows& out) {
    std::sort(touched_.begin(), touched_.end());
    for (const std::uint32_t fragment : touched_) {
      out.fragments.push_back(static_cast<std::int32_t>(fragment));
      out.values.push_back(sums_[fragment] * scale);
      sums_[fragment] = 0.0;
      seen_[fragment] = false;
    }
    out.row_begin.push_back(static_cast<std::int64_t>(out.fragments.size()));
    touched_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<char> seen_;
  std::vector<std::uint32_t> touched_;
};

FragmentRows sum_rows(const KernelSpec& spec, const NodeMatches& matches, std::size_t n_fragments,
                      Trees trees, const std::vector<double>& scales, int n_threads,
                      const Watch& watch) {
  constexpr std::size_t kChunk = 512;
  // Nodes without a match need not be counted.
  std::vector<std::uint32_t> class_of = fragment_roots(spec, trees.dag);
  for (NodeId u = 0; u < class_of.size(); ++u) {
    if (matches.begin[u] == matches.end[u]) class_of[u] = kNone;
  }
  const Occurrences x = count_occurrences(trees.dag, trees.roots, class_of, n_threads, watch);
  std::vector<FragmentRows> parts((trees.size() + kChunk - 1) / kChunk);
  std::vector<std::unique_ptr<RowSums>> sums(static_cast<std::size_t>(std::max(1, n_threads)));
  parallel_for(parts.size(), std::max(1, n_threads), watch,
               [&](std::size_t chunk, int worker, const StopToken& token) {
                 auto& own = sums[static_cast<std::size_t>(worker)];
                 if (!own) own = std::make_unique<RowSums>(n_fragments);
                 const std::size_t last = std::min((chunk + 1) * kChunk, trees.size());
                 for (std::size_t tree = chunk * kChunk; tree < last; ++tree) {
                   token.check();
                   for (std::size_t k = 0; k < x.nodes_of(tree).size(); ++k) {
                     own->add(matches, x.nodes_of(tree)[k], x.counts_of(tree)[k]);
                   }
                   own->finish(scales[tree], parts[chunk]);
                 }
               });
  FragmentRows all;
  for (FragmentRows& part : parts) {
    const auto before = static_cast<std::int64_t>(all.fragments.size());
    for (std::size_t i = 1; i < part.row_begin.size(); ++i) {
      all.row_begin.push_back(before + part.row_begin[i]);
    }
    all.fragments.insert(all.fragments.end(), part.fragments.begin(), part.fragments.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return all;
}

}  // namespace

FragmentRows count_fragments(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                             int n_threads, const Watch& watch) {
  const NodeMatches matches = match(spec, fragments, trees, true, watch);
  FragmentRows rows = sum_rows(spec, matches, fragments.roots.size(), trees,
                               std::vector<double>(trees.size(), 1.0), n_threads, watch);
  for (const double count : rows.values) {
    if (!(count < 0x1p53)) throw CapacityError("a fragment occurs more than 2^53 times in a tree");
  }
  return rows;
}

FragmentRows fragment_features(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                               bool normalize, int n_threads, const Watch& watch) {
  const NodeMatches matches = match(spec, fragments, trees, false, watch);
  const std::vector<double> scales =
      tree_scales(spec, trees.dag, trees.roots, normalize, n_threads, watch);
  return sum_rows(spec, matches, fragments.roots.size(), trees, scales, n_threads, watch);
}

}  // namespace filbert
