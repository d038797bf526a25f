#include "search/searcher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "rows/tile_worker.hpp"
#include "search/query_tree.hpp"
#include "search/segment_search.hpp"

namespace filbert {

namespace {

// Bounds are sums of at most some million roundings.
constexpr double kRounding = 1e-9;

bool is_wanted(const SearchTask& task, std::size_t query, std::uint32_t position) {
  if (position < task.removed.size() && task.removed[position] != 0) return false;
  return task.excluded.empty() || task.excluded[query] != position;
}

}  // namespace

// The results of one query: the most similar trees so far, equal ones by position. No more are kept
// than are asked for, even if all trees are equally similar.
class SegmentSearcher::Hits {
 public:
  struct Hit {
    double value;
    std::uint32_t position;
  };

  Hits(const Segment& segment, const SearchTask& task, std::size_t query)
      : segment_(segment), task_(task), query_(query) {}

  // Whether no tree of at most this value can be among the results.
  bool exclude(double value) const {
    if (value < task_.least || task_.n_neighbors == 0) return true;
    return is_full() && value < best_.front().value;
  }

  // Whether this tree, of at most this value, cannot be among the results. Trees are numbered in
  // the order of their first positions, so no later tree of this value can be, either.
  bool exclude(double value, std::uint32_t tree) const {
    if (exclude(value)) return true;
    const auto positions = segment_.positions_of(tree);
    return positions.empty() || (is_full() && !precedes({value, positions[0]}, best_.front()));
  }

  void add(std::uint32_t tree, double value) {
    ++n_evaluated_;
    if (exclude(value)) return;
    for (const std::uint32_t position : segment_.positions_of(tree)) {
      const Hit hit{value, position};
      if (is_full() && !precedes(hit, best_.front())) return;
      if (!is_wanted(task_, query_, position)) continue;
      if (is_full()) {
        std::pop_heap(best_.begin(), best_.end(), precedes);
        best_.pop_back();
      }
      best_.push_back(hit);
      std::push_heap(best_.begin(), best_.end(), precedes);
    }
  }

  std::uint64_t n_evaluated() const { return n_evaluated_; }

  std::span<const Hit> sorted() {
    std::sort(best_.begin(), best_.end(), precedes);
    return best_;
  }

 private:
  static bool precedes(const Hit& a, const Hit& b) {
    return a.value != b.value ? a.value > b.value : a.position < b.position;
  }

  bool is_full() const { return best_.size() == task_.n_neighbors; }

  const Segment& segment_;
  const SearchTask& task_;
  const std::size_t query_;
  std::uint64_t n_evaluated_ = 0;
  std::vector<Hit> best_;  // a heap with the last result at its front
};

// Normalised values of one query, from sums of Delta.
class SegmentSearcher::Scale {
 public:
  Scale(const Segment& segment, const QueryTree& query, bool normalize)
      : segment_(segment),
        query_(query),
        labels_(labels_in(segment, query)),
        normalize_(normalize),
        own_(std::sqrt(query.measure.self)),
        of_itself_(normalize ? (has_fragments() ? 1.0 : 0.0) : query.measure.self) {}

  std::span<const LabelId> labels() const { return labels_; }

  double operator()(double value, std::uint32_t t) const {
    if (!normalize_) return value;
    const double norm = segment_.norms[t];
    return own_ == 0.0 || norm == 0.0 ? 0.0 : std::min(1.0, value / own_ / norm);
  }

  // A tree and itself have their kernel exactly: it is not a sum in another order.
  double exactly(double value, std::uint32_t t) const {
    const bool near = std::fabs(value - of_itself_) <= kRounding * of_itself_;
    return near && is_query(segment_, segment_.roots[t], query_, labels_) ? of_itself_ : value;
  }

  // A bound for a tree that is set apart: each of its nodes has at most the query's mass.
  double apart(double log) const {
    if (!normalize_) return std::numeric_limits<double>::infinity();
    return query_.measure.mass / own_ * std::exp(log) * (1.0 + kRounding);
  }

 private:
  bool has_fragments() const { return own_ != 0.0 || query_.measure.apart; }

  const Segment& segment_;
  const QueryTree& query_;
  const std::vector<LabelId> labels_;
  const bool normalize_;
  const double own_;
  const double of_itself_;
};

struct SegmentSearcher::Worker {
  std::unique_ptr<SegmentSearch> search;
  std::vector<double> upper;
  std::vector<std::uint32_t> order;
};

SegmentSearcher::SegmentSearcher(std::unique_ptr<const IndexedKernel> kernel,
                                 const Segment& segment, bool normalize)
    : kernel_(std::move(kernel)), segment_(segment), normalize_(normalize) {
  segment_.check_lengths();
  for (std::uint32_t t = 0; t < segment_.n_trees(); ++t) {
    if (std::isnan(segment_.norms[t]) || segment_.norms[t] < 0) Segment::damaged();
    if (std::isinf(segment_.norms[t])) apart_.push_back(t);
  }
  if (segment_.apart_logs.size() != apart_.size()) Segment::damaged();
  if (!kernel_->has_lists() && apart_.size() != segment_.n_trees()) Segment::damaged();
}

SegmentSearcher::~SegmentSearcher() = default;

// Some trees are compared by rows of the kernel matrix: those set apart, or all with a query that
// is itself set apart.
TileRows& SegmentSearcher::rows_of(std::unique_ptr<TileRows>& rows,
                                   std::span<const std::uint32_t> trees, int n_threads,
                                   const Watch& watch) {
  const std::lock_guard lock(mutex_);
  if (!rows) {
    std::vector<NodeId> roots;
    std::shared_ptr<const Dag> dag = forest_of(segment_, trees, roots);
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t t : trees) {
      const auto positions = segment_.positions_of(t);
      numbers.push_back(positions.empty() ? 0 : positions[0]);
    }
    rows = kernel_->rows(std::move(dag), std::move(roots), numbers, normalize_, n_threads, watch);
  }
  return *rows;
}

