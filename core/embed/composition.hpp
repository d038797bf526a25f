// The two ways to compose vectors of Zanzotto & Dell'Arciprete 2012, section 5.1.1, and what they
// need beside the vectors themselves:
//
//   shuffled circular convolution   a <> b = p1(a) (*) p2(b)
//   shuffled gamma product          a <> b = gamma p1(a) x p2(b), element by element
//
// What is stored of an operand is its *form* as a left or as a right one: p1(a) or p2(a), for
// convolutions transformed to frequencies. So an operand is shuffled and transformed once, however
// often it is used.
//
// Convolutions of d components, d a power of two, have transforms of size d. For any other d the
// transforms have the next power of two from 2 d - 1 on, and what goes over the end is added at the
// beginning.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "embed/label_vectors.hpp"

namespace filbert {

enum class ComposeBy { convolution, product };

template <class T>
struct Composition {
  Composition(std::size_t n_components, ComposeBy by, double decay, std::uint64_t seed);

  ComposeBy by;
  std::size_t n_components;
  std::size_t form_size;  // of an operand's form
  T root_decay;           // sqrt(lambda)
  T gamma = 1;
  std::vector<std::uint32_t> left_order, right_order;  // p1(a)[i] = a[left_order[i]]

  // Of the transforms, see fft.inc. For the complex size 4 q: w^j, w^2j, w^3j from 6 q on. For the
  // real size 4 q: the twist's powers from 2 q on.
  std::vector<T> twiddles, twists;

 private:
  void shuffle_orders(std::uint64_t seed);
  void make_tables();
  void measure_gamma(std::uint64_t seed);
};

// One composition of a group that is done at once, one a lane.
template <class T>
struct Lane {
  const T* left = nullptr;   // forms of the operands; both null for a label, which is given
  const T* right = nullptr;  //
  const T* label = nullptr;  // a node's own; null for a part of a list of children
  T* sum = nullptr;          // where s(n) goes; null where it is not wanted
  T* left_form = nullptr;    // where forms of label + sqrt(lambda) s(n) go, or of the composition
  T* right_form = nullptr;
};

// Memory for one thread.
template <class T>
class LaneRoom {
 public:
  explicit LaneRoom(std::size_t form_size)
      : bytes_(std::make_unique<std::byte[]>(2 * form_size * kPack + kPack)),
        zeros(form_size, T(0)),
        unwanted(form_size) {
    void* place = bytes_.get();
    std::size_t space = 2 * form_size * kPack + kPack;
    first = std::align(kPack, 2 * form_size * kPack, place, space);
    second = static_cast<std::byte*>(first) + form_size * kPack;
  }

 private:
  static constexpr std::size_t kPack = 32;  // bytes of a number for all lanes
  std::unique_ptr<std::byte[]> bytes_;

 public:
  void* first;
  void* second;
  std::vector<T> zeros;
  std::vector<T> unwanted;
};

// The innermost loops, for this processor.
template <class T>
struct ComposeKernels {
  const char* name;
  std::size_t n_lanes;
  // Up to n_lanes compositions. A lane's digits do not depend on the others.
  void (*compose)(const Composition<T>&, const Lane<T>* lanes, std::size_t n, LaneRoom<T>&);
};

template <class T>
const ComposeKernels<T>& compose_kernels();
template <class T>
const ComposeKernels<T>& baseline_compose_kernels();

}  // namespace filbert
