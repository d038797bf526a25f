// Vectors of one size, given out and taken back. Not for several threads at once.
#pragma once

#include <vector>

#include "embed/aligned.hpp"

namespace filbert {

template <class T>
class VectorPool {
 public:
  explicit VectorPool(std::size_t size) : size_(size) {}

  // The one that was given back last: it is most likely to be in the cache.
  T* take() {
    if (free_.empty()) {
      owned_.push_back(aligned_array<T>(size_));
      return owned_.back().get();
    }
    T* const vector = free_.back();
    free_.pop_back();
    return vector;
  }
  void give_back(T* vector) {
    if (vector != nullptr) free_.push_back(vector);
  }

 private:
  std::size_t size_;
  std::vector<AlignedArray<T>> owned_;
  std::vector<T*> free_;
};

}  // namespace filbert
