// Computes items: gathers what they are composed of, hands groups of them to the kernels, and adds
// up T(n).
#pragma once

#include <algorithm>
#include <vector>

#include "embed/composition.hpp"
#include "embed/steps.hpp"
#include "embed/vector_pool.hpp"

namespace filbert {

// What is known of an item; null where nobody needs it.
template <class T>
struct ItemVectors {
  T* left_form = nullptr;
  T* right_form = nullptr;
  T* vector = nullptr;  // a label's own, a node's T(n)
};

// Items in rounds: those of a round need nothing of each other.
struct Rounds {
  std::vector<ItemId> items;
  std::vector<std::size_t> begins;  // one more than there are rounds

  std::size_t size() const { return begins.size() - 1; }
  std::span<const ItemId> operator[](std::size_t round) const {
    return std::span(items).subspan(begins[round], begins[round + 1] - begins[round]);
  }
};

// `items` ascend. `depth` has a number for each item that there is, and is 0 for all others; on
// return it is 0 for all. Labels are a round of their own.
inline Rounds in_rounds(const Steps& steps, std::span<const ItemId> items,
                        std::vector<std::uint32_t>& depth) {
  std::uint32_t n_rounds = 0;
  for (const ItemId item : items) {
    // 1 for labels. Nodes whose operands are all there already come in round 2 as well.
    depth[item] = steps.is_label(item)
                      ? 1
                      : 1 + std::max({1u, depth[steps.left(item)], depth[steps.right(item)]});
    n_rounds = std::max(n_rounds, depth[item]);
  }
  Rounds rounds;
  rounds.begins.assign(n_rounds + 1, 0);
  for (const ItemId item : items) ++rounds.begins[depth[item]];
  for (std::size_t i = 1; i <= n_rounds; ++i) rounds.begins[i] += rounds.begins[i - 1];
  rounds.items.resize(items.size());
  std::vector<std::size_t> next(rounds.begins.begin(), rounds.begins.end() - 1);
  for (const ItemId item : items) rounds.items[next[depth[item] - 1]++] = item;
  for (const ItemId item : items) depth[item] = 0;
  return rounds;
}

// For one thread.
template <class T>
class StepRunner {
 public:
  StepRunner(const Dag& dag, const Steps& steps, const Composition<T>& composition,
             const LabelVectors& labels)
      : dag_(dag),
        steps_(steps),
        composition_(composition),
        labels_(labels),
        kernels_(compose_kernels<T>()),
        room_(composition.form_size),
        label_rows_(kernels_.n_lanes * composition.n_components) {}

  std::size_t n_lanes() const { return kernels_.n_lanes; }

  // At most n_lanes() items of one round; find(item) gives their vectors and those of sources.
  template <class Find>
  void run(std::span<const ItemId> items, const Find& find) {
    lanes_.clear();
    for (const ItemId item : items) {
      lanes_.push_back(steps_.is_label(item) ? label_lane(item, find(item))
                                             : step_lane(item, find));
    }
    kernels_.compose(composition_, lanes_.data(), lanes_.size(), room_);
    for (const ItemId item : items) {
      if (!steps_.is_label(item) && steps_.node(item) != kNone) add_children(item, find);
    }
  }

 private:
  Lane<T> label_lane(ItemId item, const ItemVectors<T>& own) {
    T* const row = own.vector != nullptr
                       ? own.vector
                       : label_rows_.data() + lanes_.size() * composition_.n_components;
    labels_.write(dag_.labels().text(steps_.label(item)), normal_room_, row);
    Lane<T> lane;
    lane.label = row;
    lane.left_form = own.left_form;
    lane.right_form = own.right_form;
    return lane;
  }

  template <class Find>
  Lane<T> step_lane(ItemId item, const Find& find) {
    const ItemVectors<T>& own = find(item);
    const ItemVectors<T>& left = find(steps_.left(item));
    Lane<T> lane;
    lane.left = left.left_form;
    lane.right = find(steps_.right(item)).right_form;
    lane.label = steps_.node(item) != kNone ? left.vector : nullptr;  // it is the left operand
    lane.sum = own.vector;
    lane.left_form = own.left_form;
    lane.right_form = own.right_form;
    return lane;
  }

  template <class Find>
  void add_children(ItemId item, const Find& find) {
    T* const sum = find(item).vector;
    for (const NodeId c : dag_.children(steps_.node(item))) {
      if (dag_.is_leaf(c)) continue;
      const T* const other = find(steps_.item_of(c)).vector;
      for (std::size_t j = 0; j < composition_.n_components; ++j) sum[j] += other[j];
    }
  }

  const Dag& dag_;
  const Steps& steps_;
  const Composition<T>& composition_;
  const LabelVectors& labels_;
  const ComposeKernels<T>& kernels_;
  LaneRoom<T> room_;
  std::vector<T> label_rows_;
  std::vector<double> normal_room_;
  std::vector<Lane<T>> lanes_;
};

}  // namespace filbert
