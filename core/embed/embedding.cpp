#include "embed/embedding.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "embed/rounds.hpp"
#include "embed/step_runner.hpp"

namespace filbert {

namespace {

constexpr std::size_t kMostTrees = 1024;  // per block

// The most frequent items among those that are needed more than once, as many as fit into
// `max_vectors` vectors, ascending. The operands of each item are among them.
std::vector<ItemId> most_frequent(const Steps& steps, std::span<const NodeId> roots,
                                  std::size_t max_vectors) {
  const std::vector<double> frequency = steps.frequencies(roots);
  std::vector<ItemId> items;
  for (ItemId item = 0; item < steps.n_items(); ++item) {
    if (frequency[item] > 1.0 && steps.n_vectors(item) > 0) items.push_back(item);
  }
  std::stable_sort(items.begin(), items.end(),
                   [&](ItemId a, ItemId b) { return frequency[a] > frequency[b]; });
  std::size_t n_vectors = 0, n = 0;
  for (; n < items.size(); ++n) {
    n_vectors += steps.n_vectors(items[n]);
    if (n_vectors > max_vectors) break;
  }
  items.resize(n);
  std::sort(items.begin(), items.end());
  return items;
}

// Data that all threads read.
template <class T>
struct Shared {
  const Dag& dag;
  const Composition<T>& composition;
  const LabelVectors& labels;
  Steps steps;
  VectorPool<T> pool;
  std::vector<std::uint8_t> is_kept;
  std::vector<ItemVectors<T>> kept;  // by item

  Shared(const Dag& d, std::span<const NodeId> roots, const Composition<T>& c,
         const LabelVectors& l)
      : dag(d),
        composition(c),
        labels(l),
        steps(d, roots),
        pool(c.form_size),
        is_kept(steps.n_items(), 0),
        kept(steps.n_items()) {}

  std::unique_ptr<StepRunner<T>> runner() const {
    return std::make_unique<StepRunner<T>>(dag, steps, composition, labels);
  }
};

// Computes items and keeps them, in rounds on all threads.
template <class T>
void keep(Shared<T>& shared, std::span<const ItemId> items, int n_threads, const Watch& watch,
          std::size_t n_total) {
  for (const ItemId item : items) {
    shared.kept[item] = take_vectors(shared.steps, item, shared.pool);
    shared.is_kept[item] = 1;
  }
  const Rounds rounds = in_rounds(shared.steps, items);
  std::vector<std::unique_ptr<StepRunner<T>>> runners(
      static_cast<std::size_t>(std::max(1, n_threads)));
  std::size_t done = 0;
  const auto find = [&](ItemId item) -> const ItemVectors<T>& { return shared.kept[item]; };
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::span<const ItemId> all = rounds[round];
    const Watch watch_round = [&](std::size_t n, std::size_t) {
      if (watch) watch(done + n, n_total);
    };
    const double steps = 50.0 * static_cast<double>(all.size() * shared.composition.form_size);
    const int threads = threads_for(steps, n_threads);
    if (threads == kInline) watch_round(0, 1);
    parallel_for(all.size(), threads, watch_round,
                 [&](std::size_t i, int worker, const StopToken&) {
                   auto& own = runners[static_cast<std::size_t>(worker)];
                   if (!own) own = shared.runner();
                   own->run(all[i], shared.kept[all[i]], find);
                 });
    done += all.size();
  }
}

// Finds the items of trees that are not kept, each after its operands.
template <class T>
class Missing {
 public:
  explicit Missing(const Shared<T>& shared) : shared_(shared), stamp_(shared.steps.n_items(), 0) {}

  void next_block() { ++block_; }

