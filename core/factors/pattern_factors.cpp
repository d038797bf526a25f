// The patterns of trees are known without a search. All that remains is to number them: frequent
// columns are small, a pattern of a single tree is in its diagonal, and patterns that the same
// trees have equally often share a column, as a production of one child and the path to it.

#include "factors/pattern_factors.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/set_keys.hpp"
#include "base/show_bytes.hpp"
#include "patterns/pattern_reader.hpp"

namespace filbert {

namespace {

constexpr std::size_t kPart = PatternReader::kPart;
constexpr std::uint32_t kMerged = kNone - 1;  // a pattern that shares another one's column

// The rows of some trees, in patterns. Values other than 1 are at the end of a row.
struct Rows {
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> n_values;
  LargeArray<PatternId> patterns;
  LargeArray<double> values;

  void add(const TreePatterns& tree) {
    const std::size_t before = patterns.size(), values_before = values.size();
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (tree.value(i) == 1.0) patterns.push_back(tree.pattern(i));
    }
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (tree.value(i) == 1.0 || tree.value(i) == 0.0) continue;
      patterns.push_back(tree.pattern(i));
      values.push_back(tree.value(i));
    }
    sizes.push_back(static_cast<std::uint32_t>(patterns.size() - before));
    n_values.push_back(static_cast<std::uint32_t>(values.size() - values_before));
  }
};

class PatternFactors {
 public:
  PatternFactors(const PatternSpec& spec, Trees trees, bool normalize, std::uint64_t max_bytes,
                 int n_threads, const Watch& watch)
      : trees_(trees),
        normalize_(normalize),
        max_bytes_(max_bytes),
        n_threads_(n_threads),
        watch_(watch),
        table_(spec) {}

  TreeFactors run() {
    out_.self.resize(trees_.size());
    out_.begin.assign(1, 0);
    out_.value_begin.assign(1, 0);
    read();
    out_.scale.assign(trees_.size(), 1.0);
    out_.diagonal.assign(trees_.size(), 0.0);
    const auto steps = static_cast<double>(out_.columns.size());
    parallel_for(1, threads_for(steps, 1), watch_, [&](std::size_t, int, const StopToken& token) {
      rank();
      take_columns(token);
    });
    return std::move(out_);
  }

 private:
  void read() {
    const PatternReader reader(table_, trees_, n_threads_, watch_);
    waiting_.resize(reader.n_parts());
    n_bytes_ = reader.nodes().n_entries() * sizeof(NodePatterns::Entry);
    reader.for_each([&](std::size_t part, std::size_t i, const TreePatterns& tree) {
      Rows& rows = waiting_[part];
      rows.add(tree);
      out_.self[i] = tree.square();
      if (rows.sizes.size() == n_trees_of(part)) append_ready(part);
    });
    waiting_.clear();
    out_.peak_bytes = n_bytes_;
  }

  std::size_t n_trees_of(std::size_t part) const {
    return std::min(kPart, trees_.size() - part * kPart);
  }

  // Parts that are done are appended as soon as all before them are, so few of them wait.
  void append_ready(std::size_t part) {
    const std::scoped_lock lock(mutex_);
    is_done_.resize(waiting_.size(), false);
    is_done_[part] = true;
    for (; next_ < waiting_.size() && is_done_[next_]; ++next_) {
      append(waiting_[next_]);
      waiting_[next_] = Rows();
    }
  }

  void append(const Rows& rows) {
    for (std::size_t i = 0; i < rows.sizes.size(); ++i) {
      out_.begin.push_back(out_.begin.back() + rows.sizes[i]);
      out_.value_begin.push_back(out_.value_begin.back() + rows.n_values[i]);
    }
    const auto join = [](auto& all, const auto& own) {
      const std::size_t before = all.size();
      all.resize(before + own.size());
      std::copy(own.begin(), own.end(), all.begin() + before);
    };
    n_bytes_ += rows.patterns.size() * sizeof(PatternId) + rows.values.size() * sizeof(double);
    if (n_bytes_ > max_bytes_) {
      const auto most = static_cast<double>(max_bytes_);
      throw OutOfMemory("the patterns of the trees take more than " + show_bytes(most), n_bytes_);
    }
    join(out_.columns, rows.patterns);
    join(out_.values, rows.values);
  }

  // Where a pattern occurs, with which values.
  struct Seen {
    SetKey key;  // of the trees, multiplied by a pseudo-random number for each value but 1
    std::uint32_t n_trees = 0;
  };

