// Lists of trees by key: the trees that have it, ascending, and how often.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "base/parallel_sort.hpp"

namespace filbert {

struct Postings {
  std::vector<std::uint64_t> ends;  // by key
  std::vector<std::uint32_t> trees;
  std::vector<std::uint32_t> counts;
  std::vector<double> rests;  // sums, if asked for
};

inline std::uint32_t saturated(std::uint64_t count) {
  if (count >= kNone) throw CapacityError("a tree has more than 2^32 nodes of one class");
  return static_cast<std::uint32_t>(count);
}

// The float that is not below x.
inline float rounded_up(double x) {
  const auto narrow = static_cast<float>(x);
  return narrow < x ? std::nextafter(narrow, std::numeric_limits<float>::infinity()) : narrow;
}

// entries(t, put) calls put(key, count, rest) for what tree t has, where keys may repeat.
// row_begin[t] tells how much that is. Each thread writes the entries of some consecutive trees:
// a first pass counts them, so that each knows its places.
template <class Entries>
Postings post_trees(std::size_t n_keys, std::span<const std::uint64_t> row_begin,
                    const Entries& entries, bool with_rests, int n_threads, const Watch& watch) {
  const auto n_trees = static_cast<std::uint32_t>(row_begin.size() - 1);
  n_threads = threads_for(10.0 * static_cast<double>(row_begin.back() + n_keys), n_threads);
  // Every chunk has a place for every key, so there are only a few.
  const auto n_chunks = static_cast<std::size_t>(std::clamp(n_threads, 1, 4));
  std::vector<std::uint32_t> begin{0};
  for (std::size_t c = 1; c <= n_chunks; ++c) {
    const auto place =
        std::lower_bound(row_begin.begin(), row_begin.end() - 1, row_begin.back() * c / n_chunks);
    begin.push_back(c == n_chunks ? n_trees
                                  : static_cast<std::uint32_t>(place - row_begin.begin()));
  }
  std::vector<std::vector<std::uint64_t>> next(n_chunks);  // by chunk and key
  std::vector<std::vector<std::uint32_t>> seen(n_chunks);  // the last tree with this key
  const auto each_chunk = [&](const auto& visit) {
    parallel_for(n_chunks, n_threads, watch, [&](std::size_t c, int, const StopToken& token) {
      seen[c].assign(n_keys, kNone);
      for (std::uint32_t t = begin[c]; t < begin[c + 1]; ++t) {
        token.check();
        entries(t, [&](std::uint32_t key, std::uint64_t count, double rest) {
          const bool is_new = std::exchange(seen[c][key], t) != t;
          visit(c, t, is_new, key, count, rest);
        });
      }
    });
  };
  for (auto& list : next) list.assign(n_keys, 0);
  each_chunk([&](std::size_t c, std::uint32_t, bool is_new, std::uint32_t key, std::uint64_t,
                 double) { next[c][key] += is_new ? 1 : 0; });
  Postings out;
  out.ends.resize(n_keys);
  std::uint64_t n = 0;
  for (std::size_t key = 0; key < n_keys; ++key) {
    for (auto& list : next) n += std::exchange(list[key], n);
    out.ends[key] = n;
  }
  out.trees.resize(n);
  out.counts.resize(n);
  if (with_rests) out.rests.resize(n);
  each_chunk([&](std::size_t c, std::uint32_t t, bool is_new, std::uint32_t key,
                 std::uint64_t count, double rest) {
    const std::uint64_t place = (next[c][key] += is_new ? 1 : 0) - 1;
    if (is_new) out.trees[place] = t;
    out.counts[place] = saturated(out.counts[place] + count);
    if (with_rests) out.rests[place] += rest;
  });
  return out;
}

}  // namespace filbert
