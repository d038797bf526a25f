// What the binding files share: argument checks and conversions, no logic.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "forest/dag.hpp"

namespace nb = nanobind;

namespace filbert {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), array.shape(0)};
}

// A numpy array that owns the vector's memory.
template <class T>
NumpyArray<T> to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyArray<T>(owned->data(), {owned->size()}, owner);
}

inline std::vector<NodeId> checked_roots(const Dag& dag, const Array<NodeId>& roots) {
  const std::span<const NodeId> ids = view(roots);
  for (const NodeId id : ids) {
    if (id >= dag.size()) throw nb::index_error("no such node in this forest");
  }
  return {ids.begin(), ids.end()};
}

// Asks Python for Ctrl-C and reports progress; to be used while the GIL is released.
Watch watch_from_python(nb::object progress);

void bind_forest(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_scorer(nb::module_& m);

}  // namespace filbert