  std::vector<Seen> seen_patterns() const {
    std::vector<Seen> seen(table_.size());
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      const SetKey tree = set_key(i);
      const std::size_t n_values = out_.value_begin[i + 1] - out_.value_begin[i];
      const std::span<const std::uint32_t> patterns = out_.columns_of(i);
      const double* const value = out_.values.data() + out_.value_begin[i];
      for (std::size_t k = 0; k < patterns.size(); ++k) {
        Seen& own = seen[patterns[k]];
        ++own.n_trees;
        if (k < patterns.size() - n_values) {
          own.key += tree;
        } else {
          own.key += with_value(tree, value[k - (patterns.size() - n_values)]);
        }
      }
    }
    return seen;
  }

  // By pattern that several trees have: the first pattern with the same trees and values. The
  // others are their own. Parts of the key range have small tables.
  std::vector<PatternId> first_patterns(const std::vector<Seen>& seen) const {
    constexpr std::size_t kParts = 64;
    std::vector<std::vector<PatternId>> parts(kParts);
    std::vector<PatternId> first(seen.size());
    for (PatternId p = 0; p < seen.size(); ++p) {
      first[p] = p;
      if (is_shared(seen[p], p)) parts[seen[p].key.b % kParts].push_back(p);
    }
    ScratchMap<SetKey, std::uint32_t> first_of_key;
    for (const std::vector<PatternId>& part : parts) {
      first_of_key.clear();
      for (const PatternId p : part) {
        std::uint32_t& known = first_of_key.at(seen[p].key);
        if (known == 0) known = p + 1;
        first[p] = known - 1;
      }
    }
    return first;
  }

  bool is_shared(const Seen& seen, PatternId p) const {
    return seen.n_trees > 1 && table_.mass(p) > 0.0;
  }

  // Numbers the patterns that several trees have by their frequency.
  void rank() {
    const std::vector<Seen> seen = seen_patterns();
    const std::vector<PatternId> first = first_patterns(seen);
    std::vector<PatternId> listed;
    for (PatternId p = 0; p < table_.size(); ++p) {
      if (is_shared(seen[p], p) && first[p] == p) listed.push_back(p);
    }
    std::stable_sort(listed.begin(), listed.end(),
                     [&](PatternId a, PatternId b) { return seen[a].n_trees > seen[b].n_trees; });
    column_of_.assign(table_.size(), kNone);
    out_.mass.assign(listed.size(), 0.0);
    for (std::uint32_t column = 0; column < listed.size(); ++column) {
      column_of_[listed[column]] = column;
    }
    for (PatternId p = 0; p < table_.size(); ++p) {
      if (!is_shared(seen[p], p)) continue;
      out_.mass[column_of_[first[p]]] += table_.mass(p);
      if (first[p] != p) column_of_[p] = kMerged;
    }
  }

  // Replaces the patterns of rows by their columns. Rows only get shorter, so this is in place.
  void take_columns(const StopToken& token) {
    std::uint64_t kept = 0, kept_values = 0;
    std::uint64_t k = 0, v = 0;  // the next entry and the next value
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      if (i % kPart == 0) token.check();
      const std::uint64_t end = out_.begin[i + 1];
      const std::uint64_t first_value = end - (out_.value_begin[i + 1] - v);
      double own = 0.0;  // what only this tree has
      for (; k < end; ++k) {
        const PatternId p = out_.columns[k];
        const bool has_value = k >= first_value;
        const double value = has_value ? out_.values[v++] : 1.0;
        if (column_of_[p] == kNone) {
          own += table_.mass(p) * value * value;
          continue;
        }
        if (column_of_[p] == kMerged) continue;
        out_.columns[kept++] = column_of_[p];
        if (has_value) out_.values[kept_values++] = value;
      }
      out_.begin[i + 1] = kept;
      out_.value_begin[i + 1] = kept_values;
      set_scale(i, own);
    }
    out_.columns.resize(kept);
    out_.values.resize(kept_values);
    out_.columns.shrink();
    out_.values.shrink();
  }

  void set_scale(std::size_t i, double own) {
    const double self = out_.self[i];
    out_.diagonal[i] = own;
    if (!normalize_) return;
    out_.scale[i] = self > 0.0 ? 1.0 / std::sqrt(self) : 0.0;
    out_.diagonal[i] = self > 0.0 ? own / self : 0.0;
    out_.self[i] = self > 0.0 ? 1.0 : 0.0;
  }

  const Trees trees_;
  const bool normalize_;
  const std::uint64_t max_bytes_;
  const int n_threads_;
  const Watch& watch_;

  PatternTable table_;
  TreeFactors out_;                       // with patterns in the place of columns at first
  std::vector<std::uint32_t> column_of_;  // by pattern; kNone: of a single tree

  std::mutex mutex_;
  std::vector<Rows> waiting_;  // by part
  std::vector<bool> is_done_;
  std::size_t next_ = 0;  // part to append
  std::uint64_t n_bytes_ = 0;
};

}  // namespace

TreeFactors pattern_factors(const PatternSpec& spec, Trees trees, bool normalize,
                            std::uint64_t max_bytes, int n_threads, const Watch& watch) {
  return PatternFactors(spec, trees, normalize, max_bytes, n_threads, watch).run();
}

}  // namespace filbert
