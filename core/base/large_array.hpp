// A vector for many plain numbers. It grows by realloc, which moves large blocks without touching
// them. New elements are uninitialised, so that the caller can fill them in on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace filbert {

template <class T>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  LargeArray() = default;
  LargeArray(const LargeArray& other) {
    resize(other.size_);
    std::copy_n(other.data_, size_, data_);
  }
  LargeArray(LargeArray&& other) noexcept { swap(other); }
  LargeArray& operator=(LargeArray other) noexcept {
    swap(other);
    return *this;
  }
  ~LargeArray() { std::free(data_); }

  // New elements are uninitialised.
  void resize(std::size_t size) {
    if (size > capacity_) make_room(std::max(size, capacity_ + capacity_ / 4));
    size_ = size;
  }
  void push_back(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // the value may be an element of this array
      make_room(capacity_ + std::max<std::size_t>(16, capacity_ / 2));
      data_[size_++] = copy;
    } else {
      data_[size_++] = value;
    }
  }
  void clear() { size_ = 0; }
  // Frees the memory beyond the elements.
  void shrink() {
    if (size_ > 0 && size_ < capacity_) make_room(size_);
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  bool operator==(const LargeArray& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  void swap(LargeArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  void make_room(std::size_t capacity) {
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* const moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace filbert
