// Matches of columns if factors have values: a joint column is a multiple of the known column.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "features/known_rows.hpp"
#include "features/match_columns.hpp"

namespace filbert {

inline constexpr std::size_t kProjections = 3;

// The eighth root, with the sign. It is near 1 for entries of any size, so that small entries of a
// column tell it from others, too.
inline double root_of(double entry) {
  return std::copysign(std::sqrt(std::sqrt(std::sqrt(std::fabs(entry)))), entry);
}

// The entries of a column in the known trees, without the root of its mass.
struct ColumnSums {
  double size = 0.0;                              // of the roots of absolute values
  std::array<double, kProjections> projection{};  // of the roots, with pseudo-random weights
  double first = 0.0;                             // the entry of the first tree
  std::uint32_t first_tree = kNone;
  std::uint32_t n_trees = 0;

  void add(std::uint32_t tree, double entry, const std::array<double, kProjections>& weights) {
    if (n_trees++ == 0) {
      first_tree = tree;
      first = entry;
    }
    const double root = root_of(entry);
    size += std::fabs(root);
    for (std::size_t k = 0; k < kProjections; ++k) projection[k] += weights[k] * root;
  }
};

inline std::array<double, kProjections> weights_of(std::uint64_t tree) {
  std::array<double, kProjections> weights;
  for (std::size_t k = 0; k < kProjections; ++k) {
    const std::uint64_t bits = spread(tree * kProjections + k) >> 11;
    weights[k] = static_cast<double>(bits) * 0x1p-52 - 1.0;
  }
  return weights;
}

// Projections of a column do not depend on its factor, except for rounding errors. So they are
// rounded, and looked up under the next number too if they are near the middle between two.
class Directions {
 public:
  explicit Directions(const ColumnSums& sums) {
    for (std::size_t k = 0; k < kProjections; ++k) {
      const double sign = sums.first < 0.0 ? -1.0 : 1.0;
      const double place = sign * sums.projection[k] / sums.size / kStep;
      const double nearest = std::round(place);
      rounded_[k] = static_cast<std::int64_t>(nearest);
      if (std::fabs(place - nearest) > 0.5 - kNear) next_[k] = place > nearest ? 1 : -1;
    }
  }

  SetKey key() const { return key_of({}); }

  // Calls visit(key) for the keys that rounding errors may lead to.
  template <class Visit>
  void for_each_key(const Visit& visit) const {
    for (unsigned choice = 0; choice < 1u << kProjections; ++choice) {
      std::array<std::int64_t, kProjections> shift{};
      bool is_new = true;
      for (std::size_t k = 0; k < kProjections; ++k) {
        if ((choice >> k & 1u) == 0) continue;
        shift[k] = next_[k];
        is_new = is_new && next_[k] != 0;
      }
      if (is_new) visit(key_of(shift));
    }
  }

 private:
  static constexpr double kStep = 1e-8;
  static constexpr double kNear = 0.05;

  SetKey key_of(const std::array<std::int64_t, kProjections>& shift) const {
    SetKey key;
    for (std::size_t k = 0; k < kProjections; ++k) {
      const auto number = static_cast<std::uint64_t>(rounded_[k] + shift[k]);
      key.a = mix(key.a ^ spread(number), kHashA);
      key.b = mix(key.b ^ spread(~number), kHashB);
    }
    return key;
  }

  std::array<std::int64_t, kProjections> rounded_{};
  std::array<std::int64_t, kProjections> next_{};
};

class ValueMatcher {
 public:
  // If both are the same factors, columns are compared with themselves and with those before them.
  ValueMatcher(const KnownRows& known, const KnownRows& joint, int n_threads, const Watch& watch)
      : known_(known),
        joint_(joint),
        n_trees_(known.factors.n_trees()),
        self_(&known.factors == &joint.factors),
        n_threads_(n_threads),
        watch_(watch) {}

  std::vector<ColumnMatch> run() {
    parallel_for(2, n_threads_, watch_, [&](std::size_t side, int, const StopToken& token) {
      if (side == 0) known_sums_ = sums(known_, token);
      if (side == 1) joint_sums_ = sums(joint_, token);
    });
    parallel_for(1, n_threads_, watch_,
                 [&](std::size_t, int, const StopToken& token) { look_up(token); });
    compare();
    return matches();
  }

 private:
  using Kind = ColumnMatch::Kind;

  // A known column that a joint column may be a multiple of.
  struct Candidate {
    std::uint32_t column;
    std::uint8_t differs;
    double factor;
  };

  std::vector<ColumnSums> sums(const KnownRows& rows, const StopToken& token) const {
    std::vector<ColumnSums> all(rows.n_columns());
    std::vector<double> values(rows.n_columns());
    for (std::uint32_t tree = 0; tree < n_trees_; ++tree) {
      if (tree % 256 == 0) token.check();
      const double scale = rows.scale(tree);
      const auto weights = weights_of(tree);
      rows.for_each(tree, [&](std::uint32_t c, double value) { values[c] += value; });
      rows.for_each(tree, [&](std::uint32_t c, double) {
        const double entry = std::exchange(values[c], 0.0) * scale;
        if (entry != 0.0) all[c].add(tree, entry, weights);  // 0: seen, or too small for a double
      });
    }
    return all;
  }

