#include "rows/row_sums.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/chosen_symbols.hpp"
#include "kernels/step_limit.hpp"
#include "rows/tile_worker.hpp"

namespace filbert {

namespace {

// Loaded tiles are kept, up to this many bytes in total; the others are loaded again each time.
constexpr std::uint64_t kKeptBytes = std::uint64_t{128} << 20;

Occurrences selected(const Occurrences& x, std::span<const std::uint32_t> wanted) {
  Occurrences some;
  some.row_begin.push_back(0);
  for (const std::uint32_t tree : wanted) {
    const auto nodes = x.nodes_of(tree);
    const auto counts = x.counts_of(tree);
    some.nodes.insert(some.nodes.end(), nodes.begin(), nodes.end());
    some.counts.insert(some.counts.end(), counts.begin(), counts.end());
    some.row_begin.push_back(some.nodes.size());
  }
  return some;
}

}  // namespace

class RowSums::Corpus {
 public:
  Corpus(const KernelSpec& spec, Trees trees, int n_threads, const Watch& watch)
      : spec_(spec), trees_(trees) {
    classes_ = classify(spec_, trees.dag, trees.roots, trees.dag, trees.roots);
    partial_ = spec_->partial_sides(trees.dag, trees.dag, classes_);
    if (partial_) partial_->rank_columns(trees.dag, classes_.rows);
    columns_.emplace(ColumnSide{
        *spec_.kernel, trees.dag, classes_.rows, classes_.size, partial_.get(),
        weigh(partial_.get(), trees.dag, classes_.rows,
              count_roots(spec_, trees.dag, trees.roots, classes_.rows, n_threads, watch))});
    const StepLimit limit = spec_->step_limit();
    if (limit.is_set()) {
      most_children_ = most_children(limit, trees.dag, heavy(), classes_.rows, classes_.size);
      check_steps(limit, most_children_, most_children_, trees.dag);
    }
    tiles_ = cut_tiles(trees.dag, heavy());
    loaded_.resize(tiles_.size());
  }

  void run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch, Sink& sink) {
    WeighedTrees rows{selected(heavy(), wanted), {}};
    if (partial_) rows.light = selected(columns_->trees.light, wanted);
    run({trees_.dag, classes_.rows, partial_.get()}, rows, n_threads, watch, sink);
  }

  // The kinds of the corpus's labels need not hold for a query: a label that is simple in the
  // corpus may have several children in the query. Then both sides are prepared again together.
  void run(Trees queries, int n_threads, const Watch& watch, Sink& sink) {
    const std::vector<std::uint32_t> class_of =
        classes_among(spec_, queries.dag, queries.roots, trees_.dag);
    if (partial_ && !partial_->describes(queries.dag, class_of)) {
      sum_between(spec_, queries, trees_, n_threads, watch, sink);
      return;
    }
    const WeighedTrees rows =
        weigh(partial_.get(), queries.dag, class_of,
              count_roots(spec_, queries.dag, queries.roots, class_of, n_threads, watch));
    const StepLimit limit = spec_->step_limit();
    if (limit.is_set()) {
      check_steps(limit, most_children(limit, queries.dag, rows.heavy, class_of, classes_.size),
                  most_children_, trees_.dag);
    }
    run({queries.dag, class_of, partial_.get()}, rows, n_threads, watch, sink);
  }

 private:
  void run(const RowSide& side, const WeighedTrees& rows, int n_threads, const Watch& watch,
           Sink& sink) {
    const RowBatch batch = batch_of(*spec_.kernel, side, rows, kLanes);
    const double n_pairs =
        static_cast<double>(rows.heavy.nodes.size()) * static_cast<double>(heavy().nodes.size());
    n_threads = threads_for(n_pairs, n_threads);
    const Range all_groups{0, batch.groups.size()};
    Workers<TileWorker> workers(n_threads);
    parallel_for(tiles_.size(), n_threads, watch,
                 [&](std::size_t task, int index, const StopToken& token) {
                   TileWorker& worker = workers.get(index, [&] { return TileWorker(batch); });
                   const auto tile = loaded(task);
                   const auto all = [](std::size_t) { return std::size_t{0}; };
                   worker.run(*tile, tiles_[task], all_groups, all, sink, token);
                 });
  }

  // Several concurrent runs may request the same tile.
  std::shared_ptr<const ColumnTile> loaded(std::size_t task) {
    {
      const std::lock_guard lock(mutex_);
      if (loaded_[task]) return loaded_[task];
    }
    const auto tile = std::make_shared<ColumnTile>(columns_->empty_tile());
    columns_->load(*tile, tiles_[task]);
    const std::lock_guard lock(mutex_);
    if (!loaded_[task] && kept_bytes_ + tile->memory() <= kKeptBytes) {
      kept_bytes_ += tile->memory();
      loaded_[task] = tile;
    }
    return tile;
  }

  const Occurrences& heavy() const { return columns_->trees.heavy; }

  const KernelSpec spec_;
  const Trees trees_;
  NodeClasses classes_;
  std::shared_ptr<PartialSides> partial_;
  std::optional<ColumnSide> columns_;
  std::vector<std::size_t> most_children_;  // by class
  std::vector<Range> tiles_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::shared_ptr<const ColumnTile>> loaded_;
  std::uint64_t kept_bytes_ = 0;
};

RowSums::RowSums(const KernelSpec& spec, Trees corpus, int n_threads, const Watch& watch)
    : corpus_(std::make_unique<Corpus>(spec, corpus, n_threads, watch)) {}

RowSums::~RowSums() = default;

void RowSums::run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch,
                  Sink& sink) {
  corpus_->run(wanted, n_threads, watch, sink);
}

void RowSums::run(Trees queries, int n_threads, const Watch& watch, Sink& sink) {
  corpus_->run(queries, n_threads, watch, sink);
}

}  // namespace filbert
