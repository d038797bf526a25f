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

  RowCache& cache() { return trainer.cache(); }
  RowState& state() { return trainer.state(); }

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

// ------------------------------------------------------------------------------ pauses

// By problem: the decision values by tree, and the intercept.
template <class Trainer>
NumpyMatrix values_of(Trainer& trainer) {
  std::vector<double> all;
  const auto& values = trainer.state().values;
  for (const auto& own : values) all.insert(all.end(), own.begin(), own.end());
  return to_matrix(std::move(all), values.size(), trainer.cache().n_trees() + 1);
}

// The rows in some places, from the first of these places on.
template <class Trainer>
NumpyMatrix rows_in(Trainer& trainer, std::size_t first, std::size_t last) {
  const PackedRows& rows = trainer.cache().rows();
  if (first > last || last > rows.size()) throw nb::index_error("there are no such rows");
  std::vector<double> values;
  values.reserve((last - first) * (rows.n() - first));
  for (std::size_t p = first; p < last; ++p) {
    for (std::size_t q = first; q < rows.n(); ++q) {
      values.push_back(p < q ? rows.entry(p, q) : rows.entry(q, p));
    }
  }
  return to_matrix(std::move(values), last - first, rows.n() - first);
}

// Makes a trainer as it was at a pause, without rows.
template <class Trainer>
void restore(Trainer& trainer, const Array<std::uint32_t>& order,
             const Array<std::uint64_t>& last_used, const MatrixOf<double>& values,
             std::uint64_t n_batches, bool has_new_rows) {
  if (values.shape(1) != trainer.cache().n_trees() + 1) {
    throw nb::value_error("these are the values of other trees");
  }
  trainer.cache().restore(view(order), view(last_used));
  RowState state;
  state.n_batches = n_batches;
  state.has_new_rows = has_new_rows;
  for (std::size_t c = 0; c < values.shape(0); ++c) {
    const double* const own = values.data() + c * values.shape(1);
    state.values.emplace_back(own, own + values.shape(1));
  }
  trainer.state() = std::move(state);
}

// Appends the rows of the trees in the next places, with a column for each tree.
template <class Trainer>
void append(Trainer& trainer, const Array<std::uint32_t>& trees, MatrixOf<double> values) {
  if (values.shape(0) != trees.size() || values.shape(1) != trainer.cache().n_trees()) {
    throw nb::value_error("these are rows of other trees");
  }
  std::vector<const double*> rows;
  for (std::size_t k = 0; k < trees.size(); ++k)
    rows.push_back(values.data() + k * values.shape(1));
  trainer.cache().append(view(trees), rows);
}

// The rows of a matrix that is there as a whole.
NumpyMatrix rows_of(GramRows& self, const Array<std::uint32_t>& trees) {
  std::vector<double> values;
  const std::size_t n = self.n_trees();
  for (std::size_t k = 0; k < trees.size(); ++k) {
    if (view(trees)[k] >= n) throw nb::index_error("there is no such row");
    const double* const row = self.values.data() + view(trees)[k] * n;
    values.insert(values.end(), row, row + n);
  }
  return to_matrix(std::move(values), trees.size(), n);
}

template <class Trainer>
void bind_pauses(nb::class_<Trainer>& bound) {
  constexpr auto kShared = nb::rv_policy::automatic;  // the arrays own their memory
  bound
      .def_prop_ro(
          "order",
          [](Trainer& t) {
            const auto trees = t.cache().rows().trees();
            return to_numpy(std::vector<std::uint32_t>(trees.begin(), trees.end()));
          },
          kShared)
      .def_prop_ro(
          "last_used",
          [](Trainer& t) {
            const auto turns = t.cache().last_used();
            return to_numpy(std::vector<std::uint64_t>(turns.begin(), turns.end()));
          },
          kShared)
      .def_prop_ro("values", &values_of<Trainer>, kShared)
      .def_prop_ro("n_rows", [](Trainer& t) { return t.cache().size(); })
      .def_prop_ro("n_rows_computed", [](Trainer& t) { return t.cache().n_computed(); })
      .def_prop_ro("n_rows_removed", [](Trainer& t) { return t.cache().n_removed(); })
      .def_prop_ro("n_batches", [](Trainer& t) { return t.state().n_batches; })
      .def_prop_ro("has_new_rows", [](Trainer& t) { return t.state().has_new_rows; })
      .def("rows", &rows_in<Trainer>, nb::arg("first"), nb::arg("last"))
      .def("restore", &restore<Trainer>, nb::arg("order"), nb::arg("last_used"), nb::arg("values"),
           nb::arg("n_batches"), nb::arg("has_new_rows"))
      .def("append", &append<Trainer>, nb::arg("trees"), nb::arg("values"));
}

// ------------------------------------------------------------------------------ rows alone

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

  nb::class_<RowTrainer> on_demand(m, "RowTrainer");
  on_demand
      .def("__init__", &make_trainer, nb::arg("spec"), nb::arg("dag"), nb::arg("roots"),
           nb::arg("normalize"), nb::arg("max_bytes"), nb::arg("n_threads"),
           nb::arg("progress").none())
      .def_prop_ro("n_trees", &RowTrainer::n_trees)
      .def_prop_ro("n_distinct", [](const RowTrainer& t) { return t.cache().n_trees(); })
      .def_prop_ro("peak_bytes", [](const RowTrainer& t) { return t.cache().peak_bytes(); })
      .def("train", &train_with<RowTrainer>, nb::arg("problems"), nb::arg("n_threads"),
           nb::arg("progress").none());

  bind_pauses(on_demand);

  nb::class_<GramRows> all_at_once(m, "GramTrainer");
  all_at_once.def("__init__", &make_gram, nb::arg("matrix"), nb::arg("max_bytes"))
      .def_prop_ro("n_trees", &GramRows::n_trees)
      .def("train", &train_with<GramRows>, nb::arg("problems"), nb::arg("n_threads"),
           nb::arg("progress").none());
  all_at_once.def("rows_of", &rows_of, nb::arg("trees"));
  bind_pauses(all_at_once);
}

}  // namespace filbert
