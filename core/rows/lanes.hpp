// The innermost loops: Delta of partial trees for one node against eight columns at a time, and
// sums of rows.
//
// The functions are compiled twice: for any processor of the platform, and for processors with
// wider vectors. The program chooses between them at run time. Both do the same operations in the
// same order, so they give the same digits. Both include this header, so it holds plain data only:
// code compiled for the wider vectors must not be shared with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filbert {

inline constexpr std::size_t kColumns = 8;

// A label as one of 64 bits. If the bits of two sets of labels are disjoint, so are the sets.
inline std::uint64_t label_bit(std::uint32_t label) {
  return std::uint64_t{1} << ((label * 0x9e3779b1u) >> 26);
}

// A place that no slot has.
inline constexpr std::uint32_t kNowhere = 0xfffffffe;

// A child of a row's node. Delta with a column's child of the same label is `row[place]`. For
// children without rows it is `single`, or `single + pair` if the places are equal as well.
template <class Real>
struct RowChild {
  std::uint64_t bit;  // of its label; 0 if nothing in the tile matches
  const Real* row;    // null for children without rows
  std::uint32_t label;
  std::uint32_t place;  // of a simple child: its own child's class; else kNowhere
};
using LaneChild = RowChild<double>;

// The children of eight columns at one position. Columns with fewer children have kNone there.
struct LaneSlot {
  std::uint64_t bits;  // of all labels here
  std::uint32_t same;  // the label, if all eight columns have the same one
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

// A column that a tree has, and the number of occurrences.
struct LaneTerm {
  std::uint32_t column;
  std::uint32_t count;
};

// The maximum number of a row's children that one call of `wide` handles.
inline constexpr std::size_t kBlock = 16;
// `narrow` handles rows with at most this many children.
inline constexpr std::size_t kNarrow = 6;

struct LaneKernels {
  const char* name;

  // out[8 c ...] = Delta for each chunk c; `bits` has the label bits of all children.
  void (*narrow)(const LaneWeights& weights, const LaneChild* children, std::size_t n_children,
                 std::uint64_t bits, const LaneChunk* chunks, std::size_t n_chunks,
                 const LaneSlot* slots, double* out);

  // Rows of more children are computed in blocks: at most kBlock children against some slots of one
  // chunk. `sums` carries eight sums per child from one piece of the slots to the next, `before`
  // eight sums per slot from one block of children to the next, and `total` the sum over all pairs.
  // All start at 0.
  void (*wide)(const LaneWeights& weights, const LaneChild* children, std::size_t n_children,
               const LaneSlot* slots, std::size_t n_slots, double* sums, double* before,
               double* total);

  // The same for children that repeat. Child i is of kind kinds[i]. `deltas` is a table of the
  // known Deltas of the kinds with the slots, with eight entries for each kind and slot.
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

// The fastest functions for this processor, and the functions that every processor supports.
const LaneKernels& lane_kernels();
const LaneKernels& baseline_lane_kernels();

}  // namespace filbert
