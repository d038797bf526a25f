// The common state of the rounds of the factorisation of partial trees, and the result of a round.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/large_array.hpp"
#include "base/set_keys.hpp"
#include "base/wide.hpp"
#include "factors/factor_state.hpp"
#include "factors/factors.hpp"
#include "factors/partial/pruning.hpp"
#include "factors/partial/value_lists.hpp"
#include "forest/dag.hpp"
#include "kernels/partial_tree.hpp"

namespace filbert {

template <class Real>
struct PartialNode {
  Real found{0.0};                          // Delta(u, u) of its fragments so far
  typename ValueLists<Real>::Place newest;  // chunk of the last round that added anything
  bool reused = false;                      // a child of two different nodes of one label
};

// The mass of a fragment of one node: Delta of two nodes of which one is a leaf.
template <class Real>
Real childless_delta(const PartialTree& kernel) {
  const Real lambda(kernel.decay);
  return Real(kernel.depth_decay) * lambda * lambda;
}

template <class Real>
struct PartialState {
  PartialState(const PartialTree& the_kernel, const Dag& the_dag,
               std::span<const std::uint8_t> the_sides, double theta,
               std::span<const double> weights)
      : kernel(the_kernel),
        dag(the_dag),
        sides(the_sides),
        lambda(the_kernel.decay),
        mu(the_kernel.depth_decay),
        step(the_kernel.step()),
        childless(childless_delta<Real>(the_kernel)),
        self(the_dag.size(), Real(0.0)),
        nodes(the_dag.size()),
        pruning(the_dag, theta, weights),
        lists(pruning.on()) {}

  const PartialTree kernel;
  const Dag& dag;
  std::span<const std::uint8_t> sides;  // of the nodes, as in FactorLimits
  Real lambda, mu;
  Real step;               // the decay of a child in a sequence, on one side
  Real childless;          // childless_delta()
  std::vector<Real> self;  // Delta(u, u)
  std::vector<PartialNode<Real>> nodes;
  Pruning pruning;
  ValueLists<Real> lists;
  std::vector<Real> mass;          // by shared feature
  std::vector<Real> private_mass;  // by private feature
  // Features from here on are of the last round.
  std::uint32_t first_new = 0;
  std::uint32_t first_new_private = 0;

  std::uint8_t side(NodeId u) const { return sides.empty() ? kBothSides : sides[u]; }

  const Real& mass_of(std::uint32_t feature) const {
    return feature & kPrivate ? private_mass[feature ^ kPrivate] : mass[feature];
  }
};

// The features that some blocks found in a round.
template <class Real>
struct PartialFound {
  std::vector<NodeId> active;
  std::vector<std::uint64_t> set_begin{0};  // the sets' members, as indices into `active`
  LargeArray<std::uint32_t> members;
  LargeArray<Real> values;            // beside them
  std::vector<Real> masses;           // by set
  std::vector<std::uint32_t> n_sets;  // by active node
  std::vector<Real> total;            // by active node: Delta(u, u) of its fragments after this
  std::vector<Real> private_mass;     // by active node: private mass that its parents need, or 0
  std::uint64_t n_private = 0;        // number of these that are not 0
  std::uint64_t n_by_pairs = 0;       // blocks

  // With pruning: what nodes of the blocks lost, and which of them close. Others go on.
  std::vector<std::pair<NodeId, Lost>> lost;
  std::vector<NodeId> touched, closed;

  // The number of words that the lists of the active nodes take.
  std::uint64_t n_words(const PartialState<Real>& state) const {
    std::uint64_t n = 0;
    for (const std::uint32_t size : n_sets) n += state.lists.words(size);
    return n;
  }
  std::uint64_t bytes() const {
    return active.capacity() * (sizeof(NodeId) + 4 + 2 * sizeof(Real)) +
           members.capacity() * (4 + sizeof(Real)) + masses.capacity() * (sizeof(Real) + 8) +
           lost.capacity() * sizeof(lost[0]) +
           (touched.capacity() + closed.capacity()) * sizeof(NodeId);
  }
};

// For numbers that are not negative.
inline bool is_less(double a, double b) { return a < b; }
inline bool is_less(const Wide& a, const Wide& b) {
  if (a.is_zero() || b.is_zero()) return !b.is_zero();  // 0 also has the power 0
  return a.power() != b.power() ? a.power() < b.power() : a.mantissa() < b.mantissa();
}

// 40 bits of a positive number: numbers that differ only by rounding nearly always agree in them.
inline std::uint64_t rounded_bits(double x) {
  return (std::bit_cast<std::uint64_t>(x) + 0x800) & ~std::uint64_t{0xfff};
}
inline std::uint64_t rounded_bits(const Wide& x) {
  return rounded_bits(x.mantissa()) ^ spread(static_cast<std::uint64_t>(x.power()));
}

// The key of a set of items with values. `place` is pseudo-random, and a number of its own for each
// item. Its halves change places, so that both parts of the key depend on the value in other ways.
template <class Real>
SetKey value_key(std::uint64_t place, const Real& value) {
  const std::uint64_t bits = rounded_bits(value);
  return {spread(place ^ bits), spread(std::rotl(place, 32) + bits)};
}

}  // namespace filbert
