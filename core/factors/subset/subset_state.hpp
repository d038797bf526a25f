// The common state of the rounds of the factorisation of subset trees, and the result of a round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_array.hpp"
#include "factors/factor_state.hpp"
#include "factors/factors.hpp"
#include "factors/subset/block_order.hpp"
#include "factors/subset/feature_lists.hpp"
#include "kernels/subset_tree.hpp"

namespace filbert {

// A distinct node. Its data are together, because parents need all of them at once.
template <class Real>
struct SubsetNode {
  Real found{0.0};  // the mass of its fragments so far
  Real gain{0.0};   // what the last round added
  FeatureLists::Place newest = FeatureLists::kNowhere;
  bool reused = false;  // at least twice in one slot of a production
};

template <class Real>
struct SubsetState {
  const SubsetTree kernel;
  BlockOrder dag;          // its numbers of nodes are used everywhere
  std::vector<Real> self;  // Delta(u, u)
  LargeArray<SubsetNode<Real>> nodes;
  std::vector<std::uint32_t> gained;  // by node: the last round that added anything
  FeatureLists lists;
  std::vector<Real> mass;           // by shared feature
  std::vector<Real> private_mass;   // by private feature
  std::vector<std::uint8_t> sides;  // by node, as in FactorLimits; empty: all have both
  // Features from here on are of the last round.
  std::uint32_t first_new = 0;
  std::uint32_t first_new_private = 0;

  std::uint8_t side(NodeId u) const { return sides.empty() ? kBothSides : sides[u]; }
  bool have_both_sides(std::span<const NodeId> nodes) const {
    std::uint8_t found = 0;
    for (const NodeId u : nodes) {
      found |= side(u);
      if (found == kBothSides) return true;
    }
    return false;
  }

  bool gained_in(NodeId u, std::uint32_t round) const { return gained[u] == round; }

  const Real& mass_of(std::uint32_t feature) const {
    return feature & kPrivate ? private_mass[feature ^ kPrivate] : mass[feature];
  }
  bool is_new(std::uint32_t feature) const {
    return feature & kPrivate ? (feature ^ kPrivate) >= first_new_private : feature >= first_new;
  }
};

// The masses of the features that some nodes share: old ones from before the last round, and new
// ones from it.
template <class Real>
struct SubsetMasses {
  Real old_mass{0.0}, new_mass{0.0};
};

// The features that some blocks found in a round.
template <class Real>
struct SubsetFound {
  std::vector<NodeId> active;
  std::vector<std::uint32_t> n_shared;      // by active node: the number of its sets
  std::vector<std::uint64_t> set_begin{0};  // the sets' members, as indices into `active`
  std::vector<std::uint32_t> members;
  std::vector<Real> masses;        // by set
  std::vector<Real> total;         // by active node: the mass of its fragments after this
  std::vector<Real> private_mass;  // by active node: private mass that its parents need, or 0
  std::uint64_t n_private = 0;     // number of these that are not 0
  std::uint64_t n_by_pairs = 0;    // blocks

  // The number of words that the lists of the active nodes take.
  template <class State>
  std::uint64_t n_words(const State&) const {
    return active.size() * FeatureLists::kHeader + members.size();
  }
  std::uint64_t bytes() const {
    return active.size() * (sizeof(NodeId) + 4 + 2 * sizeof(Real)) + members.size() * 4 +
           masses.size() * (sizeof(Real) + 8);
  }
};

}  // namespace filbert
