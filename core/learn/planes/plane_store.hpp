// Cutting planes over trees, with the operations of Algorithm 2 of Severyn & Moschitti 2012. A
// plane is g = sum over some examples k of weight_k phi(x_k). The ways to store planes differ only
// in the number of Deltas that computations with them take:
//
//   lists       the examples themselves                        uSVM,  Eq. 4
//   dags        for each plane the DAG of its examples         SDAG,  Eq. 10
//   one_dag     one DAG for all planes                         SDAG+, Eq. 11
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "scoring/kernel_dag.hpp"
#include "scoring/tree_nodes.hpp"

namespace filbert {

enum class PlaneStorage { lists, dags, one_dag };

// Some examples with their weights.
struct WeighedExamples {
  std::vector<std::uint32_t> examples;
  std::vector<double> weights;

  std::size_t size() const { return examples.size(); }
};

class PlaneStore {
 public:
  virtual ~PlaneStore() = default;

  const TrainingTrees& trees() const { return *trees_; }
  std::size_t size() const { return n_planes_; }
  std::size_t n_sampled() const { return sampled_.size(); }
  const DeltaCounts& counts() const { return counts_; }

  // w . phi(x_i) for each example of a sample, where w is the sum of the planes times alpha.
  std::vector<double> scores(std::span<const std::uint32_t> sample, std::span<const double> alpha,
                             int n_threads, const Watch& watch);

  // Adds a new plane: examples of the last sample, given by their indices in it, with weights.
  // Returns its products with all planes; the last one is with itself.
  std::vector<double> add(std::span<const std::uint32_t> places, std::span<const double> weights,
                          int n_threads, const Watch& watch);

  // Adds a plane of examples with weights, as `add` did before, but without products.
  void restore(std::span<const std::uint32_t> examples, std::span<const double> weights);

  // Drops all planes except these, which ascend.
  virtual void keep(std::span<const std::uint32_t> planes) = 0;

  // The number of stored nodes: occurrences in lists, entries in DAGs.
  virtual std::uint64_t n_nodes() const = 0;

 protected:
  explicit PlaneStore(std::shared_ptr<const TrainingTrees> trees) : trees_(std::move(trees)) {}

  virtual std::vector<double> score(std::span<const double> alpha) = 0;
  virtual std::vector<double> add_plane(WeighedExamples plane,
                                        std::span<const std::uint32_t> places) = 0;
  virtual void restore_plane(WeighedExamples plane) = 0;

  // task(index, kernel, token) for all indices, on threads.
  template <class Task>
  void in_parallel(std::size_t n_tasks, const Task& task);

  std::vector<std::uint32_t> sampled_;
  std::size_t n_planes_ = 0;

 private:
  struct Work {
    int n_threads;
    const Watch* watch;
  };

  const std::shared_ptr<const TrainingTrees> trees_;
  std::vector<std::unique_ptr<DagKernel>> kernels_;  // one per thread
  DeltaCounts counts_;
  Work work_{};
};

std::unique_ptr<PlaneStore> make_plane_store(PlaneStorage storage,
                                             std::shared_ptr<const TrainingTrees> trees);

}  // namespace filbert
