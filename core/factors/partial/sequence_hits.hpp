// Extensions of a class of sequences by features: a hit is a placement of a sequence with one more
// element, which has the feature. The hits of one feature are in the order of nodes, and outwards
// within a node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/large_array.hpp"
#include "base/set_keys.hpp"
#include "factors/partial/partial_state.hpp"
#include "factors/partial/sequence_level.hpp"

namespace filbert {

template <class Real>
class SequenceHits {
 public:
  explicit SequenceHits(const PartialState<Real>& state) : state_(state) {}

  // Hits in the last node come last. A feature that no node before had is then of no use.
  void start(std::uint32_t last_node) {
    last_node_ = last_node;
    seen_of_feature_.clear();
    seen_.clear();
    hits_.clear();
  }

  // Adds a hit in a node of this side.
  void add(std::uint32_t feature, const Laid<Real>& laid, std::uint8_t side) {
    std::uint32_t* const known = seen_of_feature_.find(feature, laid.node != last_node_);
    if (known != nullptr) hits_.push_back({see(feature, laid, side, *known), laid});
  }
  // Sorts by feature, and drops features that no two nodes have in common.
  void sort() {
    find_rooms();
    for (const Hit& hit : hits_) lay(seen_[hit.seen], hit.laid);
  }

  // Hits of features of the last round are too many to be kept before sorting: all are counted
  // first and then written to their sorted positions.
  void start_new() {
    start(kNone);
    seen_of_new_.resize(state_);
  }
  void count_new(std::uint32_t feature, const Laid<Real>& laid, std::uint8_t side) {
    see(feature, laid, side, seen_of_new_.at(feature));
  }
  void sort_new() { find_rooms(); }
  void lay_new(std::uint32_t feature, const Laid<Real>& laid) {
    lay(seen_[seen_of_new_.at(feature) - 1], laid);
  }
  void end_new() {
    for (const Seen& seen : seen_) seen_of_new_.at(seen.feature) = 0;
  }

  // Converts the sorted hits to classes of longer sequences, but for those that drop(mass, laid)
  // drops. `mass` is the mass of the shorter ones.
  template <class LookUp, class Drop>
  void add_classes(const Real& mass, SequenceLevel<Real>& level, const LookUp& look_up,
                   const Drop& drop) {
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      const Seen& seen = seen_[s];
      if (s % 1024 == 1023) look_up();
      if (!seen.shared()) continue;
      const Real longer = mass * state_.mass_of(seen.feature);
      const std::span<const Laid<Real>> laid(sorted_.data() + seen.begin, seen.size);
      if (!drop(longer, laid)) level.add(laid, longer);
    }
  }

  std::uint64_t bytes() const {
    return seen_of_feature_.bytes() + seen_of_new_.bytes() + hits_.capacity() * sizeof(Hit) +
           seen_.capacity() * sizeof(Seen) + sorted_.capacity() * sizeof(Laid<Real>);
  }

 private:
  struct Seen {
    std::uint32_t feature;
    std::uint32_t node;  // the first node that has it
    bool several;        // other nodes have it, too
    std::uint8_t sides;  // of all nodes that have it

    bool shared() const { return several && sides == kBothSides; }
    std::size_t size;   // hits
    std::size_t begin;  // in sorted_
  };
  struct Hit {
    std::uint32_t seen;
    Laid<Real> laid;
  };

  // Numbers by feature of the last round: there are many, in one contiguous range.
  class NumbersOfNew {
   public:
    void resize(const PartialState<Real>& state) {
      first_ = state.first_new;
      first_private_ = state.first_new_private;
      shared_.resize(std::max(shared_.size(), state.mass.size() - first_));
      private_.resize(std::max(private_.size(), state.private_mass.size() - first_private_));
    }
    std::uint32_t& at(std::uint32_t feature) {
      return feature & kPrivate ? private_[(feature ^ kPrivate) - first_private_]
                                : shared_[feature - first_];
    }
    std::uint64_t bytes() const { return (shared_.size() + private_.size()) * 4; }

   private:
    std::vector<std::uint32_t> shared_, private_;
    std::uint32_t first_ = 0, first_private_ = 0;
  };

  // Counts a hit. Returns the feature's index in seen_. `known` is its number, or 0.
  std::uint32_t see(std::uint32_t feature, const Laid<Real>& laid, std::uint8_t side,
                    std::uint32_t& known) {
    if (known == 0) {
      seen_.push_back({feature, laid.node, false, 0, 0, 0});
      known = static_cast<std::uint32_t>(seen_.size());
    }
    Seen& seen = seen_[known - 1];
    ++seen.size;
    seen.several = seen.several || seen.node != laid.node;
    seen.sides |= side;
    return known - 1;
  }

  // Allocates ranges of sorted_ for the hits of features that several nodes have.
  void find_rooms() {
    std::size_t n = 0;
    for (Seen& seen : seen_) {
      seen.begin = n;
      if (seen.shared()) n += seen.size;
      seen.size = 0;
    }
    sorted_.resize(n);
  }

  void lay(Seen& seen, const Laid<Real>& laid) {
    if (seen.shared()) sorted_[seen.begin + seen.size++] = laid;
  }

  const PartialState<Real>& state_;
  NumbersOfNew seen_of_new_;                                  // number + 1; 0: none
  ScratchMap<std::uint32_t, std::uint32_t> seen_of_feature_;  // number + 1; 0: none
  std::uint32_t last_node_ = kNone;
  std::vector<Seen> seen_;
  std::vector<Hit> hits_;
  LargeArray<Laid<Real>> sorted_;
};

}  // namespace filbert
