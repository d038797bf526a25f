// Converts what the tasks of a round found to features of the factors, for any kernel. Running sums
// over the tasks give the ids, so that all tasks can write at the same time and results do not
// depend on the threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "factors/factor_rounds.hpp"
#include "factors/factor_state.hpp"
#include "factors/factors.hpp"

namespace filbert {

// The smallest fragment of a block's nodes, which all of them share. A single node shares nothing.
template <class Real, class State, class Found>
void find_smallest(std::span<const NodeId> nodes, const Real& mass, const State& state,
                   Found& found) {
  const auto first = static_cast<std::uint32_t>(found.active.size());
  found.active.insert(found.active.end(), nodes.begin(), nodes.end());
  if (nodes.size() == 1) {
    const Real& self = state.self[nodes.front()];
    const bool needed = state.nodes[nodes.front()].reused;
    found.total.push_back(self);
    found.private_mass.push_back(needed ? self : Real(0.0));
    found.n_private += needed;
    return;
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) found.members.push_back(first + i);
  found.set_begin.push_back(found.members.size());
  found.masses.push_back(mass);
  found.total.insert(found.total.end(), nodes.size(), mass);
  found.private_mass.insert(found.private_mass.end(), nodes.size(), Real(0.0));
}

// The position at which the features of a task are written.
struct FoundPlace {
  std::size_t feature, private_feature, set_node;
  std::size_t word;  // in the lists' memory for the round
};

// By task, followed by the end of the last task.
template <class Real, class State, class Found>
std::vector<FoundPlace> find_places(const std::vector<Found>& found, const State& state,
                                    Factors<Real>& factors) {
  FoundPlace end{state.mass.size(), state.private_mass.size(), factors.nodes.size(), 0};
  std::vector<FoundPlace> places{end};
  for (const Found& part : found) {
    end.feature += part.masses.size();
    end.private_feature += part.n_private;
    end.set_node += part.members.size();
    end.word += part.n_words(state);
    places.push_back(end);
    factors.n_blocks_by_pairs += part.n_by_pairs;
  }
  if (std::max(end.feature, end.private_feature) >= kPrivate - 1) {
    throw CapacityError("the factors have more than 2^31 - 2 features: split the corpus");
  }
  return places;
}

// Writes the sets that a task found, with their masses.
template <class Real, class State, class Found>
void write_sets(const Found& found, const FoundPlace& at, State& state, Factors<Real>& factors) {
  for (std::size_t s = 0; s < found.masses.size(); ++s) {
    state.mass[at.feature + s] = found.masses[s];
    factors.set_begin[at.feature + s + 1] = at.set_node + found.set_begin[s + 1];
  }
  for (std::size_t i = 0; i < found.members.size(); ++i) {
    factors.nodes[at.set_node + i] = found.active[found.members[i]];
  }
}

// Writes all features to their positions; write_lists(found, place) writes the nodes' lists of a
// task.
template <class Real, class State, class Found, class WriteLists>
void write_found(FactorRounds& rounds, const std::vector<Found>& found,
                 const std::vector<FoundPlace>& places, State& state, Factors<Real>& factors,
                 const WriteLists& write_lists) {
  const FoundPlace& end = places.back();
  state.first_new = static_cast<std::uint32_t>(state.mass.size());
  state.first_new_private = static_cast<std::uint32_t>(state.private_mass.size());
  state.mass.resize(end.feature);
  state.private_mass.resize(end.private_feature);
  factors.set_begin.resize(end.feature + 1);
  factors.nodes.resize(end.set_node);
  state.lists.add_round(end.word);
  rounds.run(found.size(), 10.0 * static_cast<double>(end.word),
             [&](std::size_t task, int, const StopToken& token) {
               token.check();
               write_sets(found[task], places[task], state, factors);
               write_lists(found[task], places[task]);
             });
}

// The private feature of a node with this private mass, or kNone.
template <class Real, class State>
std::uint32_t write_private(const Real& mass, FoundPlace& at, State& state) {
  if (is_zero(mass)) return kNone;
  state.private_mass[at.private_feature] = mass;
  return kPrivate | static_cast<std::uint32_t>(at.private_feature++);
}

// Computes the residuals after the last round. shared_mass(u) is the part of Delta(u, u) that the
// features cover; computing it takes about `steps` steps.
template <class Real, class State, class SharedMass>
void finish(FactorRounds& rounds, double steps, const SharedMass& shared_mass, State& state,
            Factors<Real>& factors) {
  const std::size_t n = state.self.size();
  factors.residual.resize(n);
  rounds.run_parts(n, 1 << 14, steps * static_cast<double>(n),
                   [&](std::size_t first, std::size_t last, int, const StopToken& token) {
                     token.check();
                     for (std::size_t u = first; u < last; ++u) {
                       const Real rest = state.self[u] - shared_mass(u);
                       factors.residual[u] = negligible(rest, state.self[u]) ? Real(0.0) : rest;
                     }
                   });
  factors.mass = std::move(state.mass);
  factors.self = std::move(state.self);
}

}  // namespace filbert
