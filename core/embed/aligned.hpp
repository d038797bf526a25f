// Arrays that are aligned for vector instructions.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace filbert {

inline constexpr std::align_val_t kAligned{64};

struct AlignedDelete {
  template <class T>
  void operator()(T* numbers) const {
    ::operator delete[](numbers, kAligned);
  }
};

template <class T>
using AlignedArray = std::unique_ptr<T[], AlignedDelete>;

// The elements are uninitialised.
template <class T>
AlignedArray<T> aligned_array(std::size_t n) {
  return AlignedArray<T>(static_cast<T*>(::operator new[](n * sizeof(T), kAligned)));
}

}  // namespace filbert
