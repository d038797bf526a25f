// Common code of the binding files: argument checks and conversions, no logic.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "filbert.hpp"

namespace nb = nanobind;

namespace filbert {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
using MatrixOf = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using NumpyMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

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

inline NumpyMatrix to_matrix(std::vector<double> values, std::size_t n_rows,
                             std::size_t n_columns) {
  auto* owned = new std::vector<double>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return NumpyMatrix(owned->data(), {n_rows, n_columns}, owner);
}

inline std::vector<NodeId> checked_roots(const Dag& dag, const Array<NodeId>& roots) {
  const std::span<const NodeId> ids = view(roots);
  for (const NodeId id : ids) {
    if (id >= dag.size()) throw nb::index_error("no such node in this forest");
  }
  return {ids.begin(), ids.end()};
}

// Runs a long call without the GIL, so that other Python threads need not wait for it.
template <class Work>
auto without_gil(const Work& work) {
  const nb::gil_scoped_release release;
  return work();
}

// Tree, node, count and value of each entry.
using ContributionArrays = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<NodeId>,
                                      NumpyArray<std::uint32_t>, NumpyMatrix>;

inline ContributionArrays contribution_arrays(NodeContributions found, std::size_t n_columns) {
  const std::size_t n = found.nodes.size();
  return {to_numpy(std::move(found.trees)), to_numpy(std::move(found.nodes)),
          to_numpy(std::move(found.counts)), to_matrix(std::move(found.values), n, n_columns)};
}

// Checks for Ctrl-C in Python and reports progress. Use it while the GIL is released.
Watch watch_from_python(nb::object progress);

void bind_forest(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_embed(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_features(nb::module_& m);
void bind_fragments(nb::module_& m);
void bind_patterns(nb::module_& m);
void bind_perceptron(nb::module_& m);
void bind_planes(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_scorer(nb::module_& m);
void bind_search(nb::module_& m);
void bind_select(nb::module_& m);
void bind_sequence(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_svm(nb::module_& m);

}  // namespace filbert
