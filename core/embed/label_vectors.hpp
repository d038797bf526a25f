// The random unit vectors of labels (Zanzotto & Dell'Arciprete 2012, section 3.1.1): normal
// components, divided by their norm. A vector depends on the seed, the label's bytes and the number
// of components, and on nothing else: not on the process, the order of labels or the machine.
//
// The generator is one of counters. A label has a key, splitmix64's finaliser over the seed, the
// label's bytes (eight at a time, the first the lowest) and their number. Word i is
// spread(key ^ spread(i)), and by Box & Muller's transform its two halves are components 2 i and
// 2 i + 1.
//
// Not in the paper: signs in place of normal numbers, +-1/sqrt(d). Bit k of word i, the lowest
// first, says whether component 64 i + k is negative. Products of signs are signs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace filbert {

// The numbers of all counters with a key (normal.inc), for this processor.
using WriteNormal = void (*)(std::uint64_t key, const std::uint64_t* counters, std::size_t n_words,
                             double* out);
WriteNormal normal_writer();
WriteNormal baseline_normal_writer();
inline constexpr std::size_t kNormalTile = 64;  // words that are made in one go

enum class Components { normal, signs };

class LabelVectors {
 public:
  LabelVectors(std::size_t n_components, std::uint64_t seed,
               Components components = Components::normal);

  std::size_t size() const { return n_components_; }

  // `room` is for the caller to keep from one call to the next.
  template <class T>
  void write(std::string_view label, std::vector<double>& room, T* out) const;

 private:
  template <class T>
  void write_signs(std::uint64_t key, T* out) const;

  std::size_t n_components_;
  std::uint64_t seed_;
  Components components_;
  std::vector<std::uint64_t> counters_;  // spread(i), which all labels share
};

// The sum of squares in a fixed order that vector instructions can follow.
template <class T>
double sum_of_squares(const T* values, std::size_t n);

}  // namespace filbert
