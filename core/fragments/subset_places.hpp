// The places at which a subset tree can grow: nodes without children in the fragment that have some
// in a tree. For each place it has the production there for each node at which the tree is rooted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/productions.hpp"
#include "fragments/subset_keys.hpp"

namespace filbert {

class SubsetPlaces {
 public:
  explicit SubsetPlaces(const Dag& dag) : dag_(dag), productions_(dag.productions()) {}

  void find(std::span<const std::uint32_t> key, std::span<const NodeId> members) {
    n_members_ = members.size();
    positions_.clear();
    found_.clear();
    if (is_leaf_key(key)) return;
    std::size_t depth = 0;
    for (std::uint32_t position = 0; position < key.size(); ++position) {
      if (columns_.size() <= depth) columns_.emplace_back();
      std::vector<NodeId>& own = columns_[depth].nodes;
      if (depth == 0) {
        own.assign(members.begin(), members.end());
      } else {
        take_children(columns_[depth - 1], own);
      }
      if (key[position] == kNone) {
        add_place(position, own);
      } else {
        columns_[depth].next_slot = 0;
        ++depth;
      }
      while (depth > 0 && columns_[depth - 1].is_complete(dag_)) --depth;
    }
  }

  std::size_t size() const { return positions_.size(); }
  std::uint32_t position(std::size_t place) const { return positions_[place]; }
  // By member; kNone if it has a leaf there.
  std::span<const std::uint32_t> productions(std::size_t place) const {
    return {found_.data() + place * n_members_, n_members_};
  }
  void mark(std::span<std::uint8_t> open) const {
    for (const std::uint32_t position : positions_) open[position] = 1;
  }

 private:
  // The members' nodes at an inner node of the key that is not complete yet.
  struct Column {
    std::vector<NodeId> nodes;
    std::size_t next_slot = 0;

    bool is_complete(const Dag& dag) const { return next_slot == dag.arity(nodes[0]); }
  };

  void take_children(Column& parent, std::vector<NodeId>& out) const {
    out.resize(n_members_);
    for (std::size_t i = 0; i < n_members_; ++i) {
      out[i] = dag_.children(parent.nodes[i])[parent.next_slot];
    }
    ++parent.next_slot;
  }

  void add_place(std::uint32_t position, const std::vector<NodeId>& nodes) {
    const bool grows =
        std::any_of(nodes.begin(), nodes.end(), [&](NodeId u) { return !dag_.is_leaf(u); });
    if (!grows) return;
    positions_.push_back(position);
    for (const NodeId u : nodes) found_.push_back(productions_.of(u));
  }

  const Dag& dag_;
  const Productions& productions_;
  std::size_t n_members_ = 0;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> found_;  // by place and member
  std::vector<Column> columns_;       // by depth
};

// Members of a fragment, grouped by their production at one place.
class Partition {
 public:
  struct Group {
    std::uint32_t production;
    std::uint32_t begin, end;
  };

  explicit Partition(std::size_t n_productions) : group_of_(n_productions, kNone) {}

  // `members`: some members of the place, by number; groups keep their order.
  void split(std::span<const std::uint32_t> members, std::span<const std::uint32_t> productions) {
    groups_.clear();
    for (const std::uint32_t i : members) {
      const std::uint32_t p = productions[i];
      if (p == kNone) continue;
      if (group_of_[p] == kNone) {
        group_of_[p] = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({p, 0, 0});
      }
      ++groups_[group_of_[p]].end;
    }
    std::uint32_t total = 0;
    for (Group& group : groups_) {
      const std::uint32_t size = group.end;
      group.begin = group.end = total;
      total += size;
    }
    members_.resize(total);
    for (const std::uint32_t i : members) {
      if (productions[i] != kNone) members_[groups_[group_of_[productions[i]]].end++] = i;
    }
    for (const Group& group : groups_) group_of_[group.production] = kNone;
  }

  std::span<const Group> groups() const { return groups_; }
  std::span<const std::uint32_t> members(const Group& group) const {
    return {members_.data() + group.begin, group.end - group.begin};
  }

 private:
  std::vector<std::uint32_t> group_of_;  // by production
  std::vector<Group> groups_;
  std::vector<std::uint32_t> members_;
};

}  // namespace filbert
