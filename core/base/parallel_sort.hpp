// Sorting on threads: pieces are sorted, and neighbouring pieces are merged until one is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

// Calls task(first, last) for ranges that together are 0 ... n, on threads if n is large.
template <class Task>
void parallel_ranges(std::size_t n, int n_threads, const Watch& watch, const Task& task) {
  constexpr std::size_t kRange = std::size_t{1} << 15;
  const int threads = threads_for(10.0 * static_cast<double>(n), n_threads);
  if (threads == kInline) return task(std::size_t{0}, n);
  parallel_for((n + kRange - 1) / kRange, threads, watch,
               [&](std::size_t i, int, const StopToken& token) {
                 token.check();
                 task(i * kRange, std::min(n, (i + 1) * kRange));
               });
}

// Merges neighbouring pieces of `from` into `to`. Piece i ends at ends[i]. Each merge is divided
// among threads at places of its first piece.
template <class T, class Less>
void merge_neighbours(std::span<const T> from, std::span<T> to, std::vector<std::size_t>& ends,
                      const Less& less, int n_threads, const Watch& watch) {
  struct Merge {
    std::span<const T> a, b;
    T* out;
  };
  std::vector<Merge> merges;
  std::vector<std::size_t> merged_ends;
  const auto n_parts = static_cast<std::size_t>(n_threads);
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    const std::size_t last = ends[std::min(i + 1, ends.size() - 1)];
    const auto a = from.subspan(first, ends[i] - first);
    const auto b = from.subspan(ends[i], last - ends[i]);
    T* out = to.data() + first;
    std::size_t a_begin = 0, b_begin = 0;
    for (std::size_t part = 1; part <= n_parts; ++part) {
      const std::size_t a_end = a.size() * part / n_parts;
      const auto b_end =
          part == n_parts || a_end == a.size()
              ? b.size()
              : static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[a_end], less) -
                                         b.begin());
      merges.push_back({a.subspan(a_begin, a_end - a_begin), b.subspan(b_begin, b_end - b_begin),
                        out + a_begin + b_begin});
      a_begin = a_end;
      b_begin = b_end;
    }
    merged_ends.push_back(last);
  }
  parallel_for(merges.size(), n_threads, watch, [&](std::size_t i, int, const StopToken&) {
    const Merge& m = merges[i];
    std::merge(m.a.begin(), m.a.end(), m.b.begin(), m.b.end(), m.out, less);
  });
  ends = std::move(merged_ends);
}

// Sorts by a strict order in which no two items are equal, or equal items are the same.
template <class T, class Less>
void parallel_sort(std::vector<T>& items, const Less& less, int n_threads, const Watch& watch) {
  const int threads = threads_for(30.0 * static_cast<double>(items.size()), n_threads);
  if (threads <= 1) return std::sort(items.begin(), items.end(), less);
  std::vector<std::size_t> ends;
  const auto n_pieces = static_cast<std::size_t>(threads);
  for (std::size_t i = 1; i <= n_pieces; ++i) ends.push_back(items.size() * i / n_pieces);
  parallel_for(n_pieces, threads, watch, [&](std::size_t i, int, const StopToken&) {
    const auto begin = items.begin();
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    std::sort(begin + static_cast<std::ptrdiff_t>(first),
              begin + static_cast<std::ptrdiff_t>(ends[i]), less);
  });
  std::vector<T> other(items.size());
  while (ends.size() > 1) {
    merge_neighbours<T>(items, other, ends, less, threads, watch);
    items.swap(other);
  }
}

}  // namespace filbert
