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

// By joint tree: the squares of its entries in columns without a match.
std::vector<double> lost_by_tree(const TreeFactors& joint, const std::vector<ColumnMatch>& matches,
                                 int n_threads, const Watch& watch) {
  const std::size_t n_trees = joint.n_trees();
  std::vector<double> lost(n_trees, 0.0);
  const bool any = std::any_of(matches.begin(), matches.end(), [](const ColumnMatch& match) {
    return match.kind == ColumnMatch::Kind::kLost;
  });
  if (!any) return lost;
  std::vector<std::vector<double>> of_worker(static_cast<std::size_t>(std::max(1, n_threads)));
  for_each_tree(n_trees, n_threads, watch, [&](std::size_t tree, std::size_t worker) {
    std::vector<double>& values = of_worker[worker];
    values.resize(joint.mass.size());
    joint.for_each(tree, [&](std::uint32_t c, auto... value) { values[c] += (1.0 * ... * value); });
    joint.for_each(tree, [&](std::uint32_t c, auto...) {
      const double entry = std::exchange(values[c], 0.0) * joint.scale[tree];
      if (matches[c].kind == ColumnMatch::Kind::kLost)
        lost[tree] += entry * entry * std::fabs(joint.mass[c]);
    });
  });
  return lost;
}

// Throws InvalidForest if a product of a known tree and any other may lack more than rounding
// errors. It lacks at most the root of the product of what the two trees lose.
void check_losses(const TreeFactors& factors, const KnownRows& joint, std::size_t n_known_trees,
                  const std::vector<double>& lost) {
  constexpr double kRounding = 1e-11;
  const auto share = [&](std::size_t row) {
    return lost[row] > 0.0 ? std::sqrt(lost[row] / factors.self[row]) : 0.0;
  };
  double of_known = 0.0, of_any = 0.0;
  for (std::size_t i = 0; i < n_known_trees; ++i) {
    of_known = std::max(of_known, share(joint.row(i)));
  }
  for (std::size_t row = 0; row < lost.size(); ++row) of_any = std::max(of_any, share(row));
  if (!(of_known * of_any <= kRounding)) {
    throw InvalidForest("the stored features are not those of the stored trees");
  }
}

// The matches of the columns, before it is checked whether any are missing.
std::vector<ColumnMatch> find_matches(const KnownRows& known, const KnownRows& joint, int n_threads,
                                      const Watch& watch) {
  const bool are_counts = known.factors.values.empty() && joint.factors.values.empty();
  return are_counts ? CountMatcher(known, joint, n_threads, watch).run()
                    : ValueMatcher(known, joint, n_threads, watch).run();
}

int threads_for_columns(const TreeFactors& factors, int n_threads) {
  return threads_for(10.0 * static_cast<double>(factors.columns.size()), n_threads);
}

}  // namespace

ColumnMatches match_columns(const JointTrees& trees, int n_threads, const Watch& watch) {
  const KnownRows known{trees.known, trees.n_known, trees.n_known};
  const KnownRows joint{trees.joint, trees.n_known, trees.n_joint};
  n_threads = threads_for_columns(trees.joint, n_threads);
  ColumnMatches out;
  out.of = find_matches(known, joint, n_threads, watch);
  const std::size_t n = trees.known.n_trees();
  const std::vector<double> lost = lost_by_tree(trees.joint, out.of, n_threads, watch);
  const bool is_exact = trees.known.lost.empty() && trees.joint.lost.empty();
  if (is_exact) check_losses(trees.joint, joint, n, lost);
  out.lost.resize(n);
  for (std::size_t tree = 0; tree < n; ++tree) out.lost[tree] = lost[joint.row(tree)];
  return out;
}

TreeFactors without_multiples(const TreeFactors& factors, int n_threads, const Watch& watch) {
  TreeFactors out = factors;
  const std::size_t n = factors.n_trees();
  if (n == 0) return out;
  const KnownRows rows{factors, n, n};
  const std::vector<ColumnMatch> found =
      find_matches(rows, rows, threads_for_columns(factors, n_threads), watch);
  std::vector<std::uint32_t> number(factors.mass.size(), kNone);  // of the columns that remain
  std::uint32_t n_columns = 0;
  for (std::uint32_t t = 0; t < number.size(); ++t) {
    const ColumnMatch& match = found[t];
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
