// The features of a child as its parents see them in a round: old features and those of the round
// before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "factors/subset/subset_state.hpp"

namespace filbert {

template <class Real>
class ChildFeatures {
 public:
  explicit ChildFeatures(const SubsetState<Real>& state) : state_(state) {}

  void start(std::uint32_t round) {
    round_ = round;
    new_only_ = false;
    followed_.fill(FeatureLists::kNowhere);
  }

  // Whether old features are left out, because they could not lead to anything.
  void only_new(bool yes) { new_only_ = yes; }

  bool has_news(NodeId c) const { return state_.gained_in(c, round_ - 1); }

  // Visits the chunks that matter, newest first.
  template <class Visit>
  void for_each_chunk(NodeId c, const Visit& visit) const {
    const FeatureLists::Place newest = state_.nodes[c].newest;
    if (!new_only_) {
      state_.lists.for_each_chunk(newest, visit);
    } else if (FeatureLists::round_of(newest) == round_ - 1) {
      visit(state_.lists.read(newest));
    }
  }

  // Prefetch the chunks of children before they are needed. Chunks are far from each other in
  // memory, and only a chunk says where the one before it is. So the lists of the next kAhead
  // children are followed at the same time, and each step fetches one more chunk of every list.
  static constexpr std::size_t kAhead = 8;
  void prefetch_place(NodeId c) const { __builtin_prefetch(&state_.nodes[c]); }
  void follow(NodeId c) {
    const FeatureLists::Place newest = state_.nodes[c].newest;
    if (newest != FeatureLists::kNowhere) state_.lists.prefetch(newest);
    followed_[n_followed_++ % kAhead] = new_only_ ? FeatureLists::kNowhere : newest;
  }
  void fetch_more() {
    if (new_only_) return;
    for (FeatureLists::Place& at : followed_) {
      if (at == FeatureLists::kNowhere) continue;
      at = state_.lists.read(at).previous;
      if (at != FeatureLists::kNowhere) state_.lists.prefetch(at);
    }
  }

  // All fragments of one child.
  SubsetMasses<Real> all_of(NodeId c) const {
    const SubsetNode<Real>& node = state_.nodes[c];
    if (has_news(c)) return {node.found - node.gain, node.gain};
    return {node.found, Real(0.0)};
  }

  // The fragments that two different children share: a merge of two lists that descend by rounds
  // and ascend within them. Counts its steps.
  SubsetMasses<Real> common(NodeId a, NodeId b, double& steps) {
    SubsetMasses<Real> sums;
    chunks_.clear();
    for_each_chunk(a, [&](const auto& chunk) { chunks_.push_back(chunk); });
    std::size_t next = 0;
    for_each_chunk(b, [&](const auto& chunk) {
      while (next < chunks_.size() && chunks_[next].round > chunk.round) ++next;
      if (next == chunks_.size() || chunks_[next].round != chunk.round) return;
      const std::span<const std::uint32_t> x = chunks_[next].shared;
      const std::span<const std::uint32_t> y = chunk.shared;
      steps += static_cast<double>(x.size() + y.size());
      for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        if (x[i] == y[j]) add(sums, x[i]);
        const bool advance_x = x[i] <= y[j];
        const bool advance_y = y[j] <= x[i];
        i += advance_x;
        j += advance_y;
      }
    });
    return sums;
  }

  void add(SubsetMasses<Real>& sums, std::uint32_t feature) const {
    (state_.is_new(feature) ? sums.new_mass : sums.old_mass) += state_.mass_of(feature);
  }

 private:
  const SubsetState<Real>& state_;
  std::uint32_t round_ = 0;
  bool new_only_ = false;
  std::array<FeatureLists::Place, kAhead> followed_{};  // the chunk fetched last, of each list
  std::size_t n_followed_ = 0;
  std::vector<FeatureLists::Chunk> chunks_;
};

}  // namespace filbert
