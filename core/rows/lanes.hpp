// The innermost loops: Delta of partial trees for one node against eight columns at a time, and
// sums of rows.
//
// The functions are compiled twice, for any processor of the platform and for those with wider
// vectors; which is taken is decided when the program runs. Both do the same operations in the same
// order, so they give the same digits. This header is seen by both and holds plain data only:
// nothing that is compiled for the wider vectors may be shared with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filbert {

inline constexpr std::size_t kColumns = 8;

// A label as one of 64 bits: where the bits of two sets of labels are disjoint, the sets are.
inline std::uint64_t label_bit(std::uint32_t label) {
  return std::uint64_t{1} << ((label * 0x9e3779b1u) >> 26);
}

// A place that no slot has.
inline constexpr std::uint32_t kNowhere = 0xfffffffe;

// A child of a row's node. Delta with a column's child of the same label is `row[place]`, or for
// children without rows `single`, or `single + pair` where the places are equal as well.
template <class Real>
struct RowChild {
  std::uint64_t bit;  // of its label; 0 where nothing in the tile matches
  const Real* row;    // null for children without rows
  std::uint32_t label;
  std::uint32_t place;  // of a simple child: its own child's class; else kNowhere
};
using LaneChild = RowChild<double>;

// The children of eight columns at one position. Columns with fewer children have kNone there.
struct LaneSlot {
  std::uint64_t bits;  // of all labels here
  std::uint32_t same;  // the label, where all eight are the same one
  std::uint32_t unused;
  std::uint32_t label[kColumns];
  std::uint32_t place[kColumns];  // within the child's row; of a simple child: its child's class
};

// Eight columns.
struct LaneChunk {
  std::uint64_t bits;  // of all labels below
  std::uint64_t first_slot;
  std::uint64_t n_slots;
};

struct LaneWeights {
  double lambda, mu, pay, single, pair;
};

// A column that a tree has, and how often.
struct LaneTerm {
  std::uint32_t column;
  std::uint32_t count;
};

// Children of a row that are taken together by `wide`.
inline constexpr std::size_t kBlock = 16;
// Rows of so many children at most are for `narrow`.
inline constexpr std::size_t kNarrow = 6;

struct LaneKernels {
  const char* name;

  // out[8 c ...] = Delta for each chunk c; `bits` are those of all children.
  void (*narrow)(const LaneWeights& weights, const LaneChild* children, std::size_t n_children,
                 std::uint64_t bits, const LaneChunk* chunks, std::size_t n_chunks,
                 const LaneSlot* slots, double* out);

  // Rows of more children go by blocks: some children, kBlock at most, against some slots of one
  // chunk. `sums` carries eight sums for each child from one piece of the slots to the next,
  // `before` eight for each slot from one block of children to the next, and `total` the sum of all
  // pairs; all begin at 0.
  void (*wide)(const LaneWeights& weights, const LaneChild* children, std::size_t n_children,
               const LaneSlot* slots, std::size_t n_slots, double* sums, double* before,
               double* total);

  // The same where children repeat. Child i is the kinds[i]-th of some whose Deltas with the slots
  // are known: those of `deltas`, in a table with eight entries for each kind and slot.
  void (*wide_known)(const LaneWeights& weights, const std::uint32_t* kinds, std::size_t n_children,
                     const double* table, std::size_t n_slots, double* sums, double* before,
                     double* total);
  void (*deltas)(const LaneWeights& weights, const LaneChild* kinds, std::size_t n_kinds,
                 const LaneSlot* slots, std::size_t n_slots, double* table);

  // sum[i] += times * row[i], for i < n.
  void (*add)(const double* row, std::size_t n, double times, double* sum);

  // total[i] = the sum over terms of count * lanes[8 column + i], for i < 8.
  void (*dot)(const LaneTerm* terms, std::size_t n_terms, const double* lanes, double* total);
};

// The best for this processor, and those that every one has.
const LaneKernels& lane_kernels();
const LaneKernels& baseline_lane_kernels();

}  // namespace filbert
