#include <numeric>

#include "bindings.hpp"
#include "learn/svm/gram_trainer.hpp"
#include "learn/svm/row_trainer.hpp"
#include "rows/tile_rows.hpp"
#include "svm_problems.hpp"

namespace filbert {

namespace {

void make_trainer(RowTrainer* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                  const Array<NodeId>& roots, bool normalize, std::uint64_t max_bytes,
                  int n_threads, nb::object progress) {
  const std::vector<NodeId> ids = checked_roots(*dag, roots);
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) RowTrainer(spec, std::move(dag), ids, normalize, max_bytes, n_threads, watch);
}

// A kernel matrix, and the training on it.
struct GramRows {
  GramRows(MatrixOf<double> matrix, std::uint64_t max_bytes)
      : values(std::move(matrix)),
        trainer({values.data(), values.size()}, values.shape(0), max_bytes) {}

  std::size_t n_trees() const { return trainer.n_trees(); }
  std::vector<SvmSolution> train(const SvmProblems& problems, int n_threads, const Watch& report) {
    return trainer.train(problems, n_threads, report);
  }

  MatrixOf<double> values;
  GramTrainer trainer;
};

void make_gram(GramRows* self, MatrixOf<double> matrix, std::uint64_t max_bytes) {
  if (matrix.shape(0) != matrix.shape(1)) throw nb::value_error("the matrix is not square");
  new (self) GramRows(std::move(matrix), max_bytes);
}

template <class Trainer>
SvmSolutionArrays train_with(Trainer& trainer, const SvmProblemArrays& problems, int n_threads,
                             nb::object progress) {
  return solve(problems, std::move(progress), [&](const SvmProblems& each, const Watch& watch) {
    return trainer.train(each, n_threads, watch);
  });
}

void make_rows(TileRows* self, const KernelSpec& spec, std::shared_ptr<const Dag> dag,
               const Array<NodeId>& roots, bool normalize, int n_threads, nb::object progress) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  std::vector<std::uint32_t> numbers(ids.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  const Watch watch = watch_from_python(std::move(progress));
  const nb::gil_scoped_release release;
  new (self) TileRows(spec, std::move(dag), std::move(ids), numbers, normalize, n_threads, watch);
}

using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

Matrix rows_between(TileRows& rows, const Dag& dag, const Array<NodeId>& roots, int n_threads,
                    nb::object progress, Matrix out) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  if (out.shape(0) != ids.size() || out.shape(1) != rows.n_trees()) {
    throw nb::value_error("the output does not have the matrix's shape");
  }
  const Watch watch = watch_from_python(std::move(progress));
  {
    const nb::gil_scoped_release release;
    rows.between({dag, ids}, n_threads, watch, out.data());
  }
  return out;
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<TileRows>(m, "TileRows")
      .def("__init__", &make_rows, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("normalize"), nb::arg("n_threads"), nb::arg("progress").none())
      .def("between", &rows_between, nb::arg("dag"), nb::arg("roots"), nb::arg("n_threads"),
           nb::arg("progress").none(), nb::arg("out"));

  nb::class_<RowTrainer>(m, "RowTrainer")
      .def("__init__", &make_trainer, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("normalize"), nb::arg("max_bytes"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def_prop_ro("n_trees", &RowTrainer::n_trees)
      .def_prop_ro("n_distinct", [](const RowTrainer& t) { return t.cache().n_trees(); })
      .def_prop_ro("n_rows", [](const RowTrainer& t) { return t.cache().size(); })
      .def_prop_ro("n_rows_computed", [](const RowTrainer& t) { return t.cache().n_computed(); })
      .def_prop_ro("peak_bytes", [](const RowTrainer& t) { return t.cache().peak_bytes(); })
      .def("train", &train_with<RowTrainer>, nb::arg("problems"), nb::arg("n_threads"),
           nb::arg("progress").none());

  nb::class_<GramRows>(m, "GramTrainer")
      .def("__init__", &make_gram, nb::arg("matrix"), nb::arg("max_bytes"))
      .def_prop_ro("n_trees", &GramRows::n_trees)
      .def("train", &train_with<GramRows>, nb::arg("problems"), nb::arg("n_threads"),
           nb::arg("progress").none());
}

}  // namespace filbert
