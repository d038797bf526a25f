#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "lists.hpp"

namespace filbert {

namespace {

NumpyMatrix kernel_matrix_of(const KernelSpec& spec, const Dag& a, const Array<NodeId>& roots_a,
                             const Dag* b, std::optional<Array<NodeId>> roots_b, bool normalize,
                             int n_threads, nb::object progress, NumpyMatrix out) {
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

// Untouched memory. NumPy's own allocation requests large pages. If the system first has to make
// room for these, that took a third of the time of a matrix of 12,000 trees.
NumpyMatrix empty_matrix(std::size_t n, std::size_t m) {
  if (m > 0 && n > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / m) {
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(std::max<std::size_t>(1, n * m) * sizeof(double));
  if (memory == nullptr) throw std::bad_alloc();
  const nb::capsule owner(memory, [](void* p) noexcept { std::free(p); });
  return NumpyMatrix(static_cast<double*>(memory), {n, m}, owner);
}

NumpyArray<double> diagonal_of(const KernelSpec& spec, const Dag& a, const Array<NodeId>& roots,
                               bool normalize, int n_threads, nb::object progress) {
  const std::vector<NodeId> ra = checked_roots(a, roots);
  const Watch watch = watch_from_python(std::move(progress));
  auto values = without_gil(
      [&] { return diagonal(self_kernels(spec, {a, ra}, n_threads, watch), normalize); });
  return to_numpy(std::move(values));
}

// The same kernel with fragments rooted only in nodes of these symbols.
KernelSpec rooted_in(const KernelSpec& spec, const Sequence<Sequence<nb::str>>& symbols,
                     bool by_production) {
  std::vector<std::vector<std::string>> texts;
  for (const nb::handle symbol : symbols) {
    std::vector<std::string>& labels = texts.emplace_back();
    for (const nb::handle label : symbol) labels.emplace_back(nb::cast<std::string_view>(label));
  }
  const SymbolKind kind = by_production ? SymbolKind::production : SymbolKind::label;
  KernelSpec restricted = spec;
  restricted.chosen = std::make_shared<ChosenSymbols>(kind, texts);
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
            new (self) KernelSpec(
                make_kernel(kernel, {decay, depth_decay, include_leaves, penalty_by_name(penalty),
                                     max_subsequence, max_steps}));
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
