#include "learn/planes/plane_store.hpp"

#include <algorithm>
#include <utility>

namespace filbert {

template <class Task>
void PlaneStore::in_parallel(std::size_t n_tasks, const Task& task) {
  const auto n_threads = static_cast<std::size_t>(std::max(1, work_.n_threads));
  while (kernels_.size() < n_threads) {
    kernels_.push_back(std::make_unique<DagKernel>(trees_->spec()));
  }
  parallel_for(n_tasks, work_.n_threads, *work_.watch,
               [&](std::size_t index, int worker, const StopToken& token) {
                 task(index, *kernels_[static_cast<std::size_t>(worker)], token);
                 token.check();
               });
  for (const auto& kernel : kernels_) {
    counts_ += kernel->counts();
    kernel->forget_counts();
  }
}

std::vector<double> PlaneStore::scores(std::span<const std::uint32_t> sample,
                                       std::span<const double> alpha, int n_threads,
                                       const Watch& watch) {
  work_ = {n_threads, &watch};
  sampled_.assign(sample.begin(), sample.end());
  std::vector<double> scores = score(alpha);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] *= trees_->scale(sampled_[i]);
  return scores;
}

std::vector<double> PlaneStore::add(std::span<const std::uint32_t> places,
                                    std::span<const double> weights, int n_threads,
                                    const Watch& watch) {
  work_ = {n_threads, &watch};
  WeighedExamples plane;
  for (std::size_t k = 0; k < places.size(); ++k) {
    plane.examples.push_back(sampled_[places[k]]);
    plane.weights.push_back(weights[k] * trees_->scale(plane.examples.back()));
  }
  ++n_planes_;
  return add_plane(std::move(plane), places);
}

void PlaneStore::restore(std::span<const std::uint32_t> examples, std::span<const double> weights) {
  WeighedExamples plane;
  for (std::size_t k = 0; k < examples.size(); ++k) {
    plane.examples.push_back(examples[k]);
    plane.weights.push_back(weights[k] * trees_->scale(examples[k]));
  }
  restore_plane(std::move(plane));
  ++n_planes_;
}

namespace {

// `places` ascend.
template <class T>
void keep_only(std::span<const std::uint32_t> places, std::vector<T>& all) {
  for (std::size_t i = 0; i < places.size(); ++i) std::swap(all[i], all[places[i]]);
  all.resize(places.size());
}

// The base of uSVM and SDAG: keeps a score per plane, so that the new plane's products with the
// other planes need no more Deltas (the remark before section 5).
class PlaneByPlane : public PlaneStore {
 protected:
  using PlaneStore::PlaneStore;

  // Fills scores_[i * n_planes_ + j] with g_j . phi(x_i), without x_i's scale.
  virtual void score_planes() = 0;
  // Stores the plane. Returns its product with itself.
  virtual double store(WeighedExamples plane, std::span<const std::uint32_t> places) = 0;
  virtual void keep_stored(std::span<const std::uint32_t> planes) = 0;

  void keep(std::span<const std::uint32_t> planes) override {
    keep_stored(planes);
    // The sample may still be used for the next plane.
    std::vector<double> kept;
    for (std::size_t i = 0; i < sample_.size(); ++i) {
      for (const std::uint32_t j : planes) kept.push_back(scores_[i * n_planes_ + j]);
    }
    scores_ = std::move(kept);
    n_planes_ = planes.size();
  }

  std::vector<double> score(std::span<const double> alpha) override {
    sample_.resize(n_sampled());
    in_parallel(n_sampled(), [&](std::size_t i, DagKernel&, const StopToken&) {
      trees().take(sampled_[i], sample_[i]);
    });
    scores_.assign(sample_.size() * n_planes_, 0.0);
    score_planes();
    std::vector<double> sums(sample_.size(), 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (std::size_t j = 0; j < n_planes_; ++j) sums[i] += alpha[j] * scores_[i * n_planes_ + j];
    }
    return sums;
  }

  std::vector<double> add_plane(WeighedExamples plane,
                                std::span<const std::uint32_t> places) override {
    const std::size_t n_before = n_planes_ - 1;
    std::vector<double> products(n_planes_, 0.0);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const double* const scores = scores_.data() + places[k] * n_before;
      for (std::size_t j = 0; j < n_before; ++j) products[j] += plane.weights[k] * scores[j];
    }
    products.back() = store(std::move(plane), places);
    return products;
  }

  std::vector<TreeNodes> sample_;
  std::vector<double> scores_;
};

// ------------------------------------------------------------------------------ uSVM

class Lists final : public PlaneByPlane {
 public:
  explicit Lists(std::shared_ptr<const TrainingTrees> trees) : PlaneByPlane(std::move(trees)) {}

  std::uint64_t n_nodes() const override {
    std::uint64_t n = 0;
    for (const Plane& plane : planes_) {
      for (const TreeNodes& tree : plane.trees) {
        for (const std::uint32_t count : tree.calls) n += count;
      }
    }
    return n;
  }

