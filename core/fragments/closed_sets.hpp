// All closed subset trees of one production: those that cannot grow without losing a node at which
// they are rooted.
//
// A fragment is represented by the distinct nodes at which it is rooted, its *members*. The largest
// fragment that all of some members share is closed, and every closed fragment is of this kind. The
// search visits each of them once, by the prefix-preserving extensions of Uno, Kiyomi & Arimura
// 2004 (LCM ver. 2, Theorem 1): a closed fragment grows at a place by a production, and then by all
// that the remaining members share. The result is kept only if nothing grew at a place to the left
// of the first one, and it may grow further only to the right. Here the items of a member are the
// productions of its nodes with their places, and the order of the places is preorder. The search
// stops where the members have too few occurrences.
//
// The classes of fragments are those of the factors (factors.hpp): a column of Phi is the set of
// members of one closed fragment. The factors find them together with their masses, which are
// doubles, and drop a mass that is small against another. Here nothing is rounded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/parallel.hpp"
#include "forest/dag.hpp"
#include "forest/productions.hpp"
#include "fragments/subset_places.hpp"

namespace filbert {

// A node of a fragment, or a whole subtree of it.
struct FragmentPart {
  enum class Kind : std::uint32_t { kGrown, kOpen, kWhole };
  NodeId node;  // that one of the members has here
  Kind kind;
};

class ClosedSets {
 public:
  struct Limits {
    double min_count;        // of occurrences in the trees
    std::uint64_t max_size;  // of nodes of a fragment
  };

  // `totals`: by node, how often it occurs in the trees.
  ClosedSets(const Dag& dag, std::span<const double> totals, Limits limits)
      : dag_(dag),
        productions_(dag.productions()),
        sizes_(dag.sizes()),
        totals_(totals),
        limits_(limits),
        partition_(dag.productions().size()) {}

  // Calls take(parts, size, count, members) for each closed fragment of nodes of one production;
  // the parts are in preorder.
  template <class Take>
  void run(std::span<const NodeId> nodes, const StopToken& token, const Take& take) {
    depth_ = 0;
    Frame& first = next_frame();
    first.clear(nodes.size());
    first.members.assign(nodes.begin(), nodes.end());
    add_shared(first, nodes);
    if (!finish(first, 0)) return;
    report(first, take);
    n_words_ = first.n_words();
    depth_ = 1;
    while (depth_ > 0) {
      token.check();
      Frame& frame = *frames_[depth_ - 1];
      if (frame.next_group == frame.groups.size()) {
        n_words_ -= frame.n_words();
        --depth_;
        continue;
      }
      Frame& larger = next_frame();
      if (!grow(frame, frame.groups[frame.next_group++], larger)) continue;
      report(larger, take);
      push(larger);
    }
  }

 private:
  using Kind = FragmentPart::Kind;

  static constexpr std::size_t kMostWords = std::size_t{1} << 28;  // of four bytes, in the frames

  // Members that have the same production at a place.
  struct Group {
    std::uint32_t place;
    std::uint32_t begin, end;  // in grouped
  };

  // A closed fragment on the way to the current one.
  struct Frame {
    std::vector<NodeId> members;
    std::vector<FragmentPart> parts;    // in preorder
    std::vector<std::uint32_t> places;  // open parts at which enough members may grow
    std::vector<NodeId> columns;        // by place and member: the node there
    std::vector<Group> groups;          // to grow by, of the places where it may
    std::vector<std::uint32_t> grouped;
    std::size_t next_group;
    std::uint64_t size;
    double count;

    void clear(std::size_t n_members) {
      members.clear();
      members.reserve(n_members);
      parts.clear();
      places.clear();
      columns.clear();
      groups.clear();
      grouped.clear();
      next_group = 0;
      size = 0;
    }
    std::size_t n_words() const {
      return members.size() + 2 * parts.size() + columns.size() + grouped.size();
    }
    std::span<const NodeId> column(std::size_t place) const {
      return {columns.data() + place * members.size(), members.size()};
    }
  };

  Frame& next_frame() {
    if (depth_ == frames_.size()) frames_.push_back(std::make_unique<Frame>());
    return *frames_[depth_];
  }

  // Makes the next frame the current one. A frame that has grown by its last group is not needed
  // any more: a chain of fragments, each of which grows in one way only, takes no memory for its
  // length.
  void push(const Frame& next) {
    Frame& frame = *frames_[depth_ - 1];
    n_words_ += next.n_words();
    if (frame.next_group == frame.groups.size()) {
      n_words_ -= frame.n_words();
      std::swap(frames_[depth_ - 1], frames_[depth_]);
    } else {
      ++depth_;
    }
    if (n_words_ > kMostWords) {
      throw OutOfMemory(
          "the trees share too much, fragments within fragments: raise min_count or lower max_size",
          n_words_ * sizeof(NodeId));
    }
  }

  template <class Take>
  void report(const Frame& frame, const Take& take) {
    take(std::span<const FragmentPart>(frame.parts), frame.size, frame.count,
         std::span<const NodeId>(frame.members));
  }

