// Rows of Delta for partial trees (PTK).
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "kernels/partial_tree.hpp"
#include "rows/row_recursion.hpp"

namespace filbert {

// Doubles are computed by lanes.hpp, eight columns at a time; Wide values and subsequences of
// bounded length are computed column by column.
template <class Real>
class PartialRows final : public RowRecursion<Real> {
 public:
  PartialRows(const PartialTree& kernel, const RowSide& side)
      : kernel_(kernel),
        light_(kernel),
        delta_(kernel),
        rows_(side.dag),
        class_of_(side.class_of),
        kinds_(side.partial->kinds) {
    this->light_single = light_.single;
    this->light_pair = light_.pair;
  }

  void compute(NodeId u, const ColumnTile& tile, const Real* const* row_of, const StopToken& token,
               Real* out) override {
    const std::uint32_t cls = class_of_[u];
    const auto chunks = tile.partial().chunks(tile.begin(cls), tile.width(cls));
    const std::uint64_t bits = list_children(u, tile, row_of);
    if (bits == 0) {
      std::fill_n(out, chunks.size() * kColumns, light_.single);
    } else if (std::is_same_v<Real, double> && kernel_.max_subsequence == 0) {
      by_lanes(chunks, tile.partial().slots(), bits, token, out);
    } else {
      one_by_one(chunks, tile.partial(), bits, token, out);
    }
  }

 private:
  using Slots = std::span<const LaneSlot>;

  // Lists u's children for the recursion, without those before the first and after the last that
  // match anything in the tile. Returns the bits of their labels.
  std::uint64_t list_children(NodeId u, const ColumnTile& tile, const Real* const* row_of) {
    children_.clear();
    times_.clear();
    std::uint64_t bits = 0;
    std::size_t end = 0;
    bool kept = false;
    std::span<const NodeId> children = rows_.children(u);
    const bool as_set = kernel_.children_are_sets();
    if (as_set) {
      sorted_.assign(children.begin(), children.end());
      std::sort(sorted_.begin(), sorted_.end());
      children = sorted_;
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (as_set && i > 0 && children[i] == children[i - 1]) {
        if (kept) times_.back() += 1.0;
        continue;
      }
      const RowChild<Real> child = described(children[i], tile, row_of);
      kept = child.bit != 0 || (bits != 0 && !as_set);
      if (!kept) continue;
      children_.push_back(child);
      times_.push_back(1.0);
      bits |= child.bit;
      if (child.bit != 0) end = children_.size();
    }
    children_.resize(end);
    return bits;
  }

  RowChild<Real> described(NodeId child, const ColumnTile& tile, const Real* const* row_of) const {
    const std::uint32_t cls = class_of_[child];
    if (cls == kNone) return {0, nullptr, kNone, kNowhere};
    if (kinds_[cls] == LabelKind::general) {
      if (tile.width(cls) == 0) return {0, nullptr, cls, kNowhere};
      return {label_bit(cls), row_of[child], cls, kNowhere};
    }
    if (tile.light_column(cls) == kNone) return {0, nullptr, cls, kNowhere};
    std::uint32_t place = kNowhere;
    if (kinds_[cls] == LabelKind::simple && !rows_.is_leaf(child)) {
      const std::uint32_t below = class_of_[rows_.children(child)[0]];
      if (below != kNone) place = below;
    }
    return {label_bit(cls), nullptr, cls, place};
  }

  // ---------------------------------------------------------------- eight at a time

  void by_lanes(std::span<const LaneChunk> chunks, const LaneSlot* slots, std::uint64_t bits,
                const StopToken& token, double* out)
    requires std::is_same_v<Real, double>
  {
    const LaneKernels& kernels = lane_kernels();
    const LaneWeights weights{kernel_.decay, kernel_.depth_decay, light_.pay, light_.single,
                              light_.pair};
    if (children_.size() <= kNarrow) {
      constexpr std::size_t kAtATime = 64;
      for (std::size_t c = 0; c < chunks.size(); c += kAtATime) {
        const std::size_t n = std::min(kAtATime, chunks.size() - c);
        kernels.narrow(weights, children_.data(), children_.size(), bits, chunks.data() + c, n,
                       slots, out + c * kColumns);
        token.check();
      }
      return;
    }
    number_kinds();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      double total[kColumns] = {};
      if ((chunks[c].bits & bits) != 0) {
        by_blocks(kernels, weights, {slots + chunks[c].first_slot, chunks[c].n_slots}, token,
                  total);
      }
      for (std::size_t lane = 0; lane < kColumns; ++lane) {
        out[c * kColumns + lane] = weights.single + weights.mu * total[lane];
      }
    }
  }
  void by_lanes(std::span<const LaneChunk>, const LaneSlot*, std::uint64_t, const StopToken&,
                Wide*) {}

