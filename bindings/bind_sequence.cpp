#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"

namespace filbert {

namespace {

Sequences checked_sequences(const Array<LabelId>& labels, const Array<std::uint64_t>& ends) {
  std::uint64_t last = 0;
  for (const std::uint64_t end : view(ends)) {
    if (end < last) throw nb::value_error("the sequences' ends are not in order");
    last = end;
  }
  if (last != labels.shape(0)) throw nb::value_error("the sequences do not end where labels do");
  return {view(labels), view(ends)};
}

NumpyMatrix sequence_matrix_of(double decay, std::uint32_t length, const Array<LabelId>& labels_a,
                               const Array<std::uint64_t>& ends_a,
                               std::optional<Array<LabelId>> labels_b,
                               std::optional<Array<std::uint64_t>> ends_b, bool normalize,
                               int n_threads, nb::object progress, NumpyMatrix out) {
  const SequenceSpec spec{decay, length};
  const Sequences a = checked_sequences(labels_a, ends_a);
  const Sequences b = labels_b ? checked_sequences(*labels_b, *ends_b) : a;
  if (out.shape(0) != a.size() || out.shape(1) != b.size()) {
    throw nb::value_error("the output does not have the matrix's shape");
  }
  const Watch watch = watch_from_python(std::move(progress));
  {
    const nb::gil_scoped_release release;
    if (labels_b) {
      kernel_matrix(spec, a, b, normalize, n_threads, watch, out.data());
    } else {
      kernel_matrix(spec, a, normalize, n_threads, watch, out.data());
    }
  }
  return out;
}

NumpyArray<double> sequence_selves_of(double decay, std::uint32_t length,
                                      const Array<LabelId>& labels,
                                      const Array<std::uint64_t>& ends, bool normalize,
                                      int n_threads) {
  const Sequences sequences = checked_sequences(labels, ends);
  const Watch watch = watch_from_python(nb::none());
  auto values = without_gil([&] {
    return diagonal(self_kernels(SequenceSpec{decay, length}, sequences, n_threads, watch),
                    normalize);
  });
  return to_numpy(std::move(values));
}

}  // namespace

void bind_sequence(nb::module_& m) {
  m.def(
      "label_sequences",
      [](const Dag& dag, const Array<NodeId>& roots, bool leaves_only) {
        LabelSequences found = label_sequences(dag, checked_roots(dag, roots), leaves_only);
        return std::make_tuple(to_numpy(std::move(found.labels)), to_numpy(std::move(found.ends)));
      },
      nb::arg("dag"), nb::arg("roots"), nb::arg("leaves_only"));
  m.def("sequence_matrix", &sequence_matrix_of, nb::arg("decay"), nb::arg("length"),
        nb::arg("labels_a"), nb::arg("ends_a"), nb::arg("labels_b").none(),
        nb::arg("ends_b").none(), nb::arg("normalize"), nb::arg("n_threads"),
        nb::arg("progress").none(), nb::arg("out"));
  m.def("sequence_selves", &sequence_selves_of, nb::arg("decay"), nb::arg("length"),
        nb::arg("labels"), nb::arg("ends"), nb::arg("normalize"), nb::arg("n_threads"));
}

}  // namespace filbert