  // The fragment that grows by a group. False if it is found elsewhere, or is too large.
  bool grow(const Frame& from, const Group& group, Frame& to) {
    const std::span<const std::uint32_t> chosen(from.grouped.data() + group.begin,
                                                group.end - group.begin);
    for (std::uint32_t place = 0; place < group.place; ++place) {
      if (grows_too(from.column(place), chosen)) return false;
    }
    to.clear(chosen.size());
    for (const std::uint32_t i : chosen) to.members.push_back(from.members[i]);
    std::size_t place = 0;
    std::size_t first_place = 0;
    for (std::uint32_t part = 0; part < from.parts.size(); ++part) {
      if (place == from.places.size() || from.places[place] != part) {
        add(to, from.parts[part]);
        continue;
      }
      if (place == group.place) first_place = to.places.size();
      column_.clear();
      for (const std::uint32_t i : chosen) column_.push_back(from.column(place)[i]);
      add_shared(to, column_);
      ++place;
    }
    return finish(to, first_place);
  }

  // Whether all chosen members have the same production at a place.
  bool grows_too(std::span<const NodeId> column, std::span<const std::uint32_t> chosen) const {
    const std::uint32_t production = productions_.of(column[chosen.front()]);
    return production != kNone && std::all_of(chosen.begin(), chosen.end(), [&](std::uint32_t i) {
             return productions_.of(column[i]) == production;
           });
  }

  void add(Frame& to, FragmentPart part) {
    to.size += part.kind == Kind::kWhole ? sizes_[part.node] : 1;
    to.parts.push_back(part);
  }

  // Adds what all members share below a place, where they have these nodes.
  void add_shared(Frame& to, std::span<const NodeId> nodes) {
    const std::size_t n = nodes.size();
    waiting_.assign(nodes.begin(), nodes.end());  // columns; the next one last
    while (!waiting_.empty()) {
      const std::span<const NodeId> top(waiting_.data() + waiting_.size() - n, n);
      const NodeId node = top.front();
      if (std::all_of(top.begin(), top.end(), [&](NodeId u) { return u == node; })) {
        add(to, {node, Kind::kWhole});
        waiting_.resize(waiting_.size() - n);
        continue;
      }
      const std::uint32_t production = productions_.of(node);
      const bool shared = production != kNone && std::all_of(top.begin(), top.end(), [&](NodeId u) {
                            return productions_.of(u) == production;
                          });
      add(to, {node, shared ? Kind::kGrown : Kind::kOpen});
      if (shared) {
        replace_by_children(n);
        continue;
      }
      to.places.push_back(static_cast<std::uint32_t>(to.parts.size() - 1));
      to.columns.insert(to.columns.end(), top.begin(), top.end());
      waiting_.resize(waiting_.size() - n);
    }
  }

  // Replaces the last column by those of its children, the first child last.
  void replace_by_children(std::size_t n) {
    parents_.assign(waiting_.end() - static_cast<std::ptrdiff_t>(n), waiting_.end());
    waiting_.resize(waiting_.size() - n);
    for (std::size_t slot = dag_.arity(parents_.front()); slot-- > 0;) {
      for (const NodeId u : parents_) waiting_.push_back(dag_.children(u)[slot]);
    }
  }

  // Counts the occurrences, and finds where the fragment may grow: at places from first_place on.
  // Other places are kept only if they may tell that a larger fragment is found elsewhere. False if
  // the fragment is too rare or too large; then nothing that grows from it passes.
  bool finish(Frame& frame, std::size_t first_place) {
    if (frame.size > limits_.max_size) return false;
    frame.count = 0.0;
    for (const NodeId u : frame.members) frame.count += totals_[u];
    if (frame.count < limits_.min_count) return false;
    const std::size_t n = frame.members.size();
    all_.resize(n);
    std::iota(all_.begin(), all_.end(), 0u);
    std::size_t kept = 0;
    for (std::size_t place = 0; place < frame.places.size(); ++place) {
      if (!add_groups(frame, place, static_cast<std::uint32_t>(kept), place >= first_place))
        continue;
      if (kept != place) {
        frame.places[kept] = frame.places[place];
        std::copy_n(frame.columns.data() + place * n, n, frame.columns.data() + kept * n);
      }
      ++kept;
    }
    frame.places.resize(kept);
    frame.columns.resize(kept * n);
    return true;
  }

  // Whether a production has enough members at a place. Notes the groups if `may_grow`.
  bool add_groups(Frame& frame, std::size_t place, std::uint32_t number, bool may_grow) {
    found_.clear();
    for (const NodeId u : frame.column(place)) found_.push_back(productions_.of(u));
    partition_.split(all_, found_);
    bool any = false;
    for (const Partition::Group& group : partition_.groups()) {
      const std::span<const std::uint32_t> members = partition_.members(group);
      double count = 0.0;
      for (const std::uint32_t i : members) count += totals_[frame.members[i]];
      if (count < limits_.min_count) continue;
      any = true;
      if (!may_grow) break;
      const auto begin = static_cast<std::uint32_t>(frame.grouped.size());
      frame.grouped.insert(frame.grouped.end(), members.begin(), members.end());
      frame.groups.push_back({number, begin, static_cast<std::uint32_t>(frame.grouped.size())});
    }
    return any;
  }

  const Dag& dag_;
  const Productions& productions_;
  const std::vector<std::uint64_t>& sizes_;
  std::span<const double> totals_;
  const Limits limits_;
  Partition partition_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the first depth_ are in use
  std::size_t depth_ = 0;
  std::size_t n_words_ = 0;  // in these frames
  std::vector<NodeId> column_, waiting_, parents_;
  std::vector<std::uint32_t> all_, found_;
};

}  // namespace filbert
