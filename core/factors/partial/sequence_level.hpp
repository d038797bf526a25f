// The sequences of child features found in a block of partial trees, by length: sequences with the
// same placements are one class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_array.hpp"
#include "base/set_keys.hpp"
#include "factors/partial/partial_state.hpp"

namespace filbert {

enum class Direction { left, right };

// A placement of a sequence of child features: within `node`, with its outermost element at child
// `at`. While a sequence grows to the left, `anchor` is its first position; after that it is 0.
template <class Real>
struct Laid {
  std::uint32_t node, anchor, at;
  Real value;
};

// The classes of sequences of one length.
template <class Real>
class SequenceLevel {
 public:
  struct Class {
    std::size_t begin, end;  // in laid_
    Real mass;
  };

  void clear() {
    laid_.clear();
    classes_.clear();
    of_key_.clear();
  }
  bool empty() const { return classes_.empty(); }
  std::size_t size() const { return classes_.size(); }
  const Class& at(std::size_t i) const { return classes_[i]; }
  // A dropped class has no placements.
  void drop(std::size_t i) { classes_[i].end = classes_[i].begin; }
  bool dropped(std::size_t i) const { return classes_[i].end == classes_[i].begin; }
  std::span<const Laid<Real>> laid(const Class& c) const {
    return {laid_.data() + c.begin, c.end - c.begin};
  }
  std::uint64_t bytes() const {
    return laid_.capacity() * sizeof(Laid<Real>) + classes_.capacity() * sizeof(Class) +
           of_key_.bytes();
  }

  // Scales the values so that the largest is 1. Sequences with equal scaled values are one class.
  // They have at least two nodes.
  void add(std::span<Laid<Real>> laid, Real mass) {
    Real most(0.0);
    for (const Laid<Real>& l : laid) {
      if (is_less(most, l.value)) most = l.value;
    }
    SetKey key;
    for (Laid<Real>& l : laid) {
      l.value /= most;
      key += value_key(spread((std::uint64_t{l.node} << 32) | l.anchor) + l.at, l.value);
    }
    mass *= most * most;
    std::uint32_t& known = of_key_.at(key);
    if (known != 0) {
      classes_[known - 1].mass += mass;
      return;
    }
    const std::size_t begin = laid_.size();
    laid_.resize(begin + laid.size());
    std::copy(laid.begin(), laid.end(), laid_.begin() + begin);
    classes_.push_back({begin, laid_.size(), mass});
    known = static_cast<std::uint32_t>(classes_.size());
  }

 private:
  LargeArray<Laid<Real>> laid_;
  std::vector<Class> classes_;
  ScratchMap<SetKey, std::uint32_t> of_key_;  // number + 1; 0: none
};

}  // namespace filbert