  // If a row has many children that repeat, their Deltas with a slot are looked up only once.
  void number_kinds()
    requires std::is_same_v<Real, double>
  {
    constexpr std::size_t kMany = 64;
    kinds_of_row_.clear();
    kind_.clear();
    if (children_.size() < kMany) return;
    for (const LaneChild& child : children_) {
      std::size_t k = 0;
      while (k < kinds_of_row_.size() && !alike(kinds_of_row_[k], child)) ++k;
      if (k == kMostKinds) break;
      if (k == kinds_of_row_.size()) kinds_of_row_.push_back(child);
      kind_.push_back(static_cast<std::uint32_t>(k));
    }
    if (kind_.size() < children_.size() || 2 * kinds_of_row_.size() > children_.size()) {
      kinds_of_row_.clear();
    }
  }
  static bool alike(const LaneChild& a, const LaneChild& b) {
    return a.label == b.label && a.place == b.place && a.row == b.row && a.bit == b.bit;
  }

  // Splits the slots into pieces and goes through the children block by block for each piece, so
  // that the sums carried between them stay in the cache.
  void by_blocks(const LaneKernels& kernels, const LaneWeights& weights, Slots slots,
                 const StopToken& token, double* total)
    requires std::is_same_v<Real, double>
  {
    constexpr std::size_t kPiece = 128;
    sums_.assign(children_.size() * kColumns, 0.0);
    for (std::size_t j = 0; j < slots.size(); j += kPiece) {
      const Slots piece = slots.subspan(j, std::min(kPiece, slots.size() - j));
      befores_.assign(piece.size() * kColumns, 0.0);
      table_.resize(kinds_of_row_.size() * piece.size() * kColumns);
      kernels.deltas(weights, kinds_of_row_.data(), kinds_of_row_.size(), piece.data(),
                     piece.size(), table_.data());
      for (std::size_t i = 0; i < children_.size(); i += kBlock) {
        const std::size_t n = std::min(kBlock, children_.size() - i);
        double* const sums = sums_.data() + i * kColumns;
        if (kinds_of_row_.empty()) {
          kernels.wide(weights, children_.data() + i, n, piece.data(), piece.size(), sums,
                       befores_.data(), total);
        } else {
          kernels.wide_known(weights, kind_.data() + i, n, table_.data(), piece.size(), sums,
                             befores_.data(), total);
        }
        token.check();
      }
    }
  }

  // ---------------------------------------------------------------- one at a time

  void one_by_one(std::span<const LaneChunk> chunks, const PartialColumns& columns,
                  std::uint64_t bits, const StopToken& token, Real* out) {
    for (const LaneChunk& chunk : chunks) {
      for (std::size_t lane = 0; lane < kColumns; ++lane) {
        const bool shared = (chunk.bits & bits) != 0;
        *out++ = shared ? delta_of(columns, chunk, lane, token) : light_.single;
      }
      token.check();
    }
  }

  Real delta_of(const PartialColumns& columns, const LaneChunk& chunk, std::size_t lane,
                const StopToken& token) {
    if (kernel_.children_are_sets()) {
      return light_.single + Real(kernel_.depth_decay) * single_pairs(columns, chunk, lane, token);
    }
    const LaneSlot* const slots = columns.slots() + chunk.first_slot;
    const RowChild<Real>* const children = children_.data();
    return delta_(
        light_.single, chunk.n_slots, children_.size(),
        [=](std::size_t j, std::size_t i) { return match(children[i], slots[j].label[lane]); },
        [=, this](std::size_t j, std::size_t i) { return paid(children[i], slots[j].place[lane]); },
        token);
  }

  // Delta of two matching children times the decay of a pair.
  Real paid(const RowChild<Real>& child, std::uint32_t place) const {
    if (child.row != nullptr) return child.row[place] * light_.pay;
    return (child.place == place ? light_.single + light_.pair : light_.single) * light_.pay;
  }
  static bool match(const RowChild<Real>& child, std::uint32_t label) {
    return child.label == label && child.bit != 0;
  }

  Real single_pairs(const PartialColumns& columns, const LaneChunk& chunk, std::size_t lane,
                    const StopToken& token) {
    Real total(0.0);
    for (std::uint64_t j = chunk.first_slot; j < chunk.first_slot + chunk.n_slots; ++j) {
      const LaneSlot& slot = columns.slots()[j];
      for (std::size_t i = 0; i < children_.size(); ++i) {
        if (!match(children_[i], slot.label[lane])) continue;
        total +=
            Real(times_[i] * columns.multiplicity(j, lane)) * paid(children_[i], slot.place[lane]);
      }
      if (children_.size() > kLongLoop) token.check();
    }
    return total;
  }

  static constexpr std::size_t kLongLoop = 1000;
  static constexpr std::size_t kMostKinds = 64;

  const PartialTree kernel_;
  const LightWeights<Real> light_;
  PartialDelta<Real> delta_;
  const Dag& rows_;
  std::span<const std::uint32_t> class_of_;
  std::span<const LabelKind> kinds_;

  std::vector<RowChild<Real>> children_;
  std::vector<double> times_;  // number of occurrences, if equal children are taken together
  std::vector<NodeId> sorted_;
  std::vector<Real> sums_;
  std::vector<Real> befores_;
  std::vector<RowChild<Real>> kinds_of_row_;  // distinct children of a wide row, if they are few
  std::vector<std::uint32_t> kind_;           // by child
  std::vector<double> table_;                 // their Deltas with some slots
};

}  // namespace filbert
