#include "features/match_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "base/ids.hpp"
#include "features/known_rows.hpp"
#include "features/match_counts.hpp"
#include "features/match_values.hpp"

namespace filbert {

namespace {

using Kind = ColumnMatch::Kind;

// By known tree: the squares of its entries in joint columns without a match.
std::vector<double> lost_by_tree(const KnownRows& joint, const std::vector<ColumnMatch>& matches,
                                 std::size_t n_trees, int n_threads, const Watch& watch) {
  std::vector<double> lost(n_trees, 0.0);
  const bool any = std::any_of(matches.begin(), matches.end(),
                               [](const ColumnMatch& match) { return match.kind == Kind::kLost; });
  if (!any) return lost;
  std::vector<std::vector<double>> of_worker(static_cast<std::size_t>(std::max(1, n_threads)));
  for_each_tree(n_trees, n_threads, watch, [&](std::size_t tree, std::size_t worker) {
    std::vector<double>& values = of_worker[worker];
    values.resize(joint.n_columns());
    joint.for_each(tree, [&](std::uint32_t c, double value) { values[c] += value; });
    joint.for_each(tree, [&](std::uint32_t c, double) {
      const double entry = std::exchange(values[c], 0.0) * joint.scale(tree);
      if (matches[c].kind == Kind::kLost) {
        lost[tree] += entry * entry * std::fabs(joint.factors.mass[c]);
      }
    });
  });
  return lost;
}

}  // namespace

ColumnMatches match_columns(const JointTrees& trees, int n_threads, const Watch& watch) {
  constexpr double kRounding = 1e-12;
  const KnownRows known{trees.known, trees.n_known, trees.n_known};
  const KnownRows joint{trees.joint, trees.n_known, trees.n_joint};
  n_threads = threads_for(10.0 * static_cast<double>(trees.joint.columns.size()), n_threads);
  const bool are_counts = trees.known.values.empty() && trees.joint.values.empty();
  ColumnMatches out;
  out.of = are_counts ? CountMatcher(known, joint, n_threads, watch).run()
                      : ValueMatcher(known, joint, n_threads, watch).run();
  const std::size_t n = trees.known.n_trees();
  out.lost = lost_by_tree(joint, out.of, n, n_threads, watch);
  const bool is_exact = trees.known.lost.empty() && trees.joint.lost.empty();
  for (std::size_t tree = 0; tree < n && is_exact; ++tree) {
    if (out.lost[tree] > kRounding * trees.joint.self[joint.row(tree)]) {
      throw InvalidForest("the stored features are not those of the stored trees");
    }
  }
  return out;
}

TreeFactors without_multiples(const TreeFactors& factors, int n_threads, const Watch& watch) {
  TreeFactors out = factors;
  const std::size_t n = factors.n_trees();
  if (n == 0) return out;
  const ColumnMatches found = match_columns({factors, factors, n, n}, n_threads, watch);
  std::vector<std::uint32_t> number(factors.mass.size(), kNone);  // of the columns that remain
  std::uint32_t n_columns = 0;
  for (std::uint32_t t = 0; t < number.size(); ++t) {
    const ColumnMatch& match = found.of[t];
    const bool is_multiple = match.kind == ColumnMatch::Kind::kShared && match.at != t;
    if (is_multiple) {
      out.mass[match.at] += match.factor * match.factor * factors.mass[match.at];
    } else {
      number[t] = n_columns++;
    }
  }
  for (std::uint32_t t = 0; t < number.size(); ++t) {
    if (number[t] != kNone) out.mass[number[t]] = out.mass[t];
  }
  out.mass.resize(n_columns);
  std::uint64_t end = 0, value_end = 0;
  for (std::size_t tree = 0; tree < n; ++tree) {
    out.begin[tree] = end;
    out.value_begin[tree] = value_end;
    factors.for_each(tree, [&](std::uint32_t t, auto... value) {
      if (number[t] == kNone) return;
      out.columns[end++] = number[t];
      ((out.values[value_end++] = value), ...);
    });
  }
  out.begin[n] = end;
  out.value_begin[n] = value_end;
  out.columns.resize(end);
  out.values.resize(value_end);
  return out;
}

}  // namespace filbert
