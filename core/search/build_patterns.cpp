#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/parallel_sort.hpp"
#include "forest/distinct_trees.hpp"
#include "patterns/pattern_reader.hpp"
#include "search/numbering.hpp"
#include "search/pattern_search.hpp"
#include "search/postings.hpp"

namespace filbert {

namespace {

// A segment whose classes are local patterns.
class PatternBuilder {
 public:
  PatternBuilder(const PatternSpec& spec, Trees trees, int n_threads, const Watch& watch)
      : dag_(trees.dag),
        distinct_(distinct_trees(trees.dag, trees.roots)),
        n_threads_(n_threads),
        watch_(watch),
        table_(spec) {}

  SegmentArrays run() {
    const std::vector<NodeId> numbers =
        number_nodes(dag_, distinct_.roots, n_threads_, watch_, out_);
    list_trees(distinct_, numbers, out_);
    read_trees();
    number_patterns();
    table_ = PatternTable(table_.spec());  // free its memory
    post_patterns();
    return std::move(out_);
  }

 private:
  struct Row {
    std::vector<PatternId> patterns;
    std::vector<std::uint32_t> counts;
  };

  void read_trees() {
    const std::size_t n = distinct_.roots.size();
    const bool factors = table_.spec().family_norms;
    rows_.resize(n);
    out_.norms.resize(n);
    if (factors) out_.family_factors.resize(n * kFamilies);
    try {
      const PatternReader reader(table_, {dag_, distinct_.roots}, n_threads_, watch_);
      reader.for_each([&](std::size_t, std::size_t t, const TreePatterns& tree) {
        std::array<std::vector<double>, kFamilies> terms;
        const PatternMeasure measure = measure_patterns(table_, tree, terms);
        out_.norms[t] = std::sqrt(measure.self);
        for (std::size_t f = 0; factors && f < kFamilies; ++f) {
          out_.family_factors[t * kFamilies + f] = measure.family_factor[f];
        }
        rows_[t].patterns.reserve(tree.size());
        rows_[t].counts.reserve(tree.size());
        for (std::size_t i = 0; i < tree.size(); ++i) {
          rows_[t].patterns.push_back(tree.pattern(i));
          rows_[t].counts.push_back(whole(tree.count(i)));
        }
      });
    } catch (const TooManyOccurrences& error) {
      throw TooManyOccurrences(distinct_.first[error.tree]);
    }
  }

  static std::uint32_t whole(double count) {
    return saturated(count >= static_cast<double>(kNone) ? kNone
                                                         : static_cast<std::uint64_t>(count));
  }

  // In the order of their hashes, which depend on their content.
  void number_patterns() {
    std::vector<LabelId> labels;  // by label of the table
    const Segment segment(out_);
    for (LabelId label = 0; label < table_.n_labels(); ++label) {
      labels.push_back(segment.find_label(table_.label_text(label)));
    }
    struct Key {
      std::uint64_t hash;
      PatternId pattern;
    };
    std::vector<Key> keys(table_.size());
    for (PatternId p = 0; p < table_.size(); ++p) {
      std::uint64_t hash = stored_hash(0, table_.kind(p));
      for_parts(p, labels, [&](std::uint32_t part, bool is_pattern) {
        hash = stored_hash(hash, is_pattern ? keys[part].hash : part);
      });
      keys[p] = {hash, p};
    }
    const auto less = [](const Key& a, const Key& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.pattern < b.pattern;
    };
    parallel_sort(keys, less, n_threads_, watch_);
    number_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      number_[keys[i].pattern] = static_cast<std::uint32_t>(i);
    }
    out_.pattern_hashes.reserve(keys.size());
    out_.pattern_kinds.reserve(keys.size());
    out_.pattern_key_ends.reserve(keys.size());
    for (const Key& key : keys) {
      out_.pattern_hashes.push_back(key.hash);
      out_.pattern_kinds.push_back(table_.kind(key.pattern));
      for_parts(key.pattern, labels, [&](std::uint32_t part, bool is_pattern) {
        out_.pattern_keys.push_back(is_pattern ? number_[part] : part);
      });
      out_.pattern_key_ends.push_back(out_.pattern_keys.size());
    }
  }

  // visit(part, is_pattern) for the key of a pattern, with the labels of the segment.
  template <class Visit>
  void for_parts(PatternId p, const std::vector<LabelId>& labels, const Visit& visit) const {
    const bool nested = table_.is_nested(p);
    const auto key = table_.key(p);
    for (std::size_t i = 0; i < key.size(); ++i) {
      const bool is_pattern = nested && i > 0;
      const bool is_end = !nested && (key[i] == kStart || key[i] == kEnd);
      visit(is_pattern || is_end ? key[i] : labels[key[i]], is_pattern);
    }
  }

  void post_patterns() {
    std::vector<std::uint64_t> begin{0};
    for (const Row& row : rows_) begin.push_back(begin.back() + row.patterns.size());
    const auto entries = [&](std::uint32_t t, const auto& put) {
      for (std::size_t i = 0; i < rows_[t].patterns.size(); ++i) {
        put(number_[rows_[t].patterns[i]], rows_[t].counts[i], 0.0);
      }
    };
    Postings found = post_trees(number_.size(), begin, entries, false, n_threads_, watch_);
    out_.class_ends = std::move(found.ends);
    out_.class_trees = std::move(found.trees);
    out_.class_counts = std::move(found.counts);
  }

  const Dag& dag_;
  const DistinctTrees distinct_;
  const int n_threads_;
  const Watch& watch_;
  PatternTable table_;
  SegmentArrays out_;
  std::vector<Row> rows_;              // by distinct tree
  std::vector<std::uint32_t> number_;  // by pattern of the table: that of the segment
};

}  // namespace

SegmentArrays build_segment(const PatternSpec& spec, Trees trees, int n_threads,
                            const Watch& watch) {
  return PatternBuilder(spec, trees, n_threads, watch).run();
}

}  // namespace filbert
