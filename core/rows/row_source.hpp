// Rows of a kernel matrix, computed on request. Training and searching use it with kernels whose
// matrix they never compute in full.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"

namespace filbert {

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual std::size_t n_trees() const = 0;
  virtual std::span<const double> self() const = 0;  // K(t, t)

  // out[k][j] = K(wanted[k], j) for all trees j. Values do not depend on the number of threads.
  virtual void rows(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                    int n_threads, const Watch& watch) = 0;

  // out[k][l] = K(wanted[k], wanted[k + l]) only, each pair once, in half the time.
  virtual void block(std::span<const std::uint32_t> wanted, std::span<double* const> out,
                     int n_threads, const Watch& watch) = 0;
};

}  // namespace filbert
