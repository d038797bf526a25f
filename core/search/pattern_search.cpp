#include "search/pattern_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "forest/builder.hpp"
#include "patterns/node_patterns.hpp"

namespace filbert {

PatternMeasure measure_patterns(const PatternTable& table, const TreePatterns& tree,
                                std::array<std::vector<double>, kFamilies>& terms) {
  const PatternSpec& spec = table.spec();
  for (auto& family : terms) family.clear();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const PatternId p = tree.pattern(i);
    const double value = spec.value(tree.count(i));
    terms[static_cast<std::size_t>(table.family(p))].push_back(table.mass(p) * value * value);
  }
  PatternMeasure measure{0.0, {}};
  for (std::size_t f = 0; f < kFamilies; ++f) {
    std::sort(terms[f].begin(), terms[f].end());
    double square = 0.0;
    for (const double term : terms[f]) square += term;
    const bool divided = spec.family_norms && square > 0.0;
    measure.family_factor[f] = divided ? 1.0 / std::sqrt(square) : 1.0;
    measure.self += divided ? 1.0 : square;
  }
  return measure;
}

QueryTree pattern_query(const PatternSpec& spec, const Dag& dag, NodeId root, std::size_t place,
                        const StopToken& token) {
  QueryTree query{dag, take_out(dag, root, place, token), {}, {}, {}};
  // Numbers of nodes decide the order of patterns. So the tree gets a forest of its own.
  NodeId own_root = root;
  const std::shared_ptr<const Dag> own = extract_in_order(dag, {&own_root, 1});
  auto found = std::make_shared<QueryPatterns>(QueryPatterns{PatternTable(spec), {}, {}});
  const NodePatterns nodes(*own, {&own_root, 1}, found->table, token);
  TreePatterns tree(found->table);
  tree.read(*own, own_root, place, nodes, token);
  std::array<std::vector<double>, kFamilies> terms;
  const PatternMeasure measure = measure_patterns(found->table, tree, terms);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const PatternId p = tree.pattern(i);
    const double factor = measure.family_factor[static_cast<std::size_t>(found->table.family(p))];
    found->patterns.push_back(p);
    found->weights.push_back(found->table.mass(p) * spec.value(tree.count(i)) * factor);
  }
  query.measure.self = measure.self;
  query.patterns = std::move(found);
  return query;
}

PatternSearch::PatternSearch(const PatternSpec& spec, const Segment& segment)
    : spec_(spec), segment_(segment) {
  for (std::uint32_t count = 0; count < 256; ++count) values_.push_back(spec.value(count));
  const std::size_t n_factors = spec.family_norms ? segment.n_trees() * kFamilies : 0;
  const bool has_lists = segment.class_ends.size() == segment.pattern_hashes.size();
  const auto is_factor = [](double x) { return x > 0.0 && std::isfinite(x); };
  const bool right = segment.family_factors.size() == n_factors && has_lists &&
                     std::ranges::all_of(segment.family_factors, is_factor);
  if (!right) Segment::damaged();
}

void PatternSearch::bound(const QueryTree& query, std::span<const LabelId>, const StopToken& token,
                          std::span<double> upper) {
  const QueryPatterns& own = *query.patterns;
  find_patterns(own.table, token);
  for (std::size_t i = 0; i < own.patterns.size(); ++i) {
    const PatternId p = own.patterns[i];
    if (number_[p] == kNone) continue;
    const auto r = Segment::range(segment_.class_ends, number_[p], segment_.class_trees.size());
    const auto family = static_cast<std::size_t>(own.table.family(p));
    const double weight = own.weights[i];
    for (std::uint64_t at = r.first; at < r.last; ++at) {
      const std::uint32_t t = segment_.class_trees[at];
      if (t >= upper.size()) Segment::damaged();
      double value = count_value(segment_.class_counts[at]);
      if (spec_.family_norms) value *= segment_.family_factors[t * kFamilies + family];
      upper[t] += weight * value;
    }
    token.check();
  }
}

void PatternSearch::find_patterns(const PatternTable& table, const StopToken& token) {
  labels_.clear();
  for (LabelId label = 0; label < table.n_labels(); ++label) {
    labels_.push_back(segment_.find_label(table.label_text(label)));
  }
  number_.clear();
  for (PatternId p = 0; p < table.size(); ++p) {  // parts before what consists of them
    number_.push_back(find(table, p));
    if (p % 1024 == 1023) token.check();
  }
}

std::uint32_t PatternSearch::find(const PatternTable& table, PatternId p) {
  std::uint64_t hash = stored_hash(0, table.kind(p));
  const bool nested = table.is_nested(p);
  key_.clear();
  for (const std::uint32_t part : table.key(p)) {
    const bool is_pattern = nested && !key_.empty();
    const bool is_end = !nested && (part == kStart || part == kEnd);
    const std::uint32_t own = is_end ? part : is_pattern ? number_[part] : labels_[part];
    if (own == kNone && !is_end) return kNone;
    hash = stored_hash(hash, is_pattern ? segment_.pattern_hashes[own] : own);
    key_.push_back(own);
  }
  return segment_.find_pattern(hash, table.kind(p), key_);
}

}  // namespace filbert
