// Classes of sequences, or of sets of nodes, with the same values up to a common factor. The
// sequences of child features that a block of partial trees finds are kept by length.
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

  std::uint64_t place() const { return spread((std::uint64_t{node} << 32) | anchor) + at; }
};

// A fragment in a node.
template <class Real>
struct Member {
  std::uint32_t node;
  Real value;

  std::uint64_t place() const { return spread(node); }
};

// Items have a place() and a value. Those of a class are in the same places with the same values,
// of which the largest is 1. Equal classes become one if `merges`. A list that does not merge is
// for absorb().
//
// A class that is added waits behind the others until some more have been added: meanwhile the
// memory of its key in the table comes closer. Nothing may wait when the list is read.
template <class Item, class Real>
class ItemClasses {
 public:
  explicit ItemClasses(bool merges = true) : merges_(merges) {}

  struct Class {
    std::size_t begin, end;  // in items_
    Real mass;
    SetKey key;
  };

  void clear() {
    items_.clear();
    classes_.clear();
    of_key_.clear();
    waiting_.clear();
  }
  bool empty() const { return classes_.empty(); }
  std::size_t size() const { return classes_.size(); }
  std::size_t n_items() const { return items_.size(); }
  const Class& at(std::size_t i) const { return classes_[i]; }
  std::span<const Item> items(const Class& c) const {
    return {items_.data() + c.begin, c.end - c.begin};
  }
  std::uint64_t bytes() const {
    return items_.capacity() * sizeof(Item) + classes_.capacity() * sizeof(Class) + of_key_.bytes();
  }

  // Adds a class of items of at least two nodes, and scales its values so that the largest is 1.
  void add(std::span<const Item> items, const Real& mass) {
    const std::size_t begin = items_.size();
    items_.resize(begin + items.size());
    Item* out = items_.data() + begin;
    Real most(0.0);
    for (const Item& item : items) {
      if (is_less(most, item.value)) most = item.value;
    }
    SetKey key;
    for (const Item& item : items) {
      *out = item;
      out->value /= most;
      key += value_key(out->place(), out->value);
      ++out;
    }
    if (merges_) of_key_.prefetch(key);
    waiting_.push_back({begin, items_.size(), mass * (most * most), key});
    if (waiting_.size() == kWaiting) settle();
  }

  // Ends the waiting.
  void settle() {
    if (waiting_.empty()) return;
    std::size_t end = waiting_.front().begin;
    for (const Class& c : waiting_) {
      if (std::uint32_t* const known = merges_ ? &of_key_.at(c.key) : nullptr) {
        if (*known != 0) {
          classes_[*known - 1].mass += c.mass;
          continue;
        }
        *known = static_cast<std::uint32_t>(classes_.size() + 1);
      }
      if (end != c.begin)
        std::copy(items_.data() + c.begin, items_.data() + c.end, items_.data() + end);
      classes_.push_back({end, end + (c.end - c.begin), c.mass, c.key});
      end = classes_.back().end;
    }
    items_.resize(end);
    waiting_.clear();
  }

  // Adds a class that no other is equal to.
  void add_distinct(std::span<const Item> items, const Real& mass) { append(items, mass, {}); }

  // Adds classes that were found apart from these, as if they had been found here.
  void absorb(const ItemClasses& part) {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (i + kAhead < part.size()) of_key_.prefetch(part.at(i + kAhead).key);
      merge(part.items(part.at(i)), part.at(i).mass, part.at(i).key);
    }
  }

 private:
  void merge(std::span<const Item> items, const Real& mass, const SetKey& key) {
    std::uint32_t& known = of_key_.at(key);
    if (known != 0) {
      classes_[known - 1].mass += mass;
      return;
    }
    append(items, mass, key);
    known = static_cast<std::uint32_t>(classes_.size());
  }

  void append(std::span<const Item> items, const Real& mass, const SetKey& key) {
    const std::size_t begin = items_.size();
    items_.resize(begin + items.size());
    std::copy(items.begin(), items.end(), items_.begin() + begin);
    classes_.push_back({begin, items_.size(), mass, key});
  }

  static constexpr std::size_t kWaiting = 32;

  bool merges_;
  LargeArray<Item> items_;
  std::vector<Class> classes_;
  std::vector<Class> waiting_;                // their items come last
  ScratchMap<SetKey, std::uint32_t> of_key_;  // number + 1; 0: none
};

template <class Real>
using SequenceLevel = ItemClasses<Laid<Real>, Real>;
template <class Real>
using NodeSets = ItemClasses<Member<Real>, Real>;

}  // namespace filbert