  // Appends the items of one more tree to `items`. Returns the number of vectors that they need.
  std::size_t add(ItemId root, std::vector<ItemId>& items) {
    std::size_t n_vectors = 0;
    push(root);
    while (!stack_.empty()) {
      const Open top = stack_.back();
      stack_.pop_back();
      if (top.sources_done) {
        items.push_back(top.item);
        n_vectors += shared_.steps.n_vectors(top.item);
        continue;
      }
      if (stamp_[top.item] == block_) continue;  // since visited on another path
      stamp_[top.item] = block_;
      stack_.push_back({top.item, true});
      if (shared_.steps.is_label(top.item)) continue;
      push(shared_.steps.right(top.item));
      push(shared_.steps.left(top.item));
    }
    return n_vectors;
  }

 private:
  struct Open {
    ItemId item;
    bool sources_done;
  };

  void push(ItemId item) {
    if (!shared_.is_kept[item] && stamp_[item] != block_) stack_.push_back({item, false});
  }

  const Shared<T>& shared_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t block_ = 1;
  std::vector<Open> stack_;
};

// The first tree of each block, and the number of trees at the end. A block needs at most
// `max_vectors` vectors, or it is a single tree.
template <class T>
std::vector<std::size_t> blocks_of(const Shared<T>& shared, std::span<const NodeId> roots,
                                   std::size_t max_vectors) {
  Missing<T> missing(shared);
  std::vector<ItemId> items;
  std::vector<std::size_t> begins{0};
  std::size_t n_vectors = 0;
  for (std::size_t tree = 0; tree < roots.size(); ++tree) {
    items.clear();
    const ItemId root = shared.steps.item_of(roots[tree]);
    n_vectors += missing.add(root, items);
    const bool first = tree == begins.back();
    if (first || (n_vectors <= max_vectors && tree - begins.back() < kMostTrees)) continue;
    begins.push_back(tree);
    missing.next_block();
    items.clear();
    n_vectors = missing.add(root, items);
  }
  if (!roots.empty()) begins.push_back(roots.size());
  return begins;
}

// The state of one thread that embeds blocks of trees.
template <class T>
class BlockWorker {
 public:
  explicit BlockWorker(const Shared<T>& shared)
      : shared_(shared),
        runner_(shared.runner()),
        pool_(shared.composition.form_size),
        missing_(shared),
        slot_(shared.steps.n_items(), kNone) {}

  // Calls row(i, values, exponent) with T(n) of the i-th root. The values are null for a leaf,
  // which has no fragment.
  template <class Row>
  void run(std::span<const NodeId> roots, const StopToken& token, const Row& row) {
    collect(roots);
    for (const ItemId item : items_) {
      token.check();
      ItemVectors<T>& own = vectors_[slot_[item]] = take_vectors(shared_.steps, item, pool_);
      runner_->run(item, own, [&](ItemId other) -> const ItemVectors<T>& { return find(other); });
      forget_sources(item);
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const ItemId item = shared_.steps.item_of(roots[i]);
      const bool is_leaf = shared_.steps.is_label(item);
      row(i, is_leaf ? nullptr : find(item).vector, find(item).vector_exponent);
      token.check();
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      release(vectors_[i]);
      slot_[items_[i]] = kNone;
    }
  }

 private:
  const ItemVectors<T>& find(ItemId item) const {
    return slot_[item] == kNone ? shared_.kept[item] : vectors_[slot_[item]];
  }

  void collect(std::span<const NodeId> roots) {
    items_.clear();
    missing_.next_block();
    for (const NodeId root : roots) {
      if (!shared_.dag.is_leaf(root)) missing_.add(shared_.steps.item_of(root), items_);
    }
    vectors_.assign(items_.size(), {});
    uses_.assign(items_.size(), 0);
    for (std::size_t i = 0; i < items_.size(); ++i) slot_[items_[i]] = static_cast<ItemId>(i);
    const auto use = [&](ItemId item) {
      if (slot_[item] != kNone) ++uses_[slot_[item]];
    };
    for (const ItemId item : items_) shared_.steps.for_each_source(shared_.dag, item, use);
    for (const NodeId root : roots) use(shared_.steps.item_of(root));
  }

