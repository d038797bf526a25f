// The two ways to compose vectors of Zanzotto & Dell'Arciprete 2012, section 5.1.1, and the data
// that they need beside the vectors:
//
//   shuffled circular convolution   a <> b = p1(a) (*) p2(b)
//   shuffled gamma product          a <> b = gamma p1(a) x p2(b), element by element
//
// An operand is stored as its *form*: p1(a) for a left operand, p2(a) for a right operand. For
// convolutions the form is transformed to frequencies. So an operand is shuffled and transformed
// once, however often it is used.
//
// If the number of components d is a power of two, convolutions use transforms of size d. For any
// other d the size is the smallest power of two that is at least 2 d - 1, and the components beyond
// the end are added at the beginning.
#pragma once

#include <cstdint>
#include <vector>

#include "embed/aligned.hpp"
#include "embed/label_vectors.hpp"

namespace filbert {

enum class ComposeBy { convolution, product };

template <class T>
struct Composition {
  Composition(std::size_t n_components, ComposeBy by, double decay, std::uint64_t seed,
              Components components = Components::normal);

  ComposeBy by;
  std::size_t n_components;
  std::size_t form_size;  // size of an operand's form
  T root_decay;           // sqrt(lambda)
  T gamma = 1;
  std::vector<std::uint32_t> left_order, right_order;  // p1(a)[i] = a[left_order[i]]

  // Constants of the transforms, see fft.inc. twiddles, for the complex size 4 q: w^j, w^2j, w^3j
  // from index 6 q on. twists, for the real size 4 q: the cosines of the twist's powers from index
  // 2 q on, the sines from 3 q on. turns, for the complex size n as rows of packs: cosines and
  // sines for each row from index 2 n on.
  AlignedArray<T> twiddles, twists, turns;

 private:
  void shuffle_orders(std::uint64_t seed);
  void make_twiddles();
  void make_twists();
  void make_turns();
  void measure_gamma(std::uint64_t seed, Components components);
};

// The innermost loops, for this processor. All arrays are aligned and do not overlap.
template <class T>
struct ComposeKernels {
  const char* name;
  // Computes out = left <> right from the forms of the operands. `out` has room for form_size
  // numbers. The first n_components of them are the result.
  void (*compose)(const Composition<T>&, const T* left, const T* right, T* out);
  // Computes the form of a vector as a left operand (with left_order) or as a right operand.
  void (*make_form)(const Composition<T>&, const T* vector, const std::uint32_t* order, T* form);
  // The sum of squares, in T.
  T (*squares)(const T* vector, std::size_t n);
};

template <class T>
const ComposeKernels<T>& compose_kernels();
template <class T>
const ComposeKernels<T>& baseline_compose_kernels();

}  // namespace filbert
