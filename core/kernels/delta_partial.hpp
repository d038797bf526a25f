// Rows of Delta for partial trees (PTK).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "kernels/column_tile.hpp"

namespace filbert {

// Moschitti 2006; Severyn & Moschitti 2012, Eq. 8. For two nodes of the same label
//
//   Delta(u, v) = mu * (lambda^2 + sum over pairs of child subsequences of equal length of
//                                  weight * prod of the Deltas of the children they pair)
//
// with weight = lambda^(span on both sides), or lambda^(skipped children) for Penalty::gaps. All
// lengths at once in O(k1 k2) steps and k1 memory: going through the pairs (i, j) of children,
//
//   A(i,j) = Delta(u_i, v_j) * pay * (1 + B(i-1,j-1))      subsequences whose last pair is (i, j)
//   B(i,j) = sum of lambda^(i-i' + j-j') A(i',j'), i' <= i, j' <= j
//
// where `pay` is what a matched pair costs: lambda^2 for spans, 1 for gaps. C[i] holds the sum over
// j' < j, and `before` the sum over i' < i, so nothing is ever subtracted.
template <class Real>
class PartialRows {
 public:
  PartialRows(const KernelSpec& spec, const Dag& rows, std::span<const std::uint32_t> class_of)
      : spec_(spec),
        lambda_(spec.decay),
        mu_(spec.depth_decay),
        pay_(spec.penalty == Penalty::span ? Real(spec.decay) * Real(spec.decay) : Real(1.0)),
        childless_(Real(spec.depth_decay) * (Real(spec.decay) * Real(spec.decay))),
        rows_(rows),
        class_of_(class_of) {}

  template <class RowOf>
  void compute(NodeId u, const ColumnTile& tile, const RowOf& row_of, const StopToken& token,
               Real* out) {
    const std::uint32_t cls = class_of_[u];
    const std::uint32_t first = tile.begin(cls);
    const std::uint32_t width = tile.width(cls);
    std::fill_n(out, width, childless_);
    const std::uint64_t signature = list_children(u, tile, row_of);
    if (signature == 0) return;
    for (std::uint32_t i = 0; i < width; ++i) {
      if ((tile.signature(first + i) & signature) == 0) continue;
      out[i] += mu_ * sum_of_pairs(tile, first + i, token);
      if (i % 256 == 255) token.check();
    }
  }

 private:
  struct RowChild {
    std::uint32_t cls;
    const Real* row;  // null where no column has this child's class
  };

  // u's children as the recursion needs them; the bit set of the classes that occur in the tile.
  template <class RowOf>
  std::uint64_t list_children(NodeId u, const ColumnTile& tile, const RowOf& row_of) {
    children_.clear();
    multiplicities_.clear();
    std::uint64_t signature = 0;
    std::span<const NodeId> children = rows_.children(u);
    const bool as_set = spec_.max_subsequence == 1;
    if (as_set) {
      sorted_.assign(children.begin(), children.end());
      std::sort(sorted_.begin(), sorted_.end());
      children = sorted_;
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      const std::uint32_t cls = class_of_[children[i]];
      if (as_set && i > 0 && children[i] == children[i - 1]) {
        multiplicities_.back() += 1.0;
        continue;
      }
      const bool matches = tile.width(cls) > 0;
      if (matches) signature |= ColumnTile::signature_bit(cls);
      children_.push_back({cls, matches ? row_of(children[i]) : nullptr});
      multiplicities_.push_back(1.0);
    }
    return signature;
  }

  Real sum_of_pairs(const ColumnTile& tile, std::uint32_t column, const StopToken& token) {
    const std::span<const ColumnTile::Child> other = tile.children(column);
    const std::size_t longest = std::min(children_.size(), other.size());
    const std::size_t limit = spec_.max_subsequence == 0 ? longest : spec_.max_subsequence;
    if (spec_.max_subsequence == 1) {
      return single_pairs(other, tile.multiplicities(column), token);
    }
    if (limit >= longest) return any_length(other, token);
    return bounded_length(other, limit, token);
  }

  Real any_length(std::span<const ColumnTile::Child> other, const StopToken& token) {
    const std::size_t k = children_.size();
    const Real one(1.0);
    sums_.assign(k, Real(0.0));
    Real total(0.0);
    for (const ColumnTile::Child theirs : other) {
      Real before(0.0);
      for (std::size_t i = 0; i < k; ++i) {
        const Real old = sums_[i];
        Real updated = lambda_ * old;
        if (children_[i].cls == theirs.cls && children_[i].row != nullptr) {
          const Real a = children_[i].row[theirs.offset] * pay_ * (one + before);
          total += a;
          updated += a;
        }
        before = lambda_ * before + old;
        sums_[i] = updated;
      }
      if (k > kLongLoop) token.check();
    }
    return total;
  }

  // One table for each length: A_q needs the B of length q - 1.
  Real bounded_length(std::span<const ColumnTile::Child> other, std::size_t limit,
                      const StopToken& token) {
    const std::size_t k = children_.size();
    sums_.assign(k * limit, Real(0.0));
    befores_.resize(limit);
    Real total(0.0);
    for (const ColumnTile::Child theirs : other) {
      std::fill(befores_.begin(), befores_.end(), Real(0.0));
      for (std::size_t i = 0; i < k; ++i) {
        Real* const sums = sums_.data() + i * limit;
        const bool match = children_[i].cls == theirs.cls && children_[i].row != nullptr;
        const Real paid = match ? children_[i].row[theirs.offset] * pay_ : Real(0.0);
        Real shorter(1.0);
        for (std::size_t q = 0; q < limit; ++q) {
          const Real old = sums[q];
          const Real before = befores_[q];
          Real updated = lambda_ * old;
          if (match) {
            const Real a = paid * shorter;
            total += a;
            updated += a;
          }
          befores_[q] = lambda_ * before + old;
          sums[q] = updated;
          shorter = before;
        }
      }
      if (k > kLongLoop) token.check();
    }
    return total;
  }

  Real single_pairs(std::span<const ColumnTile::Child> other,
                    std::span<const double> other_multiplicities, const StopToken& token) {
    Real total(0.0);
    for (std::size_t j = 0; j < other.size(); ++j) {
      for (std::size_t i = 0; i < children_.size(); ++i) {
        if (children_[i].cls != other[j].cls || children_[i].row == nullptr) continue;
        total += Real(multiplicities_[i] * other_multiplicities[j]) *
                 (children_[i].row[other[j].offset] * pay_);
      }
      if (children_.size() > kLongLoop) token.check();
    }
    return total;
  }

  static constexpr std::size_t kLongLoop = 1000;

  const KernelSpec& spec_;
  Real lambda_, mu_, pay_, childless_;
  const Dag& rows_;
  std::span<const std::uint32_t> class_of_;

  std::vector<RowChild> children_;
  std::vector<double> multiplicities_;
  std::vector<NodeId> sorted_;
  std::vector<Real> sums_;
  std::vector<Real> befores_;
};

}  // namespace filbert
