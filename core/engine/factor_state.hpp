// What the rounds of the factorisation share, and what a block hands back.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/wide.hpp"
#include "engine/feature_lists.hpp"
#include "forest/dag.hpp"

namespace filbert {

// What subtraction leaves of a total by rounding alone.
inline bool negligible(double part, double total) {
  return std::fabs(part) <= 1e-13 * std::fabs(total);
}
inline bool negligible(const Wide& part, const Wide& total) {
  if (part.is_zero()) return true;
  if (total.is_zero()) return false;
  return std::fabs(ratio(part, total, Wide(1.0))) <= 1e-13;
}

template <class Real>
struct State {
  const Dag& dag;
  Real lambda;
  std::vector<Real> self;  // Delta(u, u)
  std::vector<Real> mass;  // by feature
  FeatureLists lists;
  std::vector<Real> found;              // by node: the mass of its fragments so far
  std::vector<Real> gain;               // by node: what the last round added
  std::vector<std::uint32_t> gained;    // by node: the last round that added anything
  std::vector<bool> reused;             // by node: twice or more in one slot of a production
  std::uint32_t first_new_feature = 0;  // features from here on are of the last round

  bool gained_in(NodeId u, std::uint32_t round) const { return gained[u] == round; }
};

// A production's nodes that may still have fragments to find.
struct Block {
  std::vector<NodeId> open;
};

// What a block found in a round.
template <class Real>
struct Found {
  std::vector<NodeId> active;
  std::vector<std::uint32_t> set_begin{0};  // the sets' members, as indices into `active`
  std::vector<std::uint32_t> members;
  std::vector<Real> masses;  // by set
  std::vector<Real> total;   // by active node: the mass of its fragments after this
  std::vector<Real> private_mass;
  std::vector<bool> closed;
  bool by_pairs = false;
};

}  // namespace filbert
