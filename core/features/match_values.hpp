// Matches of columns if factors have values: a joint column is a multiple of the known column.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "features/known_rows.hpp"
#include "features/match_columns.hpp"

namespace filbert {

inline constexpr std::size_t kProjections = 3;

// The entries of a column in the known trees, without the root of its mass.
struct ColumnSums {
  double size = 0.0;                              // of absolute values
  std::array<double, kProjections> projection{};  // with pseudo-random weights
  double first = 0.0;                             // the value in the first tree, without its scale
  std::uint32_t first_tree = kNone;
  std::uint32_t last_tree = kNone;
  std::uint32_t n_trees = 0;

  void add(std::uint32_t tree, double value, double scale,
           const std::array<double, kProjections>& weights) {
    if (value * scale == 0.0) return;  // too small for a double
    if (tree != last_tree) {
      if (n_trees++ == 0) first_tree = tree;
      last_tree = tree;
    }
    if (tree == first_tree) first += value;
    size += std::fabs(value * scale);
    for (std::size_t k = 0; k < kProjections; ++k) projection[k] += weights[k] * value;
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

  // Calls found(key) for the keys that rounding errors may lead to, until it returns true.
  template <class Found>
  bool any_key(const Found& found) const {
    for (unsigned choice = 0; choice < 1u << kProjections; ++choice) {
      std::array<std::int64_t, kProjections> shift{};
      bool is_new = true;
      for (std::size_t k = 0; k < kProjections; ++k) {
        if ((choice >> k & 1u) == 0) continue;
        shift[k] = next_[k];
        is_new = is_new && next_[k] != 0;
      }
      if (is_new && found(key_of(shift))) return true;
    }
    return false;
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
  // If both are the same factors, columns are compared with those before them.
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
    return std::move(out_);
  }

 private:
  using Kind = ColumnMatch::Kind;

  std::vector<ColumnSums> sums(const KnownRows& rows, const StopToken& token) const {
    std::vector<ColumnSums> all(rows.n_columns());
    for (std::uint32_t tree = 0; tree < n_trees_; ++tree) {
      if (tree % 256 == 0) token.check();
      const double scale = rows.scale(tree);
      auto weights = weights_of(tree);
      for (double& weight : weights) weight *= scale;
      rows.for_each(
          tree, [&](std::uint32_t c, double value) { all[c].add(tree, value, scale, weights); });
    }
    return all;
  }

  void look_up(const StopToken& token) {
    ColumnTable multiples(known_sums_.size());           // by direction
    ColumnTable equals(self_ ? 0 : known_sums_.size());  // by direction and first value
    for (std::uint32_t t = 0; t < known_sums_.size(); ++t) {
      if (t % 4096 == 0) token.check();
      const ColumnSums& sums = known_sums_[t];
      if (sums.n_trees == 0 || !(known_.factors.mass[t] > 0.0)) continue;
      const SetKey key = Directions(sums).key();
      multiples.insert(key, t);
      if (!self_) equals.insert(with_value(key, sums.first), t);
    }
    out_.resize(joint_sums_.size());
    for (std::uint32_t c = 0; c < joint_sums_.size(); ++c) {
      if (c % 4096 == 0) token.check();
      const ColumnSums& sums = joint_sums_[c];
      if (sums.n_trees == 0) continue;
      if (sums.n_trees == 1) {
        out_[c] = {Kind::kPrivate, sums.first_tree, first_entry(joint_, sums, c)};
        continue;
      }
      out_[c].kind = Kind::kLost;
      const Directions directions(sums);
      const bool found = !self_ && directions.any_key([&](const SetKey& key) {
        return take(equals.find(with_value(key, sums.first)), c);
      });
      if (!found) {
        directions.any_key([&](const SetKey& key) { return take(multiples.find(key), c); });
      }
    }
  }

  static SetKey with_value(const SetKey& key, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {mix(key.a ^ spread(bits), kHashA), mix(key.b ^ spread(~bits), kHashB)};
  }

  // The entry of the first tree that has a column.
  static double first_entry(const KnownRows& rows, const ColumnSums& sums, std::uint32_t column) {
    return sums.first * rows.scale(sums.first_tree) * rows.root(column);
  }

  // Whether known column t may be that of joint column c.
  bool take(std::uint32_t t, std::uint32_t c) {
    if (t == kNone) return false;
    const ColumnSums& other = known_sums_[t];
    const ColumnSums& sums = joint_sums_[c];
    if (other.n_trees != sums.n_trees || other.first_tree != sums.first_tree) return false;
    out_[c] = {Kind::kShared, t, first_entry(joint_, sums, c) / first_entry(known_, other, t)};
    return true;
  }

  // Compares every entry of the joint columns with that of the known columns. Both have the same
  // number of entries, so the entries of the known columns need not be compared again.
  void compare() {
    constexpr double kTolerance = 1e-9;
    struct Values {
      std::vector<double> known, joint;
    };
    std::vector<Values> of_worker(static_cast<std::size_t>(std::max(1, n_threads_)));
    std::vector<std::uint8_t> differs(out_.size(), 0);
    for_each_tree(n_trees_, n_threads_, watch_, [&](std::size_t tree, std::size_t worker) {
      auto& [known, joint] = of_worker[worker];
      known.resize(known_.n_columns());
      joint.resize(joint_.n_columns());
      known_.for_each(tree, [&](std::uint32_t t, double value) { known[t] += value; });
      joint_.for_each(tree, [&](std::uint32_t c, double value) { joint[c] += value; });
      joint_.for_each(tree, [&](std::uint32_t c, double) {
        const double value = std::exchange(joint[c], 0.0);
        const ColumnMatch& match = out_[c];
        if (value == 0.0 || match.kind != Kind::kShared) return;  // 0: seen before
        const double entry = value * joint_.scale(tree) * joint_.root(c);
        const double known_entry = known[match.at] * known_.scale(tree) * known_.root(match.at);
        if (!(std::fabs(entry - match.factor * known_entry) <= kTolerance * std::fabs(entry))) {
          std::atomic_ref<std::uint8_t>(differs[c]).store(1, std::memory_order_relaxed);
        }
      });
      known_.for_each(tree, [&](std::uint32_t t, double) { known[t] = 0.0; });
    });
    for (std::size_t c = 0; c < differs.size(); ++c) {
      if (differs[c] != 0) out_[c].kind = Kind::kLost;
    }
  }

  KnownRows known_, joint_;
  std::size_t n_trees_;  // in both
  bool self_;
  int n_threads_;
  const Watch& watch_;
  std::vector<ColumnSums> known_sums_, joint_sums_;  // by column
  std::vector<ColumnMatch> out_;
};

}  // namespace filbert
