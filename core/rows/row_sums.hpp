// Sums of Delta between some trees and all trees of a corpus, again and again: what depends on the
// corpus alone is prepared once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "rows/tile_pass.hpp"

namespace filbert {

class RowSums {
 public:
  // The roots have to stay where they are.
  RowSums(const KernelSpec& spec, Trees corpus, int n_threads, const Watch& watch);
  ~RowSums();

  // Row k of the sink is that of tree wanted[k] of the corpus. Throws TooExpensive.
  void run(std::span<const std::uint32_t> wanted, int n_threads, const Watch& watch, Sink& sink);

  // Row k is that of the k-th query, a tree of any forest. Throws TooExpensive.
  void run(Trees queries, int n_threads, const Watch& watch, Sink& sink);

 private:
  class Corpus;
  std::unique_ptr<Corpus> corpus_;
};

}  // namespace filbert
