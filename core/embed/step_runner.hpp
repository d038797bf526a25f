// Computes items: composes what they are made of, adds up T(n), and makes the forms that others
// need.
#pragma once

#include <algorithm>
#include <vector>

#include "embed/composition.hpp"
#include "embed/steps.hpp"
#include "embed/vector_pool.hpp"

namespace filbert {

// What is known of an item; null where nobody needs it.
template <class T>
struct ItemVectors {
  T* left_form = nullptr;
  T* right_form = nullptr;
  T* vector = nullptr;  // a label's own, a node's T(n)
};

template <class T>
ItemVectors<T> take_vectors(const Steps& steps, ItemId item, VectorPool<T>& pool) {
  ItemVectors<T> vectors;
  if (steps.needs_left(item)) vectors.left_form = pool.take();
  if (steps.needs_right(item)) vectors.right_form = pool.take();
  if (steps.needs_vector(item)) vectors.vector = pool.take();
  return vectors;
}

// For one thread.
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

  // find(item) gives the vectors of the item and of what it is made of.
  template <class Find>
  void run(ItemId item, const Find& find) {
    const ItemVectors<T>& own = find(item);
    if (steps_.is_label(item)) {
      labels_.write(dag_.labels().text(steps_.label(item)), normal_room_, composed_.get());
      if (own.vector != nullptr) {
        std::copy_n(composed_.get(), composition_.n_components, own.vector);
      }
    } else {
      const ItemVectors<T>& left = find(steps_.left(item));
      kernels_.compose(composition_, left.left_form, find(steps_.right(item)).right_form,
                       composed_.get());
      if (own.vector != nullptr) finish_node(item, left.vector, own, find);
    }
    make_forms(own);
  }

 private:
  // T(n), from s(n), and label + sqrt(lambda) s(n) in its place.
  template <class Find>
  void finish_node(ItemId item, const T* label, const ItemVectors<T>& own, const Find& find) {
    const std::size_t d = composition_.n_components;
    T* const s = composed_.get();
    std::copy_n(s, d, own.vector);
    for (const NodeId c : dag_.children(steps_.node(item))) {
      if (dag_.is_leaf(c)) continue;
      const T* const other = find(steps_.item_of(c)).vector;
      for (std::size_t j = 0; j < d; ++j) own.vector[j] += other[j];
    }
    if (own.left_form == nullptr && own.right_form == nullptr) return;
    for (std::size_t j = 0; j < d; ++j) s[j] = label[j] + composition_.root_decay * s[j];
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