  void forget_sources(ItemId item) {
    shared_.steps.for_each_source(shared_.dag, item, [&](ItemId source) {
      const ItemId slot = slot_[source];
      if (slot != kNone && --uses_[slot] == 0) release(vectors_[slot]);
    });
  }

  void release(ItemVectors<T>& vectors) {
    pool_.give_back(vectors.left_form);
    pool_.give_back(vectors.right_form);
    pool_.give_back(vectors.vector);
    vectors = {};
  }

  const Shared<T>& shared_;
  std::unique_ptr<StepRunner<T>> runner_;
  VectorPool<T> pool_;
  Missing<T> missing_;
  std::vector<ItemId> slot_;  // by item: its index in the next three vectors, or kNone
  std::vector<ItemId> items_;
  std::vector<ItemVectors<T>> vectors_;
  std::vector<std::uint32_t> uses_;
};

// Writes the values times 2^exponent, or scaled to length 1. Returns whether all are finite.
template <class T>
bool write_row(const T* values, double exponent, std::size_t n, bool normalize, T* out) {
  if (values == nullptr) {
    std::fill(out, out + n, T(0));
    return true;
  }
  double scale = power_of_two<double>(exponent);
  if (normalize) {
    const double squares = sum_of_squares(values, n);
    scale = squares > 0.0 ? 1.0 / std::sqrt(squares) : 1.0;
  }
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(static_cast<double>(values[i]) * scale);
    finite &= std::isfinite(out[i]);
  }
  return finite;
}

}  // namespace

template <class T>
TreeEmbedder<T>::TreeEmbedder(const EmbeddingSpec& spec)
    : spec_(spec),
      composition_(spec.n_components, spec.by, spec.decay, spec.seed, spec.components),
      labels_(spec.n_components, spec.seed, spec.components) {}

template <class T>
std::size_t TreeEmbedder<T>::embed(const Dag& dag, std::span<const NodeId> roots,
                                   std::size_t max_bytes, int n_threads, const Watch& watch,
                                   T* out) const {
  Shared<T> shared(dag, roots, composition_, labels_);
  const std::size_t max_vectors = max_bytes / (composition_.form_size * sizeof(T));
  const std::vector<ItemId> kept = most_frequent(shared.steps, roots, max_vectors / 2);
  const std::size_t n_total = kept.size() + roots.size();
  keep(shared, kept, n_threads, watch, n_total);

  const auto n_workers = static_cast<std::size_t>(std::max(1, n_threads));
  const std::size_t for_each = max_vectors / 2 / n_workers;
  const std::vector<std::size_t> blocks = blocks_of(shared, roots, for_each);
  std::vector<std::size_t> too_large(blocks.size(), kFinite);
  std::vector<std::unique_ptr<BlockWorker<T>>> workers(n_workers);
  const Watch watch_blocks = [&](std::size_t done, std::size_t) {
    if (watch) watch(kept.size() + blocks[done], n_total);
  };
  const double steps = 50.0 * static_cast<double>(shared.steps.n_items() * composition_.form_size);
  parallel_for(blocks.size() - 1, threads_for(steps, n_threads), watch_blocks,
               [&](std::size_t block, int worker, const StopToken& token) {
                 auto& own = workers[static_cast<std::size_t>(worker)];
                 if (!own) own = std::make_unique<BlockWorker<T>>(shared);
                 const std::size_t begin = blocks[block];
                 own->run(roots.subspan(begin, blocks[block + 1] - begin), token,
                          [&](std::size_t i, const T* values, double exponent) {
                            T* const row = out + (begin + i) * spec_.n_components;
                            const bool finite = write_row(values, exponent, spec_.n_components,
                                                          spec_.normalize, row);
                            if (!finite && too_large[block] == kFinite)
                              too_large[block] = begin + i;
                          });
               });
  return *std::min_element(too_large.begin(), too_large.end());
}

template class TreeEmbedder<float>;
template class TreeEmbedder<double>;

}  // namespace filbert
