// A production is a node's label with the ordered labels of its children. It does not record
// whether a child is a leaf, as in the existing programs. Leaves have no production.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"

namespace filbert {

class Dag;

class Productions {
 public:
  explicit Productions(const Dag& dag);

  std::size_t size() const { return example_.size(); }
  std::uint32_t of(NodeId u) const { return of_[u]; }  // kNone for a leaf
  std::span<const std::uint32_t> of_nodes() const { return of_; }

  // The first node that has this production.
  NodeId example(std::uint32_t production) const { return example_[production]; }

  // The production of this dag with these labels (in this dag's numbering), or kNone.
  std::uint32_t find(const Dag& dag, LabelId label, std::span<const LabelId> child_labels) const;

  std::size_t memory() const;

 private:
  std::vector<std::uint32_t> of_;
  std::vector<NodeId> example_;
  IdTable index_;
};

}  // namespace filbert
