#include "fragments/mined.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "fragments/flat_forest.hpp"

namespace filbert {

namespace {

using Flat = std::function<void(std::size_t, FlatFragment&)>;

std::string text_of(const Dag& source, const FlatFragment& fragment) {
  std::vector<std::string_view> labels;
  for (const LabelId label : fragment.labels) labels.push_back(source.labels().text(label));
  return fragment_text(labels, fragment.arity, fragment.open);
}

// Texts are needed only for equal relevances.
void order_by_text(const Dag& source, const Flat& flat, const StopToken& token,
                   std::span<std::size_t> tied) {
  std::vector<std::pair<std::string, std::size_t>> named;
  FlatFragment fragment;
  for (const std::size_t i : tied) {
    token.check();
    fragment.clear();
    flat(i, fragment);
    named.emplace_back(text_of(source, fragment), i);
  }
  std::sort(named.begin(), named.end());
  for (std::size_t k = 0; k < tied.size(); ++k) tied[k] = named[k].second;
}

std::vector<std::size_t> order_of(const Dag& source, const std::vector<Worth>& worths,
                                  const Flat& flat, const StopToken& token) {
  const auto size = [&](std::size_t i) { return std::fabs(worths[i].relevance); };
  std::vector<std::size_t> order(worths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return size(i) != size(j) ? size(i) > size(j) : i < j;
  });
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && size(order[last]) == size(order[first])) ++last;
    if (last - first > 1) {
      order_by_text(source, flat, token, std::span(order).subspan(first, last - first));
    }
  }
  return order;
}

MinedFragments ordered(const Dag& source, const std::vector<Worth>& worths, const Flat& flat,
                       const StopToken& token) {
  MinedFragments mined;
  FlatForest forest(source);
  FlatFragment fragment;
  for (const std::size_t i : order_of(source, worths, flat, token)) {
    token.check();
    fragment.clear();
    flat(i, fragment);
    forest.add(fragment);
    mined.weight.push_back(worths[i].weight);
    mined.relevance.push_back(worths[i].relevance);
    mined.frequency.push_back(worths[i].frequency);
  }
  mined.roots = std::move(forest.roots);
  mined.open = std::move(forest.open);
  mined.dag = forest.finish();
  return mined;
}

}  // namespace

MinedFragments in_order(const MiningTask& task, const std::vector<Worth>& worths,
                        double largest_rejected, const Flat& flat) {
  MinedFragments mined;
  // One task, so that the calling thread only watches.
  parallel_for(1, 1, task.watch, [&](std::size_t, int, const StopToken& token) {
    mined = ordered(task.dag, worths, flat, token);
  });
  mined.largest_rejected = largest_rejected;
  return mined;
}

}  // namespace filbert
