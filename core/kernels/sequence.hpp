// Gap-weighted subsequences (Lodhi et al. 2002): the kernel of two sequences is a sum over their
// common subsequences. Each pair of occurrences i, j has weight decay^(span of i + span of j).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "base/wide.hpp"

namespace filbert {

struct SequenceSpec {
  double decay = 0.5;        // in (0, 1]
  std::uint32_t length = 0;  // of the subsequences; 0: all lengths
};

// Concatenated sequences of labels.
struct Sequences {
  std::span<const LabelId> labels;
  std::span<const std::uint64_t> ends;

  std::size_t size() const { return ends.size(); }
  std::span<const LabelId> operator[](std::size_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    return labels.subspan(begin, ends[i] - begin);
  }
};

// The kernel of each sequence with itself.
std::vector<Wide> self_kernels(const SequenceSpec& spec, Sequences sequences, int n_threads,
                               const Watch& watch);

// The kernels of all sequences of `a` with all of `b`, row by row. Throws KernelOverflow if a value
// that is not normalised is beyond double.
void kernel_matrix(const SequenceSpec& spec, Sequences a, Sequences b, bool normalize,
                   int n_threads, const Watch& watch, double* out);

// The same for `a` with itself, in half the time.
void kernel_matrix(const SequenceSpec& spec, Sequences a, bool normalize, int n_threads,
                   const Watch& watch, double* out);

}  // namespace filbert
