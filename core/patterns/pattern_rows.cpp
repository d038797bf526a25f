#include "patterns/pattern_rows.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "patterns/pattern_reader.hpp"

namespace filbert {

namespace {

struct Value {
  PatternId pattern;
  double value;
};

// Rows of the patterns below `end`.
PatternRows rows_of(const PatternTable& table, const PatternReader& reader, PatternId end,
                    bool normalize) {
  std::vector<PatternRows> parts(reader.n_parts());
  reader.for_each([&](std::size_t part, std::size_t, const TreePatterns& tree) {
    const double square = tree.square();
    const double scale = !normalize ? 1.0 : square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
    std::vector<Value> row;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const PatternId p = tree.pattern(i);
      const double value = std::sqrt(table.mass(p)) * tree.value(i) * scale;
      if (p < end && value > 0.0) row.push_back({p, value});
    }
    std::ranges::sort(row, {}, &Value::pattern);
    PatternRows& out = parts[part];
    for (const Value& entry : row) {
      out.patterns.push_back(entry.pattern);
      out.values.push_back(entry.value);
    }
    out.begin.push_back(static_cast<std::int64_t>(out.patterns.size()));
  });
  PatternRows rows;
  for (PatternRows& part : parts) {
    const auto before = static_cast<std::int64_t>(rows.patterns.size());
    for (std::size_t i = 1; i < part.begin.size(); ++i)
      rows.begin.push_back(before + part.begin[i]);
    rows.patterns.insert(rows.patterns.end(), part.patterns.begin(), part.patterns.end());
    rows.values.insert(rows.values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return rows;
}

}  // namespace

PatternRows pattern_rows(PatternTable& table, Trees trees, bool normalize, int n_threads,
                         const Watch& watch) {
  const PatternReader reader(table, trees, n_threads, watch);
  return rows_of(table, reader, table.size(), normalize);
}

PatternRows known_pattern_rows(const PatternTable& table, Trees trees, bool normalize,
                               int n_threads, const Watch& watch) {
  PatternTable both(table.spec(), &table);
  const PatternReader reader(both, trees, n_threads, watch);
  return rows_of(both, reader, table.size(), normalize);
}

std::vector<double> pattern_counts(const PatternTable& table, Trees trees, int n_threads,
                                   const Watch& watch) {
  PatternTable both(table.spec(), &table);
  const PatternReader reader(both, trees, n_threads, watch);
  std::vector<double> counts(table.size(), 0.0);
  std::mutex mutex;  // sums of integers are the same in any order
  reader.for_each([&](std::size_t, std::size_t, const TreePatterns& tree) {
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (tree.pattern(i) < table.size()) counts[tree.pattern(i)] += tree.count(i);
    }
  });
  return counts;
}

std::vector<double> pattern_selves(const PatternSpec& spec, Trees trees, int n_threads,
                                   const Watch& watch) {
  PatternTable table(spec);
  const PatternReader reader(table, trees, n_threads, watch);
  std::vector<double> selves(trees.size());
  reader.for_each(
      [&](std::size_t, std::size_t i, const TreePatterns& tree) { selves[i] = tree.square(); });
  return selves;
}

}  // namespace filbert
