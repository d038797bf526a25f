// Items in rounds. Items of the same round do not depend on each other.
#pragma once

#include <algorithm>
#include <vector>

#include "embed/steps.hpp"

namespace filbert {

struct Rounds {
  std::vector<ItemId> items;
  std::vector<std::size_t> begins;  // one more entry than there are rounds

  std::size_t size() const { return begins.size() - 1; }
  std::span<const ItemId> operator[](std::size_t round) const {
    return std::span(items).subspan(begins[round], begins[round + 1] - begins[round]);
  }
};

// `items` must ascend and contain the operands of each item.
inline Rounds in_rounds(const Steps& steps, std::span<const ItemId> items) {
  std::vector<std::uint32_t> round(steps.n_items(), 0);
  std::uint32_t n_rounds = 0;
  for (const ItemId item : items) {
    if (!steps.is_label(item)) {
      round[item] = 1 + std::max(round[steps.left(item)], round[steps.right(item)]);
    }
    n_rounds = std::max(n_rounds, round[item] + 1);
  }
  Rounds rounds;
  rounds.begins.assign(n_rounds + 1, 0);
  for (const ItemId item : items) ++rounds.begins[round[item] + 1];
  for (std::size_t i = 1; i <= n_rounds; ++i) rounds.begins[i] += rounds.begins[i - 1];
  rounds.items.resize(items.size());
  std::vector<std::size_t> next(rounds.begins.begin(), rounds.begins.end() - 1);
  for (const ItemId item : items) rounds.items[next[round[item]]++] = item;
  return rounds;
}

}  // namespace filbert
