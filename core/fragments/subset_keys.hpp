// Subset trees as keys: the productions of their nodes in preorder, kNone for a node that is not
// grown. A leaf of a tree that counts as a fragment is kNone and its label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "forest/productions.hpp"
#include "fragments/flat_fragment.hpp"

namespace filbert {

using SubsetKey = std::vector<std::uint32_t>;

inline bool is_leaf_key(std::span<const std::uint32_t> key) { return key[0] == kNone; }

// A place in a key that is grown by a production.
struct Growth {
  std::uint32_t position;
  std::uint32_t production;
};

// The key with some places grown; positions ascend.
inline SubsetKey grown(std::span<const std::uint32_t> key, std::span<const Growth> growths,
                       const Dag& dag) {
  SubsetKey out;
  std::size_t next = 0;
  for (const Growth& growth : growths) {
    out.insert(out.end(), key.begin() + next, key.begin() + growth.position);
    out.push_back(growth.production);
    out.insert(out.end(), dag.arity(dag.productions().example(growth.production)), kNone);
    next = growth.position + 1;
  }
  out.insert(out.end(), key.begin() + next, key.end());
  return out;
}

// Writes the key as labels; `open` marks the places that have children in a tree.
inline void to_flat(const Dag& dag, std::span<const std::uint32_t> key,
                    std::span<const std::uint8_t> open, FlatFragment& out) {
  if (is_leaf_key(key)) return out.add(key[1], 0, false);
  std::vector<LabelId> to_come;  // labels of nodes whose parents are done, the next on top
  to_come.push_back(dag.label(dag.productions().example(key[0])));
  for (std::size_t i = 0; i < key.size(); ++i) {
    const LabelId label = to_come.back();
    to_come.pop_back();
    if (key[i] == kNone) {
      out.add(label, 0, open[i] != 0);
      continue;
    }
    const std::span<const NodeId> children = dag.children(dag.productions().example(key[i]));
    out.add(label, static_cast<std::uint32_t>(children.size()), false);
    for (std::size_t j = children.size(); j-- > 0;) to_come.push_back(dag.label(children[j]));
  }
}

// Distinct keys, numbered in the order of insertion, and their open places.
class KeyIndex {
 public:
  std::size_t size() const { return begin_.size() - 1; }
  std::size_t n_symbols() const { return symbols_.size(); }

  std::span<const std::uint32_t> key(std::size_t i) const {
    return {symbols_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  std::span<const std::uint8_t> open(std::size_t i) const {
    return {open_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  std::span<std::uint8_t> open(std::size_t i) {
    return {open_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }

  bool contains(std::span<const std::uint32_t> wanted) const {
    return ids_.find(hash(wanted), [&](std::uint32_t i) { return is(i, wanted); }) != kNone;
  }

  // Returns whether it is new.
  bool insert(std::span<const std::uint32_t> wanted) {
    const std::size_t before = size();
    ids_.find_or_insert(
        hash(wanted), [&](std::uint32_t i) { return is(i, wanted); },
        [&] {
          symbols_.insert(symbols_.end(), wanted.begin(), wanted.end());
          open_.resize(symbols_.size(), 0);
          begin_.push_back(symbols_.size());
          return static_cast<std::uint32_t>(before);
        });
    return size() > before;
  }

 private:
  static std::uint64_t hash(std::span<const std::uint32_t> key) {
    return hash_ids(key[0], key.subspan(1));
  }
  bool is(std::uint32_t i, std::span<const std::uint32_t> wanted) const {
    const std::span<const std::uint32_t> known = key(i);
    if (known.size() != wanted.size()) return false;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k] != wanted[k]) return false;
    }
    return true;
  }

  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> symbols_;
  std::vector<std::uint8_t> open_;
  IdTable ids_;
};

}  // namespace filbert