 private:
  void keep_stored(std::span<const std::uint32_t> planes) override { keep_only(planes, planes_); }

  struct Plane {
    std::vector<TreeNodes> trees;
    std::vector<double> weights;
  };

  // This many trees are compared with a plane's trees at once, so that the latter stay in the
  // cache.
  static constexpr std::size_t kAtOnce = 8;

  // A tree that is compared with many others serves as the DAG.
  static void prepare(const TreeNodes& tree, KernelDag& dag) {
    dag.clear();
    dag.add(tree, 1.0);
    dag.count_occurrences(tree);
  }

  void score_planes() override {
    const std::size_t n_tasks = (sample_.size() + kAtOnce - 1) / kAtOnce;
    in_parallel(n_tasks, [&](std::size_t task, DagKernel& kernel, const StopToken& token) {
      const std::size_t first = task * kAtOnce;
      std::vector<KernelDag> some(std::min(kAtOnce, sample_.size() - first));
      for (std::size_t i = 0; i < some.size(); ++i) prepare(sample_[first + i], some[i]);
      for (std::size_t j = 0; j < n_planes_; ++j) {
        const Plane& plane = planes_[j];
        for (std::size_t k = 0; k < plane.trees.size(); ++k) {
          for (std::size_t i = 0; i < some.size(); ++i) {
            scores_[(first + i) * n_planes_ + j] +=
                plane.weights[k] * kernel(some[i], plane.trees[k], token);
          }
          token.check();
        }
      }
    });
  }

  void restore_plane(WeighedExamples examples) override {
    Plane plane{std::vector<TreeNodes>(examples.size()), {}};
    for (std::size_t k = 0; k < examples.size(); ++k) {
      trees().take(examples.examples[k], plane.trees[k]);
    }
    plane.weights = std::move(examples.weights);
    planes_.push_back(std::move(plane));
  }

  double store(WeighedExamples examples, std::span<const std::uint32_t> places) override {
    Plane plane;
    for (const std::uint32_t place : places) plane.trees.push_back(sample_[place]);
    plane.weights = std::move(examples.weights);
    // Half of the pairs, and the diagonal.
    std::vector<double> products(plane.trees.size());
    in_parallel(products.size(), [&](std::size_t k, DagKernel& kernel, const StopToken& token) {
      KernelDag tree;
      prepare(plane.trees[k], tree);
      double sum = 0.0;
      for (std::size_t l = 0; l < k; ++l) {
        sum += 2.0 * plane.weights[l] * kernel(tree, plane.trees[l], token);
        token.check();
      }
      sum += plane.weights[k] * kernel(tree, plane.trees[k], token);
      products[k] = plane.weights[k] * sum;
    });
    planes_.push_back(std::move(plane));
    double sum = 0.0;
    for (const double product : products) sum += product;
    return sum;
  }

  std::vector<Plane> planes_;
};

// ------------------------------------------------------------------------------ SDAG

class Dags final : public PlaneByPlane {
 public:
  explicit Dags(std::shared_ptr<const TrainingTrees> trees) : PlaneByPlane(std::move(trees)) {}

  std::uint64_t n_nodes() const override {
    std::uint64_t n = 0;
    for (const auto& plane : planes_) n += plane->size();
    return n;
  }

 private:
  void keep_stored(std::span<const std::uint32_t> planes) override { keep_only(planes, planes_); }

  // One plane at a time, so that it stays in the cache.
  static constexpr std::size_t kTreesATask = 64;

  void score_planes() override {
    const std::size_t n_parts = (sample_.size() + kTreesATask - 1) / kTreesATask;
    in_parallel(n_parts * n_planes_,
                [&](std::size_t task, DagKernel& kernel, const StopToken& token) {
                  const std::size_t j = task / n_parts;
                  const std::size_t first = task % n_parts * kTreesATask;
                  const std::size_t last = std::min(first + kTreesATask, sample_.size());
                  for (std::size_t i = first; i < last; ++i) {
                    scores_[i * n_planes_ + j] = kernel(*planes_[j], sample_[i], token);
                    token.check();
                  }
                });
  }

  void restore_plane(WeighedExamples examples) override {
    auto plane = std::make_unique<KernelDag>();
    TreeNodes tree;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      trees().take(examples.examples[k], tree);
      plane->add(tree, examples.weights[k]);
    }
    planes_.push_back(std::move(plane));
  }

  double store(WeighedExamples examples, std::span<const std::uint32_t> places) override {
    auto plane = std::make_unique<KernelDag>();
    for (std::size_t k = 0; k < places.size(); ++k) {
      plane->add(sample_[places[k]], examples.weights[k]);
    }
    std::vector<double> products(places.size());
    in_parallel(products.size(), [&](std::size_t k, DagKernel& kernel, const StopToken& token) {
      products[k] = examples.weights[k] * kernel(*plane, sample_[places[k]], token);
    });
    planes_.push_back(std::move(plane));
    double sum = 0.0;
    for (const double product : products) sum += product;
    return sum;
  }

  std::vector<std::unique_ptr<KernelDag>> planes_;
};

