// A pool of vectors of one size. It is not thread-safe.
#pragma once

#include <vector>

#include "embed/aligned.hpp"

namespace filbert {

template <class T>
class VectorPool {
 public:
  explicit VectorPool(std::size_t size) : size_(size) {}

  // Returns the vector that was freed last, because it is most likely in the cache.
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
