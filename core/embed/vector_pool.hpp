// Vectors of one size, given out and taken back. Not for several threads at once.
#pragma once

#include <memory>
#include <vector>

namespace filbert {

template <class T>
class VectorPool {
 public:
  explicit VectorPool(std::size_t size) : size_(size) {}

  T* take() {
    if (free_.empty()) {
      owned_.push_back(std::unique_ptr<T[]>(new T[size_]));  // not set to anything
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
  std::vector<std::unique_ptr<T[]>> owned_;
  std::vector<T*> free_;
};

}  // namespace filbert
