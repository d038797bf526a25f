// All patterns of some trees, each stored once, with an id. A pattern is stored as its kind and a
// key of ids, and keys are compared in full: equal ids mean equal patterns.
//
//   label         its label
//   path          the labels of two nodes, or the label of the top and the path below it
//   production    the label of the node and those of its children
//   subtree       the label of the node, and its children cut off one level further up: for each a
//                 label (of a leaf), a production or a subtree
//   siblings      the label of the parent and those of adjacent children, or kStart and kEnd
//   leaves        the labels of adjacent leaves, whatever is above them
//
// Labels are those of the table, so patterns of any forest can be looked up in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "forest/labels.hpp"
#include "patterns/pattern_spec.hpp"

namespace filbert {

using PatternId = std::uint32_t;

// The ends of a row of children. There are fewer labels than that.
inline constexpr std::uint32_t kStart = kNone;
inline constexpr std::uint32_t kEnd = kNone - 1;

// A pattern as a tree. Its nodes are in preorder.
struct PatternTree {
  std::vector<std::string> labels;
  std::vector<std::int64_t> parents;  // -1 for the top
  std::vector<std::uint8_t> open;     // whether a node may have other children too
  bool at_start = false;              // siblings: whether nothing stands before them
  bool at_end = false;
};

class PatternTable {
 public:
  // With a base, the table has the patterns of the base and its own, with ids from base->size() on.
  explicit PatternTable(const PatternSpec& spec, const PatternTable* base = nullptr);

  const PatternSpec& spec() const { return spec_; }
  std::uint32_t size() const { return first_ + static_cast<std::uint32_t>(entries_.size()); }
  std::uint32_t n_labels() const {
    return first_label_ + static_cast<std::uint32_t>(labels_.size());
  }

  LabelId label(std::string_view text);
  PatternId intern(Family family, std::uint32_t level, std::span<const std::uint32_t> key);

  Family family(PatternId p) const { return static_cast<Family>(at(p).kind % 8); }
  std::uint32_t level(PatternId p) const { return at(p).kind / 8; }
  double mass(PatternId p) const { return at(p).mass; }  // decay^edges unit
  std::span<const std::uint32_t> key(PatternId p) const;
  std::uint32_t kind(PatternId p) const { return at(p).kind; }  // family + 8 level
  // Whether the key of a pattern has patterns after the first label. Otherwise it has labels.
  bool is_nested(PatternId p) const {
    return family(p) == Family::subtree || (family(p) == Family::path && level(p) > 2);
  }
  bool is_feature(PatternId p) const { return spec_.counts(family(p)); }
  std::string_view label_text(LabelId label) const {
    return label < first_label_ ? base_->labels_.text(label) : labels_.text(label - first_label_);
  }

  // The patterns that are features, in ascending order.
  std::vector<PatternId> features() const;
  // Readable and different for different patterns. Texts longer than the limit are cut off.
  std::string text(PatternId p, std::size_t limit) const;
  PatternTree tree(PatternId p, std::size_t max_nodes) const;

  // Forgets all patterns except those of the base.
  void clear();

  // Plain arrays, for files.
  struct Arrays {
    std::vector<std::uint8_t> label_bytes;
    std::vector<std::uint64_t> label_ends;
    std::vector<std::uint32_t> kinds;  // family + 8 level
    std::vector<std::uint64_t> key_ends;
    std::vector<std::uint32_t> keys;
  };
  Arrays to_arrays() const;
  // Throws InvalidForest if they are not the arrays of a table.
  static PatternTable from_arrays(const PatternSpec& spec, std::string_view label_bytes,
                                  std::span<const std::uint64_t> label_ends,
                                  std::span<const std::uint32_t> kinds,
                                  std::span<const std::uint64_t> key_ends,
                                  std::span<const std::uint32_t> keys);

 private:
  struct Entry {
    std::uint64_t begin;  // of the key, which ends where the next one begins
    double mass;
    std::uint32_t edges;  // at most kNone
    std::uint32_t kind;   // family + 8 level
  };

  const Entry& at(PatternId p) const {
    return p < first_ ? base_->entries_[p] : entries_[p - first_];
  }
  PatternId find(std::uint64_t hash, std::uint32_t kind, std::span<const std::uint32_t> key) const;
  std::uint32_t edges_of(std::uint32_t kind, std::span<const std::uint32_t> key) const;
  bool is_valid(std::uint32_t kind, std::span<const std::uint32_t> key) const;
  void write(PatternId p, std::size_t limit, std::string& out) const;
  void write_label(LabelId label, std::string& out) const;

  PatternSpec spec_;
  const PatternTable* base_;  // has no base itself
  std::uint32_t first_;
  std::uint32_t first_label_;
  LabelTable labels_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> keys_;
  IdTable index_;
};

}  // namespace filbert
