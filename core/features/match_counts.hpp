// Matches of columns if all factors are counts: a joint column has the same counts in the known
// trees as the known column.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "features/known_rows.hpp"
#include "features/match_columns.hpp"

namespace filbert {

class CountMatcher {
 public:
  CountMatcher(const KnownRows& known, const KnownRows& joint, int n_threads, const Watch& watch)
      : known_(known),
        joint_(joint),
        n_trees_(known.factors.n_trees()),
        n_threads_(n_threads),
        watch_(watch) {}

  std::vector<ColumnMatch> run() {
    std::vector<Sums> known, joint;
    parallel_for(2, n_threads_, watch_, [&](std::size_t side, int, const StopToken& token) {
      if (side == 0) known = sums(known_, token);
      if (side == 1) joint = sums(joint_, token);
    });
    std::vector<std::uint32_t> column_of;
    parallel_for(1, n_threads_, watch_, [&](std::size_t, int, const StopToken& token) {
      column_of = look_up(known, joint, token);
    });
    known = {};
    compare(column_of);
    std::vector<ColumnMatch> out(joint.size());
    for (std::uint32_t c = 0; c < out.size(); ++c) out[c] = match_of(joint[c], c, column_of[c]);
    return out;
  }

 private:
  using Kind = ColumnMatch::Kind;

  // The trees of a column, as a multiset.
  struct Sums {
    SetKey key;
    std::uint32_t first = kNone;
    std::uint32_t count = 0;

    bool has_one_tree() const { return key.a == count * set_key(first).a; }
  };

  std::vector<Sums> sums(const KnownRows& rows, const StopToken& token) const {
    std::vector<Sums> all(rows.n_columns());
    for (std::uint32_t tree = 0; tree < n_trees_; ++tree) {
      if (tree % 256 == 0) token.check();
      const SetKey key = set_key(tree);
      for (const std::uint32_t c : rows.columns_of(tree)) {
        if (all[c].count++ == 0) all[c].first = tree;
        all[c].key += key;
      }
    }
    return all;
  }

  // By joint column: the known one, or kNone.
  std::vector<std::uint32_t> look_up(const std::vector<Sums>& known, const std::vector<Sums>& joint,
                                     const StopToken& token) const {
    ColumnTable table(known.size());
    for (std::uint32_t t = static_cast<std::uint32_t>(known.size()); t-- > 0;) {
      if (t % 4096 == 0) token.check();
      if (known_.factors.mass[t] > 0.0) table.insert(known[t].key, t);
    }
    std::vector<std::uint32_t> column_of(joint.size(), kNone);
    for (std::uint32_t c = 0; c < joint.size(); ++c) {
      if (c % 4096 == 0) token.check();
      if (joint[c].count == 0 || joint[c].has_one_tree()) continue;
      table.for_each(joint[c].key, [&](std::uint32_t t) {
        if (column_of[c] == kNone && known[t].count == joint[c].count) column_of[c] = t;
      });
    }
    return column_of;
  }

  // Compares the counts of the joint columns in every tree with those of the known columns. Both
  // have the same sum, so it is enough that none of the joint ones differs. A column that differs
  // loses its match.
  void compare(std::vector<std::uint32_t>& column_of) const {
    struct Counts {
      std::vector<std::uint32_t> known, joint;
    };
    std::vector<Counts> of_worker(static_cast<std::size_t>(std::max(1, n_threads_)));
    std::vector<std::uint8_t> differs(column_of.size(), 0);
    for_each_tree(n_trees_, n_threads_, watch_, [&](std::size_t tree, std::size_t worker) {
      auto& [known, joint] = of_worker[worker];
      known.resize(known_.n_columns());
      joint.resize(joint_.n_columns());
      for (const std::uint32_t t : known_.columns_of(tree)) ++known[t];
      for (const std::uint32_t c : joint_.columns_of(tree)) ++joint[c];
      for (const std::uint32_t c : joint_.columns_of(tree)) {
        if (joint[c] == 0) continue;  // seen before
        const std::uint32_t t = column_of[c];
        if (t != kNone && joint[c] != known[t]) {
          std::atomic_ref<std::uint8_t>(differs[c]).store(1, std::memory_order_relaxed);
        }
        joint[c] = 0;
      }
      for (const std::uint32_t t : known_.columns_of(tree)) known[t] = 0;
    });
    for (std::size_t c = 0; c < differs.size(); ++c) {
      if (differs[c] != 0) column_of[c] = kNone;
    }
  }

  ColumnMatch match_of(const Sums& sums, std::uint32_t c, std::uint32_t known_column) const {
    if (sums.count == 0) return {};
    const double entry = joint_.scale(sums.first) * joint_.root(c);
    if (sums.has_one_tree()) return {Kind::kPrivate, sums.first, sums.count * entry};
    if (known_column == kNone) return {Kind::kLost};
    const double known_entry = known_.scale(sums.first) * known_.root(known_column);
    return {Kind::kShared, known_column, entry / known_entry};
  }

  KnownRows known_, joint_;
  std::size_t n_trees_;  // in both
  int n_threads_;
  const Watch& watch_;
};

}  // namespace filbert
