#include "scoring/pattern_scorer.hpp"

#include <cmath>

#include "base/errors.hpp"
#include "patterns/pattern_reader.hpp"
#include "patterns/pattern_rows.hpp"

namespace filbert {

namespace {

void check_range(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) {
      throw KernelOverflow("the weights of the patterns are beyond the range of float64");
    }
  }
}

}  // namespace

// Rows come part by part from threads. They are added up in the order of the trees.
PatternScorer::PatternScorer(const PatternSpec& spec, Trees support, std::span<const double> coef,
                             std::size_t n_columns, bool normalize, int n_threads,
                             const Watch& watch)
    : table_(spec), n_columns_(n_columns), normalize_(normalize) {
  const PatternRows rows = pattern_rows(table_, support, normalize, n_threads, watch);
  weights_.assign(table_.size() * n_columns, 0.0);
  for (std::size_t i = 0; i < support.size(); ++i) {
    for (auto k = rows.begin[i]; k < rows.begin[i + 1]; ++k) {
      const PatternId p = rows.patterns[static_cast<std::size_t>(k)];
      const double value = rows.values[static_cast<std::size_t>(k)];
      for (std::size_t c = 0; c < n_columns; ++c) {
        weights_[p * n_columns + c] += coef[c * support.size() + i] * value;
      }
    }
  }
  for (PatternId p = 0; p < table_.size(); ++p) {  // rows have one root of the mass
    const double root = std::sqrt(table_.mass(p));
    for (std::size_t c = 0; c < n_columns; ++c) weights_[p * n_columns + c] *= root;
  }
  check_range(weights_);
}

std::vector<double> PatternScorer::weight_vector(std::size_t column) const {
  std::vector<double> found(table_.size(), 0.0);
  for (PatternId p = 0; p < table_.size(); ++p) {
    const double mass = table_.mass(p);
    if (mass > 0.0) found[p] = weights_[p * n_columns_ + column] / std::sqrt(mass);
  }
  return found;
}

double PatternScorer::scale_of(double square) const {
  if (!normalize_) return 1.0;
  return square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
}

std::vector<double> PatternScorer::scores(Trees trees, int n_threads, const Watch& watch) const {
  std::vector<double> out(trees.size() * n_columns_, 0.0);
  PatternTable both(table_.spec(), &table_);
  const PatternReader reader(both, trees, n_threads, watch);
  reader.for_each([&](std::size_t, std::size_t i, const TreePatterns& tree) {
    double* const own = out.data() + i * n_columns_;
    for (std::size_t k = 0; k < tree.size(); ++k) {
      const PatternId p = tree.pattern(k);
      if (p >= table_.size()) continue;
      const double* const weights = weights_.data() + p * n_columns_;
      for (std::size_t c = 0; c < n_columns_; ++c) own[c] += tree.value(k) * weights[c];
    }
    const double scale = scale_of(tree.square());
    for (std::size_t c = 0; c < n_columns_; ++c) own[c] *= scale;
  });
  check_range(out);
  return out;
}

NodeContributions PatternScorer::contributions(Trees trees, int n_threads,
                                               const Watch& watch) const {
  PatternTable both(table_.spec(), &table_);
  const PatternReader reader(both, trees, n_threads, watch);
  std::vector<NodeContributions> parts(reader.n_parts());
  reader.for_each([&](std::size_t part, std::size_t number, const TreePatterns& tree) {
    NodeContributions& out = parts[part];
    const double scale = scale_of(tree.square());
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const std::size_t first = out.values.size();
      out.trees.push_back(static_cast<std::uint32_t>(number));
      out.nodes.push_back(tree.nodes()[i]);
      out.counts.push_back(tree.node_count(i));
      out.values.resize(first + n_columns_, 0.0);
      for (const NodePatterns::Entry& entry : reader.nodes().of(tree.nodes()[i])) {
        if (entry.pattern >= table_.size()) continue;
        const std::size_t place = tree.place(entry.pattern);
        const double share = scale * tree.value(place) * entry.count / tree.count(place);
        const double* const weights = weights_.data() + entry.pattern * n_columns_;
        for (std::size_t c = 0; c < n_columns_; ++c) out.values[first + c] += share * weights[c];
      }
    }
  });
  NodeContributions all;
  const auto join = [](auto& into, auto& from) {
    into.insert(into.end(), from.begin(), from.end());
  };
  for (NodeContributions& part : parts) {
    join(all.trees, part.trees);
    join(all.nodes, part.nodes);
    join(all.counts, part.counts);
    join(all.values, part.values);
    part = {};
  }
  check_range(all.values);
  return all;
}

}  // namespace filbert
