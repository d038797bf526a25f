// Sparse vectors, restricted to the features that several of them have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "base/set_keys.hpp"
#include "factors/vectors/sparse_rows.hpp"

namespace filbert {

// The features that several rows have, the rare ones first: a product then begins with its rarest
// feature, and the search visits few rows.
struct SharedFeatures {
  static constexpr std::size_t kRowsPerLook = 8192;  // between checks of the token

  struct Feature {
    double value = 0.0;   // of the first row that has it
    bool varies = false;  // another row has another value
    std::uint32_t count = 0;
  };
  struct Entry {
    std::uint32_t feature;
    double value;  // 1 if the feature has only one value
  };

  std::vector<Feature> features;
  std::vector<std::uint64_t> begin;  // by row
  std::vector<Entry> entries;        // of a row, by feature
  bool any_varies = false;

  explicit SharedFeatures(const SparseRows& rows, const StopToken& token) {
    std::vector<std::uint32_t> number(rows.features.size());
    std::vector<Feature> all = all_features(rows, number, token);
    const std::vector<std::uint32_t> rank = ranked(all);
    begin.assign(1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % kRowsPerLook == 0) token.check();
      for (auto k = rows.begin[i]; k < rows.begin[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Feature& feature = all[number[at]];
        if (feature.count < 2) continue;
        entries.push_back({rank[number[at]], feature.varies ? rows.values[at] : 1.0});
      }
      std::sort(entries.begin() + static_cast<std::ptrdiff_t>(begin.back()), entries.end(),
                [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
      begin.push_back(entries.size());
    }
  }

  std::span<const Entry> of_row(std::size_t i) const {
    return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
  }

 private:
  // Features are numbered in the order of their first occurrence.
  static std::vector<Feature> all_features(const SparseRows& rows,
                                           std::vector<std::uint32_t>& number,
                                           const StopToken& token) {
    std::vector<Feature> all;
    ScratchMap<std::uint64_t, std::uint32_t> numbers;  // from 1
    for (std::size_t k = 0; k < rows.features.size(); ++k) {
      if (k % kRowsPerLook == 0) token.check();
      std::uint32_t& known = numbers.at(static_cast<std::uint64_t>(rows.features[k]));
      if (known == 0) {
        all.push_back({rows.values[k]});
        known = static_cast<std::uint32_t>(all.size());
      }
      number[k] = known - 1;
      Feature& feature = all[number[k]];
      ++feature.count;
      feature.varies = feature.varies || rows.values[k] != feature.value;
    }
    return all;
  }

  std::vector<std::uint32_t> ranked(const std::vector<Feature>& all) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t f = 0; f < all.size(); ++f) {
      if (all[f].count > 1) order.push_back(f);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all[a].count < all[b].count; });
    std::vector<std::uint32_t> rank(all.size(), kNone);
    for (const std::uint32_t f : order) {
      rank[f] = static_cast<std::uint32_t>(features.size());
      features.push_back(all[f]);
      any_varies = any_varies || all[f].varies;
    }
    return rank;
  }
};

}  // namespace filbert
