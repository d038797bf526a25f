#include <algorithm>
#include <functional>
#include <vector>

#include "base/parallel_sort.hpp"
#include "check.hpp"

namespace filbert {

namespace {

// Numbers from a few or from many values. Long lists are sorted on threads.
void as_std_sort() {
  for (const std::size_t n : {0u, 1u, 2u, 1000u, 40000u, 200003u}) {
    for (const std::uint64_t n_values : {1u, 5u, 1u << 30}) {
      std::vector<std::uint64_t> items;
      for (std::size_t i = 0; i < n; ++i) items.push_back(i * i * 2654435761u % n_values);
      std::vector<std::uint64_t> expected = items;
      std::sort(expected.begin(), expected.end());
      for (const int n_threads : {0, 1, 2, 3, 7}) {
        std::vector<std::uint64_t> sorted = items;
        parallel_sort(sorted, std::less<>(), n_threads, {});
        CHECK(sorted == expected);
      }
    }
  }
}

void sorted_and_reversed_lists() {
  for (const int n_threads : {2, 5}) {
    std::vector<int> items(100000);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
    const std::vector<int> ascending = items;
    parallel_sort(items, std::less<>(), n_threads, {});
    CHECK(items == ascending);
    std::reverse(items.begin(), items.end());
    parallel_sort(items, std::less<>(), n_threads, {});
    CHECK(items == ascending);
  }
}

void ranges_cover_everything_once() {
  for (const std::size_t n : {0u, 1u, 32768u, 32769u, 300000u}) {
    for (const int n_threads : {1, 3}) {
      std::vector<int> calls(n, 0);
      parallel_ranges(n, n_threads, {}, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ++calls[i];
      });
      CHECK(calls == std::vector<int>(n, 1));
    }
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(as_std_sort),
      TEST(sorted_and_reversed_lists),
      TEST(ranges_cover_everything_once),
  });
}
