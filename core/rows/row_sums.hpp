// Sums of Delta between some trees and all trees of a corpus, for repeated use: data that depend on
// the corpus alone are prepared once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "rows/tile_pass.hpp"

namespace filbert {

class RowSums {
 public:
  // The caller keeps the array of roots alive.
  RowSums(const KernelSpec& spec, Trees corpus, int n_threads, const Watch& watch);
  ~RowSums();

  // Row k of the sink belongs to tree wanted[k] of the corpus. Throws TooExpensive.
  void run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch, Sink& sink);

  // Row k belongs to the k-th query, a tree of any forest. Throws TooExpensive.
  void run(Trees queries, int n_threads, const Watch& watch, Sink& sink);

 private:
  class Corpus;
  std::unique_ptr<Corpus> corpus_;
};

}  // namespace filbert
