// Computes items: composes their operands, sums up T(n), and makes the forms that other items need.
// Each vector has its own exponent, because the vectors of wide nodes leave the range of T. A
// vector stands for its numbers times 2^exponent.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "embed/composition.hpp"
#include "embed/steps.hpp"
#include "embed/vector_pool.hpp"

namespace filbert {

// The vectors of an item. A pointer is null if that vector is not needed.
template <class T>
struct ItemVectors {
  T* left_form = nullptr;
  T* right_form = nullptr;
  T* vector = nullptr;         // the vector of a label, T(n) of a node
  double exponent = 0;         // of the forms, and of a label's vector
  double vector_exponent = 0;  // of T(n)
};

// 2^exponent, or 0 or infinity if that is out of range. Exponents are doubles because the exponents
// of nodes that have the same child twice double at each level.
template <class T>
T power_of_two(double exponent) {
  return static_cast<T>(std::ldexp(1.0, static_cast<int>(std::clamp(exponent, -3000.0, 3000.0))));
}

template <class T>
ItemVectors<T> take_vectors(const Steps& steps, ItemId item, VectorPool<T>& pool) {
  ItemVectors<T> vectors;
  if (steps.needs_left(item)) vectors.left_form = pool.take();
  if (steps.needs_right(item)) vectors.right_form = pool.take();
  if (steps.needs_vector(item)) vectors.vector = pool.take();
  return vectors;
}

// Each thread needs its own runner.
template <class T>
class StepRunner {
 public:
  StepRunner(const Dag& dag, const Steps& steps, const Composition<T>& composition,
             const LabelVectors& labels)
      : dag_(dag),
        steps_(steps),
        composition_(composition),
        labels_(labels),
        kernels_(compose_kernels<T>()),
        composed_(aligned_array<T>(composition.form_size)) {}

  // Fills the vectors of an item. find(other) gives the vectors of the items that it is computed
  // from.
  template <class Find>
  void run(ItemId item, ItemVectors<T>& own, const Find& find) {
    if (steps_.is_label(item)) {
      labels_.write(dag_.labels().text(steps_.label(item)), normal_room_, composed_.get());
      if (own.vector != nullptr) {
        std::copy_n(composed_.get(), composition_.n_components, own.vector);
      }
    } else {
      const ItemVectors<T>&left = find(steps_.left(item)), &right = find(steps_.right(item));
      kernels_.compose(composition_, left.left_form, right.right_form, composed_.get());
      own.exponent =
          std::clamp(left.exponent + right.exponent, -1e300, 1e300) + tame(composed_.get());
      if (own.vector != nullptr) {
        sum_up(item, own, find);
        add_label(left.vector, own);
      }
    }
    make_forms(own);
  }

 private:
  // Rescales a vector if its length is out of bounds, and returns the exponent of the scale. For
  // vectors within the bounds, frequencies and their products are in the range of T.
  double tame(T* vector) const {
    const std::size_t d = composition_.n_components;
    const T squares = kernels_.squares(vector, d);
    if (squares > T(0x1p-40) && squares < T(0x1p40)) return 0;
    T largest = 0;  // squares may be out of range
    for (std::size_t j = 0; j < d; ++j) largest = std::max(largest, std::fabs(vector[j]));
    if (largest == 0) return 0;
    const int exponent = std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent);
    for (std::size_t j = 0; j < d; ++j) vector[j] *= power_of_two<T>(-exponent);
    return exponent;
  }

  // T(n) = s(n) + T(c_1) + ... + T(c_m).
  template <class Find>
  void sum_up(ItemId item, ItemVectors<T>& own, const Find& find) {
    const std::size_t d = composition_.n_components;
    const std::span<const NodeId> children = dag_.children(steps_.node(item));
    double exponent = own.exponent;
    for (const NodeId c : children) {
      if (!dag_.is_leaf(c)) exponent = std::max(exponent, find(steps_.item_of(c)).vector_exponent);
    }
    const T factor = power_of_two<T>(own.exponent - exponent);
    for (std::size_t j = 0; j < d; ++j) own.vector[j] = factor * composed_[j];
    for (const NodeId c : children) {
      if (dag_.is_leaf(c)) continue;
      const ItemVectors<T>& other = find(steps_.item_of(c));
      const T weight = power_of_two<T>(other.vector_exponent - exponent);
      for (std::size_t j = 0; j < d; ++j) own.vector[j] += weight * other.vector[j];
    }
    own.vector_exponent = exponent + tame(own.vector);
  }

  // If other items are composed from this node: replaces s(n) by label + sqrt(lambda) s(n).
  void add_label(const T* label, ItemVectors<T>& own) {
    if (own.left_form == nullptr && own.right_form == nullptr) return;
    const double exponent = std::max(0.0, own.exponent);
    const T weight = power_of_two<T>(-exponent);
    const T factor = composition_.root_decay * power_of_two<T>(own.exponent - exponent);
    for (std::size_t j = 0; j < composition_.n_components; ++j) {
      composed_[j] = weight * label[j] + factor * composed_[j];
    }
    own.exponent = exponent;
  }

  void make_forms(const ItemVectors<T>& own) {
    const T* const vector = composed_.get();
    if (own.left_form != nullptr) {
      kernels_.make_form(composition_, vector, composition_.left_order.data(), own.left_form);
    }
    if (own.right_form != nullptr) {
      kernels_.make_form(composition_, vector, composition_.right_order.data(), own.right_form);
    }
  }

  const Dag& dag_;
  const Steps& steps_;
  const Composition<T>& composition_;
  const LabelVectors& labels_;
  const ComposeKernels<T>& kernels_;
  AlignedArray<T> composed_;
  std::vector<double> normal_room_;
};

}  // namespace filbert
