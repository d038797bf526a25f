#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "kernels/chosen_symbols.hpp"
#include "rows/matrix.hpp"
#include "scoring/operator.hpp"

namespace filbert {

namespace {

using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

Matrix kernel_matrix_of(const KernelSpec& spec, const Dag& a, const Array<NodeId>& roots_a,
                        const Dag* b, std::optional<Array<NodeId>> roots_b, bool normalize,
                        int n_threads, nb::object progress, Matrix out) {
  const std::vector<NodeId> ra = checked_roots(a, roots_a);
  const std::vector<NodeId> rb = b ? checked_roots(*b, *roots_b) : std::vector<NodeId>();
  if (out.shape(0) != ra.size() || out.shape(1) != (b ? rb.size() : ra.size())) {
    throw nb::value_error("the output does not have the matrix's shape");
  }
  const Watch watch = watch_from_python(std::move(progress));
  {
    const nb::gil_scoped_release release;
    if (b) {
      cheapest_kernel_matrix(spec, {a, ra}, {*b, rb}, normalize, n_threads, watch, out.data());
    } else {
      cheapest_kernel_matrix(spec, {a, ra}, normalize, n_threads, watch, out.data());
    }
  }
  return out;
}

// Memory that nothing has touched. NumPy's own comes with a request for large pages, and where the
// system has to make room for these first, that took a third of the time of a matrix of 12,000
// trees.
Matrix empty_matrix(std::size_t n, std::size_t m) {
  if (m > 0 && n > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / m) {
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(std::max<std::size_t>(1, n * m) * sizeof(double));
  if (memory == nullptr) throw std::bad_alloc();
  const nb::capsule owner(memory, [](void* p) noexcept { std::free(p); });
  return Matrix(static_cast<double*>(memory), {n, m}, owner);
}

// Infinite where a value is beyond double; normalised, 1 for every tree that has a fragment.
NumpyArray<double> diagonal_of(const KernelSpec& spec, const Dag& a, const Array<NodeId>& roots,
                               bool normalize, int n_threads, nb::object progress) {
  const std::vector<NodeId> ra = checked_roots(a, roots);
  const Watch watch = watch_from_python(std::move(progress));
  std::vector<double> values;
  {
    const nb::gil_scoped_release release;
    for (const Wide& value : self_kernels(spec, {a, ra}, n_threads, watch)) {
      values.push_back(normalize ? (value.is_zero() ? 0.0 : 1.0) : value.to_double());
    }
  }
  return to_numpy(std::move(values));
}

// The same kernel with fragments only below nodes of these symbols.
KernelSpec rooted_in(const KernelSpec& spec, const std::vector<std::vector<std::string>>& symbols,
                     bool by_production) {
  const SymbolKind kind = by_production ? SymbolKind::production : SymbolKind::label;
  KernelSpec restricted = spec;
  restricted.chosen = std::make_shared<ChosenSymbols>(kind, symbols);
  return restricted;
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<KernelSpec>(m, "KernelSpec")
      .def(
          "__init__",
          [](KernelSpec* self, const std::string& kernel, double decay, double depth_decay,
             bool include_leaves, const std::string& penalty, std::uint32_t max_subsequence,
             double max_steps) {
            KernelSpec spec;
            spec.kernel = kernel == "subtree"       ? TreeKernel::subtree
                          : kernel == "subset_tree" ? TreeKernel::subset_tree
                                                    : TreeKernel::partial_tree;
            spec.decay = decay;
            spec.depth_decay = depth_decay;
            spec.include_leaves = include_leaves;
            spec.penalty = penalty == "gaps" ? Penalty::gaps : Penalty::span;
            spec.max_subsequence = max_subsequence;
            spec.max_steps = max_steps;
            new (self) KernelSpec(spec);
          },
          nb::arg("kernel"), nb::kw_only(), nb::arg("decay"), nb::arg("depth_decay") = 1.0,
          nb::arg("include_leaves") = false, nb::arg("penalty") = "span",
          nb::arg("max_subsequence") = 0, nb::arg("max_steps") = 1e9)
      .def("rooted_in", &rooted_in, nb::arg("symbols"), nb::arg("by_production"));

  m.def("empty_matrix", &empty_matrix, nb::arg("n"), nb::arg("m"));
  m.def("kernel_matrix", &kernel_matrix_of, nb::arg("spec"), nb::arg("a"), nb::arg("roots_a"),
        nb::arg("b").none(), nb::arg("roots_b").none(), nb::arg("normalize"), nb::arg("n_threads"),
        nb::arg("progress").none(), nb::arg("out"));
  m.def("self_kernels", &diagonal_of, nb::arg("spec"), nb::arg("a"), nb::arg("roots"),
        nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace filbert