  void look_up(const StopToken& token) {
    ColumnTable by_direction(known_sums_.size());
    for (std::uint32_t t = static_cast<std::uint32_t>(known_sums_.size()); t-- > 0;) {
      if (t % 4096 == 0) token.check();
      const ColumnSums& sums = known_sums_[t];
      if (sums.n_trees == 0 || !(known_.factors.mass[t] > 0.0)) continue;
      by_direction.insert(Directions(sums).key(), t);
    }
    begin_.assign(1, 0);
    begin_.reserve(joint_sums_.size() + 1);
    for (std::uint32_t c = 0; c < joint_sums_.size(); ++c) {
      if (c % 4096 == 0) token.check();
      const ColumnSums& sums = joint_sums_[c];
      if (sums.n_trees > 1) {
        Directions(sums).for_each_key([&](const SetKey& key) {
          by_direction.for_each(key, [&](std::uint32_t t) { offer(t, c); });
        });
        std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(begin_.back()),
                  candidates_.end(),
                  [](const Candidate& a, const Candidate& b) { return a.column < b.column; });
      }
      begin_.push_back(candidates_.size());
    }
  }

  void offer(std::uint32_t t, std::uint32_t c) {
    const ColumnSums& known = known_sums_[t];
    const ColumnSums& joint = joint_sums_[c];
    if (self_ && t > c) return;
    if (known.n_trees != joint.n_trees || known.first_tree != joint.first_tree) return;
    candidates_.push_back({t, 0, joint.first * joint_.root(c) / (known.first * known_.root(t))});
  }

  // Compares every entry of the joint columns with those of their candidates. Both have the same
  // number of entries, so the entries of the known columns need not be compared again.
  void compare() {
    constexpr double kTolerance = 1e-11;
    struct Values {
      std::vector<double> known, joint;
    };
    std::vector<Values> of_worker(static_cast<std::size_t>(std::max(1, n_threads_)));
    for_each_tree(n_trees_, n_threads_, watch_, [&](std::size_t tree, std::size_t worker) {
      auto& [known, joint] = of_worker[worker];
      known.resize(known_.n_columns());
      joint.resize(joint_.n_columns());
      known_.for_each(tree, [&](std::uint32_t t, double value) { known[t] += value; });
      joint_.for_each(tree, [&](std::uint32_t c, double value) { joint[c] += value; });
      joint_.for_each(tree, [&](std::uint32_t c, double) {
        const double value = std::exchange(joint[c], 0.0);
        if (value == 0.0) return;  // seen before
        const double entry = value * joint_.scale(tree) * joint_.root(c);
        for (std::uint64_t k = begin_[c]; k < begin_[c + 1]; ++k) {
          const std::uint32_t t = candidates_[k].column;
          const double expected =
              candidates_[k].factor * known[t] * known_.scale(tree) * known_.root(t);
          if (!(std::fabs(entry - expected) <= kTolerance * std::fabs(entry))) {
            std::atomic_ref<std::uint8_t>(candidates_[k].differs)
                .store(1, std::memory_order_relaxed);
          }
        }
      });
      known_.for_each(tree, [&](std::uint32_t t, double) { known[t] = 0.0; });
    });
  }

  // How far the entries of a joint column are from those of a known one. If the known trees have
  // equal columns of several classes, each joint column is matched with its own class.
  static double distance(double factor) { return std::fabs(factor - 1.0); }

  // Among equal factors, a multiple of a multiple is not taken: that column goes, too.
  std::vector<ColumnMatch> matches() const {
    std::vector<ColumnMatch> out(joint_sums_.size());
    for (std::uint32_t c = 0; c < out.size(); ++c) {
      const ColumnSums& sums = joint_sums_[c];
      if (sums.n_trees == 0) continue;
      if (sums.n_trees == 1) {
        out[c] = {Kind::kPrivate, sums.first_tree, sums.first * joint_.root(c)};
        continue;
      }
      out[c].kind = Kind::kLost;
      for (std::uint64_t k = begin_[c]; k < begin_[c + 1]; ++k) {
        const Candidate& candidate = candidates_[k];
        const std::uint32_t t = candidate.column;
        const bool stays = !self_ || t == c || out[t].at == t;
        if (candidate.differs != 0 || !stays) continue;
        const bool is_closer = !self_ && distance(candidate.factor) < distance(out[c].factor);
        if (out[c].kind == Kind::kLost || is_closer) {
          out[c] = {Kind::kShared, t, candidate.factor};
        }
      }
    }
    return out;
  }

  KnownRows known_, joint_;
  std::size_t n_trees_;  // in both
  bool self_;
  int n_threads_;
  const Watch& watch_;
  std::vector<ColumnSums> known_sums_, joint_sums_;  // by column
  std::vector<Candidate> candidates_;                // of the joint columns, one after the other
  std::vector<std::uint64_t> begin_;                 // by joint column
};

}  // namespace filbert
