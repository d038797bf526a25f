// Rows of any kernel, computed by tiles of Delta.
#pragma once

#include <memory>
#include <vector>

#include "forest/dag.hpp"
#include "kernels/tree_kernel.hpp"
#include "rows/entries.hpp"
#include "rows/row_source.hpp"
#include "rows/row_sums.hpp"
#include "rows/tile_pass.hpp"

namespace filbert {

class TileRows final : public RowSource {
 public:
  // numbers[i]: the number of tree i in error messages. Throws KernelOverflow if a self-kernel that
  // is not normalised is beyond double: only then can other values be. Throws TooExpensive and
  // TooManyOccurrences as matrix.hpp does.
  TileRows(const KernelSpec& spec, std::shared_ptr<const Dag> dag, std::vector<NodeId> roots,
           std::span<const std::uint32_t> numbers, bool normalize, int n_threads,
           const Watch& watch);

  std::size_t n_trees() const override { return roots_.size(); }
  std::span<const double> self() const override { return self_; }
  void rows(std::span<const std::uint32_t> wanted, std::span<double* const> out, int n_threads,
            const Watch& watch) override;
  void block(std::span<const std::uint32_t> wanted, std::span<double* const> out, int n_threads,
             const Watch& watch) override;

  // out[k * n_trees() + j] = K(k-th query, j), for trees of any forest. Throws KernelOverflow.
  void between(Trees queries, int n_threads, const Watch& watch, double* out);

 private:
  Trees all() const { return {*dag_, roots_}; }
  const Norms* norms() const { return normalize_ ? &norms_ : nullptr; }
  void block_by_rows(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                     int n_threads, const Watch& watch);
  std::vector<NodeId> roots_of(std::span<const std::uint32_t> wanted) const;

  KernelSpec spec_;
  std::shared_ptr<const Dag> dag_;
  std::vector<NodeId> roots_;
  bool normalize_;
  Norms norms_;
  std::vector<double> self_;
  std::unique_ptr<RowSums> sums_;  // null if there are long chains
};

}  // namespace filbert
