// Makes calls fail on demand: preloaded into a process, armed through fail_at.
//
// File calls: the nth call of any kind since arming fails with an errno, or writes one byte only.
// Allocations: the nth operator new throws std::bad_alloc, and so does each one after it if asked
// to. malloc and realloc fail by the same count if the core calls them itself.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace {

// nanobind takes small amounts of memory for the arguments of a call, and ends the process if it
// gets none. Those are spared.
constexpr std::size_t kSmallest = 128;

std::atomic<long> file_calls{0}, file_fails{-1};
std::atomic<int> file_error{0};  // 0: a short write
std::atomic<long> allocations{0}, allocation_fails{-1};
std::atomic<bool> go_on_failing{false};

bool file_call_fails() {
  const long at = file_fails.load();
  return at >= 0 && file_calls.fetch_add(1) == at;
}

bool allocation_is_due(std::size_t size) {
  const long at = allocation_fails.load();
  if (at < 0 || size < kSmallest) return false;
  const long n = allocations.fetch_add(1);
  return n == at || (n > at && go_on_failing.load());
}

// Whether the core called.
bool is_core(void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  return strstr(info.dli_fname, "/_core.") != nullptr;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocation_is_due(size)) throw std::bad_alloc();
  void* p = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    p = malloc(size == 0 ? 1 : size);
  } else if (posix_memalign(&p, alignment, size == 0 ? 1 : size) != 0) {
    p = nullptr;
  }
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

extern "C" {

// Arms or, with -1, disarms; the counts begin at 0.
void fail_file_call_at(long n, int error) {
  file_calls = 0;
  file_error = error;
  file_fails = n;
}
void fail_allocation_at(long n, int and_later) {
  allocations = 0;
  go_on_failing = and_later != 0;
  allocation_fails = n;
}
long n_file_calls() { return file_calls; }
long n_allocations() { return allocations; }

ssize_t write(int fd, const void* data, size_t size) {
  static auto* const call = real(&write, "write");
  if (fd > 2 && file_call_fails()) {
    if (file_error == 0) return call(fd, data, size > 1 ? 1 : size);
    errno = file_error;
    return -1;
  }
  return call(fd, data, size);
}

int fsync(int fd) {
  static auto* const call = real(&fsync, "fsync");
  if (file_call_fails() && file_error != 0) {
    errno = file_error;
    return -1;
  }
  return call(fd);
}

int close(int fd) {
  static auto* const call = real(&close, "close");
  const int result = call(fd);
  if (fd > 2 && file_call_fails() && file_error != 0) {
    errno = file_error;
    return -1;
  }
  return result;
}

int rename(const char* from, const char* to) {
  static auto* const call = real(&rename, "rename");
  if (file_call_fails() && file_error != 0) {
    errno = file_error;
    return -1;
  }
  return call(from, to);
}

static int opened(const char* path, int flags, mode_t mode) {
  static auto* const call = real(static_cast<int (*)(const char*, int, ...)>(&open), "open64");
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (writes && file_call_fails() && file_error != 0) {
    errno = file_error;
    return -1;
  }
  return call(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return opened(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return opened(path, flags, mode);
}

void* __libc_malloc(size_t size);
void* __libc_realloc(void* p, size_t size);

void* malloc(size_t size) {
  if (allocation_fails.load() >= 0 && is_core(__builtin_return_address(0)) &&
      allocation_is_due(size)) {
    return nullptr;
  }
  return __libc_malloc(size);
}
void* realloc(void* p, size_t size) {
  if (allocation_fails.load() >= 0 && is_core(__builtin_return_address(0)) &&
      allocation_is_due(size)) {
    return nullptr;
  }
  return __libc_realloc(p, size);
}

}  // extern "C"

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new[](std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, std::size_t(a)); }
void* operator new[](std::size_t size, std::align_val_t a) {
  return allocate(size, std::size_t(a));
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, std::size_t) noexcept { free(p); }
void operator delete[](void* p, std::size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { free(p); }
