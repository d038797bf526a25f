// The random unit vectors of labels (Zanzotto & Dell'Arciprete 2012, section 3.1.1): normal
// components, divided by their norm. A vector depends only on the seed, the label's bytes and the
// number of components. It does not depend on the process, the order of labels or the machine.
//
// The generator is counter-based. The key of a label is splitmix64's finaliser over the seed, the
// label's bytes (eight at a time, the first byte lowest) and their number. Word i is spread(key ^
// spread(i)). Box & Muller's transform turns its two halves into components 2 i and 2 i + 1.
//
// Not in the paper: signs instead of normal numbers, +-1/sqrt(d). Bit k of word i, counted from the
// lowest bit, says whether component 64 i + k is negative. Products of signs are signs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace filbert {

// Writes the normal numbers of all counters for a key (normal.inc), for this processor.
using WriteNormal = void (*)(std::uint64_t key, const std::uint64_t* counters, std::size_t n_words,
                             double* out);
WriteNormal normal_writer();
WriteNormal baseline_normal_writer();
inline constexpr std::size_t kNormalTile = 64;  // words per iteration

enum class Components { normal, signs };

class LabelVectors {
 public:
  LabelVectors(std::size_t n_components, std::uint64_t seed,
               Components components = Components::normal);

  std::size_t size() const { return n_components_; }

  // `room` is a buffer that the caller keeps from one call to the next.
  template <class T>
  void write(std::string_view label, std::vector<double>& room, T* out) const;

 private:
  template <class T>
  void write_signs(std::uint64_t key, T* out) const;

  std::size_t n_components_;
  std::uint64_t seed_;
  Components components_;
  std::vector<std::uint64_t> counters_;  // spread(i), shared by all labels
};

// The sum of squares, in a fixed order that suits vector instructions.
template <class T>
double sum_of_squares(const T* values, std::size_t n);

}  // namespace filbert