// One query that is not set apart, and all trees that are not.
void SegmentSearcher::search_lists(Worker& worker, const QueryTree& query, const Scale& scale,
                                   Hits& hits, const StopToken& token) const {
  const std::size_t n = segment_.n_trees();
  worker.upper.assign(n, 0.0);
  worker.search->bound(query, scale.labels(), token, worker.upper);
  const bool exact = worker.search->is_exact();
  std::vector<std::uint32_t>& order = worker.order;
  order.clear();
  for (std::uint32_t t = 0; t < n; ++t) {
    if (std::isinf(segment_.norms[t])) continue;
    double& upper = worker.upper[t];
    upper = exact ? scale.exactly(scale(upper, t), t) : scale(upper * (1.0 + kRounding), t);
    if (!hits.exclude(upper)) order.push_back(t);
  }
  const auto below = [&](std::uint32_t a, std::uint32_t b) {
    return worker.upper[a] != worker.upper[b] ? worker.upper[a] < worker.upper[b] : a > b;
  };
  std::make_heap(order.begin(), order.end(), below);
  while (!order.empty() && !hits.exclude(worker.upper[order.front()], order.front())) {
    const std::uint32_t t = order.front();
    std::pop_heap(order.begin(), order.end(), below);
    order.pop_back();
    hits.add(t,
             exact ? worker.upper[t] : scale.exactly(scale(worker.search->value(t, token), t), t));
    token.check();
  }
}

// What is set apart, by rows of the kernel matrix.
void SegmentSearcher::search_rows(Trees query, const QueryTree& tree, const Scale& scale,
                                  Hits& hits, int n_threads, const Watch& watch) {
  const bool whole = tree.measure.apart;
  bool needed = whole;
  for (std::size_t i = 0; !needed && i < apart_.size(); ++i) {
    needed = !hits.exclude(scale.apart(segment_.apart_logs[i]));
  }
  if (!needed || segment_.n_trees() == 0) return;
  TileRows& rows = whole ? rows_of(all_rows_, all_trees(), n_threads, watch)
                         : rows_of(apart_rows_, apart_, n_threads, watch);
  std::vector<double> values(rows.n_trees());
  rows.between(query, n_threads, watch, values.data());
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const std::uint32_t t = whole ? i : apart_[i];
    hits.add(t, normalize_ ? scale.exactly(values[i], t) : values[i]);
  }
}

std::vector<std::uint32_t> SegmentSearcher::all_trees() const {
  std::vector<std::uint32_t> all(segment_.n_trees());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

SearchResults SegmentSearcher::search(Trees queries, const SearchTask& task, int n_threads,
                                      const Watch& watch) {
  const std::size_t n = queries.size();
  std::vector<std::unique_ptr<QueryTree>> trees(n);
  std::vector<std::unique_ptr<Scale>> scales(n);
  std::vector<Hits> hits;
  for (std::size_t i = 0; i < n; ++i) hits.emplace_back(segment_, task, i);
  Workers<Worker> workers(n_threads);
  const auto make = [&] { return Worker{kernel_->segment_search(segment_), {}, {}}; };
  parallel_for(n, n_threads, watch, [&](std::size_t i, int index, const StopToken& token) {
    trees[i] = std::make_unique<QueryTree>(kernel_->query(queries.dag, queries.roots[i], i, token));
    scales[i] = std::make_unique<Scale>(segment_, *trees[i], normalize_);
    if (trees[i]->measure.apart || apart_.size() == segment_.n_trees()) return;
    search_lists(workers.get(index, make), *trees[i], *scales[i], hits[i], token);
  });
  SearchResults found;
  for (std::size_t i = 0; i < n; ++i) {
    const Trees query{queries.dag, queries.roots.subspan(i, 1)};
    search_rows(query, *trees[i], *scales[i], hits[i], n_threads, watch);
    for (const Hits::Hit& hit : hits[i].sorted()) {
      found.positions.push_back(hit.position);
      found.values.push_back(hit.value);
    }
    found.ends.push_back(found.positions.size());
    found.n_evaluated += hits[i].n_evaluated();
  }
  return found;
}

}  // namespace filbert