// ------------------------------------------------------------------------------ SDAG+

// The DAG has the nodes of all planes. Its weights are the weights of w, computed again for each
// alpha (Algorithm 7). A plane is a list of the DAG's entries with its own weights.
class OneDag final : public PlaneStore {
 public:
  explicit OneDag(std::shared_ptr<const TrainingTrees> trees) : PlaneStore(std::move(trees)) {}

  void keep(std::span<const std::uint32_t> planes) override {
    keep_only(planes, planes_);
    n_planes_ = planes_.size();
    dag_.clear();
    for (Plane& plane : planes_) enter(plane);
  }

  std::uint64_t n_nodes() const override { return dag_.size(); }

 private:
  struct Plane {
    TreeNodes nodes;
    std::vector<std::uint32_t> entries;  // by node
  };

  void enter(Plane& plane) {
    const std::span<const std::uint32_t> entries = dag_.add(plane.nodes, 0.0);
    plane.entries.assign(entries.begin(), entries.end());
  }

  std::vector<double> score(std::span<const double> alpha) override {
    weigh(alpha);
    std::vector<double> scores(n_sampled());
    in_parallel(scores.size(), [&](std::size_t i, DagKernel& kernel, const StopToken& token) {
      thread_local TreeNodes tree;
      trees().take(sampled_[i], tree);
      scores[i] = kernel(dag_, tree, token);
    });
    return scores;
  }

  void weigh(std::span<const double> alpha) {
    by_entry_.assign(dag_.size(), 0.0);
    for (std::size_t j = 0; j < n_planes_; ++j) {
      if (alpha[j] == 0.0) continue;
      const Plane& plane = planes_[j];
      for (std::size_t v = 0; v < plane.entries.size(); ++v) {
        by_entry_[plane.entries[v]] += alpha[j] * plane.nodes.weights[v];
      }
    }
    dag_.set_weights(by_entry_);
  }

  void restore_plane(WeighedExamples examples) override {
    Plane plane{trees().together(examples.examples, examples.weights), {}};
    enter(plane);
    planes_.push_back(std::move(plane));
  }

  std::vector<double> add_plane(WeighedExamples examples, std::span<const std::uint32_t>) override {
    restore_plane(examples);
    project(examples);
    return products();
  }

  // Fixed, because the order of sums must not depend on the number of threads.
  static constexpr std::size_t kParts = 16;

  // by_entry_ = Delta f, with f the weights of the examples. Each part of the examples is one DAG.
  void project(const WeighedExamples& examples) {
    offsets_.assign(1, 0);
    for (std::uint32_t l = 0; l < dag_.n_lists(); ++l) {
      offsets_.push_back(offsets_.back() + dag_.list(l).size());
    }
    parts_.resize(kParts);
    in_parallel(kParts, [&](std::size_t part, DagKernel& kernel, const StopToken& token) {
      const std::size_t first = part * examples.size() / kParts;
      const std::size_t n = (part + 1) * examples.size() / kParts - first;
      parts_[part].assign(dag_.size(), 0.0);
      if (n == 0) return;
      const std::span<const std::uint32_t> some(examples.examples);
      const std::span<const double> weights(examples.weights);
      const TreeNodes nodes = trees().together(some.subspan(first, n), weights.subspan(first, n));
      kernel.project(dag_, nodes, offsets_, parts_[part], token);
    });
    std::vector<double>& sums = parts_[0];
    for (std::size_t part = 1; part < kParts; ++part) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += parts_[part][i];
    }
    by_entry_.resize(dag_.size());
    for (std::uint32_t e = 0; e < dag_.size(); ++e) {
      by_entry_[e] = sums[offsets_[dag_.place(e).list] + dag_.place(e).at];
    }
  }

  std::vector<double> products() const {
    std::vector<double> products(n_planes_, 0.0);
    for (std::size_t j = 0; j < n_planes_; ++j) {
      const Plane& plane = planes_[j];
      for (std::size_t v = 0; v < plane.entries.size(); ++v) {
        products[j] += plane.nodes.weights[v] * by_entry_[plane.entries[v]];
      }
    }
    return products;
  }

  KernelDag dag_;
  std::vector<Plane> planes_;
  std::vector<double> by_entry_;            // weights, or products with a plane
  std::vector<std::uint64_t> offsets_;      // by list
  std::vector<std::vector<double>> parts_;  // kept for their memory
};

}  // namespace

std::unique_ptr<PlaneStore> make_plane_store(PlaneStorage storage,
                                             std::shared_ptr<const TrainingTrees> trees) {
  switch (storage) {
    case PlaneStorage::lists: return std::make_unique<Lists>(std::move(trees));
    case PlaneStorage::dags: return std::make_unique<Dags>(std::move(trees));
    case PlaneStorage::one_dag: break;
  }
  return std::make_unique<OneDag>(std::move(trees));
}

}  // namespace filbert
