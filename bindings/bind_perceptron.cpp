#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "factors/sum_factors.hpp"
#include "learn/perceptron/perceptron.hpp"
#include "learn/perceptron/perceptron_epochs.hpp"
#include "lists.hpp"
#include "scoring/operator.hpp"

namespace filbert {

namespace {

// A part with the arrays that it refers to.
struct BoundPart {
  ExamplePart part;
  Array<std::uint64_t> begin;
  Array<std::uint32_t> features;
  Array<double> values;
};

void make_tree_part(BoundPart* self, std::shared_ptr<const Dag> dag, const Array<NodeId>& roots) {
  std::vector<NodeId> ids = checked_roots(*dag, roots);
  new (self) BoundPart();
  self->part.dag = std::move(dag);
  self->part.roots = std::move(ids);
}

void make_vector_part(BoundPart* self, Array<std::uint64_t> begin, Array<std::uint32_t> features,
                      Array<double> values) {
  const std::span<const std::uint64_t> ends = view(begin);
  bool right = !ends.empty() && ends.front() == 0 && features.shape(0) == values.shape(0) &&
               ends.back() == features.shape(0);
  for (std::size_t i = 0; right && i + 1 < ends.size(); ++i) {
    right = ends[i] <= ends[i + 1] && ends[i + 1] <= features.shape(0);
    for (std::uint64_t k = ends[i] + 1; right && k < ends[i + 1]; ++k) {
      right = view(features)[k - 1] < view(features)[k];
    }
  }
  if (!right) throw nb::value_error("these are not rows of ascending features");
  new (self) BoundPart();
  self->part.begin = ends;
  self->part.features = view(features);
  self->part.values = view(values);
  self->begin = std::move(begin);
  self->features = std::move(features);
  self->values = std::move(values);
}

using Parts = std::vector<BoundPart*>;

// Examples whose lengths have been checked.
struct BoundExamples {
  BoundExamples(const OnlinePerceptron& model, const Parts& bound, const MatrixOf<double>& scales,
                const Array<double>& norms)
      : examples{{}, {scales.data(), scales.size()}, view(norms)} {
    const std::size_t n = norms.shape(0);
    bool right = bound.size() == model.n_terms() && scales.shape(0) == model.n_terms() &&
                 scales.shape(1) == n;
    for (const BoundPart* part : bound) {
      right = right && part->part.size() == n;
      parts.push_back(&part->part);
    }
    if (!right) throw nb::value_error("parts, scales and norms do not fit the terms");
    examples.parts = parts;
  }
  BoundExamples(const BoundExamples&) = delete;

  std::vector<const ExamplePart*> parts;
  PerceptronExamples examples;
};

PerceptronTargets checked_targets(std::size_t n_problems, std::size_t n,
                                  const MatrixOf<std::int8_t>& y, const Array<double>& weights,
                                  double margin) {
  if (y.shape(0) != n_problems || y.shape(1) != n || weights.shape(0) != n) {
    throw nb::value_error("y and weights do not fit the examples");
  }
  return {{y.data(), y.size()}, view(weights), margin};
}

void check_rows(std::span<const std::uint32_t> rows, std::size_t n) {
  for (const std::uint32_t row : rows) {
    if (row >= n) throw nb::index_error("no such example");
  }
}

// Checks for Ctrl-C and reports (examples done, errors among them).
Watch watch_progress(nb::object progress, const PerceptronProgress& done) {
  const Watch report = watch_from_python(std::move(progress));
  return [report, &done](std::size_t, std::size_t) { report(done.n_done, done.n_errors); };
}

// ------------------------------------------------------------------------------ the model

// The spec of a term gives its kind: a KernelSpec, a PatternSpec, or (kind, degree, gamma, coef0).
void make_model(OnlinePerceptron* self, std::size_t n_problems, const Sequence<nb::object>& specs) {
  static const char* const kinds[] = {"linear", "polynomial", "rbf"};
  std::vector<std::unique_ptr<GrowingTerm>> terms;
  for (const nb::handle spec : specs) {
    if (nb::isinstance<KernelSpec>(spec)) {
      terms.push_back(growing_trees(nb::cast<const KernelSpec&>(spec), 2 * n_problems));
      continue;
    }
    if (nb::isinstance<PatternSpec>(spec)) {
      terms.push_back(growing_patterns(nb::cast<const PatternSpec&>(spec), 2 * n_problems));
      continue;
    }
    const auto [kind, degree, gamma, coef0] =
        nb::cast<std::tuple<std::string, std::uint32_t, double, double>>(spec);
    const auto* const found = std::find(std::begin(kinds), std::end(kinds), kind);
    if (found == std::end(kinds)) throw nb::value_error("no such kernel of vectors");
    const VectorSpec vectors{static_cast<VectorKernel>(found - kinds), degree, gamma, coef0};
    terms.push_back(growing_vectors(vectors, 2 * n_problems));
  }
  new (self) OnlinePerceptron(n_problems, std::move(terms));
}

// Calls read(watch) on one consistent state of the model, without the GIL. Another thread may learn
// meanwhile; it lets readers in between two examples.
template <class Read>
auto read_state(const OnlinePerceptron& model, const Read& read) {
  const Watch watch = watch_from_python(nb::none());
  const nb::gil_scoped_release release;
  const Turns::Reading turn(model.turns(), watch);
  return read(watch);
}

NumpyArray<double> term_selves(const OnlinePerceptron& model, std::size_t term,
                               const BoundPart& bound, int n_threads) {
  if (term >= model.n_terms()) throw nb::index_error("no such term");
  return to_numpy(read_state(model, [&](const Watch& watch) {
    return model.term(term).selves(bound.part, n_threads, watch);
  }));
}

using Numbers = nb::ndarray<std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::size_t learn(OnlinePerceptron& model, const Parts& parts, const MatrixOf<double>& scales,
                  const Array<double>& norms, const MatrixOf<std::int8_t>& y,
                  const Array<double>& weights, double margin, const Array<std::uint32_t>& order,
                  Numbers support_of, std::uint64_t max_nodes, nb::object progress) {
  const BoundExamples bound(model, parts, scales, norms);
  const std::size_t n = bound.examples.size();
  const PerceptronTargets targets = checked_targets(model.n_problems(), n, y, weights, margin);
  check_rows(view(order), n);
  if (support_of.shape(0) != n) throw nb::value_error("support_of: one number for each example");
  const std::span<std::uint32_t> numbers(support_of.data(), n);
  PerceptronProgress done;
  const Watch watch = watch_progress(std::move(progress), done);
  std::size_t n_learnt = 0;
  {
    const nb::gil_scoped_release release;
    parallel_for(1, 1, watch, [&](std::size_t, int, const StopToken& token) {
      n_learnt = model.learn(bound.examples, targets, view(order), numbers, max_nodes, done, token);
    });
  }
  return n_learnt;
}

NumpyMatrix online_scores(const OnlinePerceptron& model, const Parts& parts,
                          const MatrixOf<double>& scales, const Array<double>& norms, bool averaged,
                          int n_threads) {
  const BoundExamples bound(model, parts, scales, norms);
  std::vector<double> values = read_state(model, [&](const Watch& watch) {
    return model.scores(bound.examples, averaged, n_threads, watch);
  });
  return to_matrix(std::move(values), bound.examples.size(), model.n_problems());
}

// ------------------------------------------------------------------------------ logs as arrays

// Support, problem, amount and time of each update; errors of each block; examples and errors.
using LogArrays =
    std::tuple<NumpyArray<std::uint32_t>, NumpyArray<std::uint32_t>, NumpyArray<double>,
               NumpyArray<std::uint64_t>, NumpyArray<std::uint32_t>, std::uint64_t, std::uint64_t>;

LogArrays to_arrays(const PerceptronLog& log) {
  std::vector<std::uint32_t> support, problem;
  std::vector<double> amount;
  std::vector<std::uint64_t> time;
  for (const PerceptronUpdate& u : log.updates) {
    support.push_back(u.support);
    problem.push_back(u.problem);
    amount.push_back(u.amount);
    time.push_back(u.time);
  }
  std::vector<std::uint32_t> errors = log.errors;
  return {to_numpy(std::move(support)),
          to_numpy(std::move(problem)),
          to_numpy(std::move(amount)),
          to_numpy(std::move(time)),
          to_numpy(std::move(errors)),
          log.n_seen,
          log.n_errors};
}

// The same from Python.
using GivenLog =
    std::tuple<Array<std::uint32_t>, Array<std::uint32_t>, Array<double>, Array<std::uint64_t>,
               Array<std::uint32_t>, std::uint64_t, std::uint64_t>;

PerceptronLog checked_log(const GivenLog& given, std::size_t n_support, std::size_t n_problems) {
  const auto& [support, problem, amount, time, errors, n_seen, n_errors] = given;
  const std::size_t n = support.shape(0);
  if (problem.shape(0) != n || amount.shape(0) != n || time.shape(0) != n) {
    throw nb::value_error("the arrays of a log are of one length");
  }
  PerceptronLog log;
  log.errors.assign(errors.data(), errors.data() + errors.shape(0));
  log.n_seen = n_seen;
  log.n_errors = n_errors;
  std::uint32_t n_known = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const PerceptronUpdate u{view(support)[k], view(problem)[k], view(amount)[k], view(time)[k]};
    const bool right = u.support <= n_known && u.support < n_support && u.problem < n_problems &&
                       u.time >= 1 && u.time <= n_seen;
    if (!right) throw nb::value_error("the log does not fit the support vectors");
    if (u.support == n_known) ++n_known;
    log.updates.push_back(u);
  }
  return log;
}

void replay(OnlinePerceptron& model, const Parts& parts, const MatrixOf<double>& scales,
            const Array<double>& norms, const Array<std::uint32_t>& support,
            const Array<std::uint32_t>& problem, const Array<double>& amount,
            const Array<std::uint64_t>& time, const Array<std::uint32_t>& errors,
            std::uint64_t n_seen, std::uint64_t n_errors) {
  const BoundExamples bound(model, parts, scales, norms);
  if (model.n_support()) throw nb::value_error("a log is replayed on an empty model");
  const PerceptronLog log = checked_log({support, problem, amount, time, errors, n_seen, n_errors},
                                        bound.examples.size(), model.n_problems());
  const nb::gil_scoped_release release;
  model.replay(bound.examples, log);
}

std::size_t n_that_fit(const OnlinePerceptron& model, const Array<std::uint32_t>& support,
                       std::uint64_t max_nodes) {
  check_rows(view(support), model.n_support());
  return read_state(model,
                    [&](const Watch&) { return model.n_that_fit(view(support), max_nodes); });
}

// The log, and by term the support vectors: (dag, roots) or (begin, features, values).
std::tuple<LogArrays, nb::typed<nb::list, nb::any>> state(const OnlinePerceptron& model) {
  PerceptronLog log;
  std::vector<SupportTrees> trees;
  std::vector<SupportVectors> vectors;
  read_state(model, [&](const Watch&) {
    log = model.log();
    for (std::size_t t = 0; t < model.n_terms(); ++t) {
      trees.push_back(model.term(t).support_trees());
      vectors.push_back(model.term(t).support_vectors());
    }
  });
  nb::typed<nb::list, nb::any> support;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (trees[t].dag) {
      support.append(nb::make_tuple(trees[t].dag, to_numpy(std::move(trees[t].roots))));
    } else {
      support.append(nb::make_tuple(to_numpy(std::move(vectors[t].begin)),
                                    to_numpy(std::move(vectors[t].features)),
                                    to_numpy(std::move(vectors[t].values))));
    }
  }
  return {to_arrays(log), support};
}

// Statistics of learning, and the size of the model.
nb::typed<nb::dict, nb::str, nb::any> figures(const OnlinePerceptron& model) {
  std::uint64_t n_seen, n_errors, n_updates, n_support, n_nodes, n_tree_nodes;
  std::vector<std::uint32_t> errors;
  read_state(model, [&](const Watch&) {
    const PerceptronLog& log = model.log();
    n_seen = log.n_seen;
    n_errors = log.n_errors;
    n_updates = log.updates.size();
    n_support = model.n_support();
    n_nodes = model.n_nodes();
    n_tree_nodes = model.n_tree_nodes();
    errors = log.errors;
  });
  nb::typed<nb::dict, nb::str, nb::any> out;
  out["n_seen"] = n_seen;
  out["n_errors"] = n_errors;
  out["n_updates"] = n_updates;
  out["n_support_vectors"] = n_support;
  out["n_nodes"] = n_nodes;
  out["n_tree_nodes"] = n_tree_nodes;
  out["error_history"] = to_numpy(std::move(errors));
  return out;
}

// ------------------------------------------------------------------------------ by factors

// The examples that are support vectors, and the log.
using Learnt = std::tuple<Array<std::uint32_t>, GivenLog>;

// Visits some of the n examples of all epochs.
template <class Factors>
void visit(PerceptronEpochs<Factors>& epochs, const MatrixOf<std::uint32_t>& order,
           std::uint64_t first, std::uint64_t last, PerceptronProgress& done,
           const StopToken& token) {
  const std::uint64_t n = order.shape(1);
  while (first < last) {
    const std::uint64_t epoch = first / n, begin = first % n;
    const std::uint64_t size = std::min(n - begin, last - first);
    const std::uint32_t* const own = order.data() + epoch % order.shape(0) * n;
    epochs.run({own + begin, size}, done, token);
    first += size;
  }
}

// Learns from the examples from the first up to the last one, counted over all epochs. There is one
// order per epoch. `before` is what was learnt from the examples before the first. Returns the
// examples that are support vectors, the log, and whether Ctrl-C ended the training: the model
// learned until then is usable.
template <class Factors>
std::tuple<NumpyArray<std::uint32_t>, LogArrays, bool> run_epochs(
    const Factors& factors, const MatrixOf<std::int8_t>& y, const Array<double>& weights,
    double margin, bool intercept, const MatrixOf<std::uint32_t>& order, std::uint64_t first,
    std::uint64_t last, const std::optional<Learnt>& before, nb::object progress) {
  const std::size_t n = factors.n_trees();
  const PerceptronTargets targets = checked_targets(y.shape(0), n, y, weights, margin);
  if (order.shape(0) == 0 || order.shape(1) != n) {
    throw nb::value_error("an order is of all examples, and there is one at least");
  }
  check_rows({order.data(), order.size()}, n);
  PerceptronProgress done;
  const Watch watch = watch_progress(std::move(progress), done);
  PerceptronEpochs<Factors> epochs(factors, targets, intercept);
  if (before) {
    const auto& [support, log] = *before;
    check_rows(view(support), n);
    epochs.replay(checked_log(log, support.shape(0), y.shape(0)), view(support));
  }
  bool interrupted = false;
  try {
    const nb::gil_scoped_release release;
    parallel_for(1, 1, watch, [&](std::size_t, int, const StopToken& token) {
      if (n > 0) visit(epochs, order, first, last, done, token);
    });
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    interrupted = true;
  }
  return {to_numpy(std::vector<std::uint32_t>(epochs.support())), to_arrays(epochs.log()),
          interrupted};
}

}  // namespace

void bind_perceptron(nb::module_& m) {
  nb::class_<BoundPart>(m, "ExamplePart")
      .def("__init__", &make_tree_part, nb::arg("dag"), nb::arg("roots"))
      .def("__init__", &make_vector_part, nb::arg("begin"), nb::arg("features"), nb::arg("values"));

  nb::class_<OnlinePerceptron>(m, "OnlinePerceptron")
      .def("__init__", &make_model, nb::arg("n_problems"), nb::arg("specs"))
      .def_prop_ro("n_seen",
                   [](const OnlinePerceptron& p) {
                     return read_state(p, [&](const Watch&) { return p.log().n_seen; });
                   })
      .def("figures", &figures)
      .def("selves", &term_selves, nb::arg("term"), nb::arg("part"), nb::arg("n_threads"))
      .def("learn", &learn, nb::arg("parts"), nb::arg("scales"), nb::arg("norms"), nb::arg("y"),
           nb::arg("weights"), nb::arg("margin"), nb::arg("order"), nb::arg("support_of"),
           nb::arg("max_nodes"), nb::arg("progress").none())
      .def("scores", &online_scores, nb::arg("parts"), nb::arg("scales"), nb::arg("norms"),
           nb::arg("averaged"), nb::arg("n_threads"))
      .def("replay", &replay, nb::arg("parts"), nb::arg("scales"), nb::arg("norms"),
           nb::arg("support"), nb::arg("problem"), nb::arg("amount"), nb::arg("time"),
           nb::arg("errors"), nb::arg("n_seen"), nb::arg("n_errors"))
      .def("n_that_fit", &n_that_fit, nb::arg("support"), nb::arg("max_nodes"))
      .def("state", &state);

  const auto def_training = [&](const auto& train) {
    m.def("train_perceptron", train, nb::arg("factors"), nb::arg("y"), nb::arg("weights"),
          nb::arg("margin"), nb::arg("intercept"), nb::arg("order"), nb::arg("first"),
          nb::arg("last"), nb::arg("before").none(), nb::arg("progress").none());
  };
  def_training([](const KernelOperator& k, const MatrixOf<std::int8_t>& y,
                  const Array<double>& weights, double margin, bool intercept,
                  const MatrixOf<std::uint32_t>& order, std::uint64_t first, std::uint64_t last,
                  const std::optional<Learnt>& before, nb::object progress) {
    return run_epochs(SingleFactors(k.trees()), y, weights, margin, intercept, order, first, last,
                      before, std::move(progress));
  });
  def_training([](const SumFactors& k, const MatrixOf<std::int8_t>& y, const Array<double>& weights,
                  double margin, bool intercept, const MatrixOf<std::uint32_t>& order,
                  std::uint64_t first, std::uint64_t last, const std::optional<Learnt>& before,
                  nb::object progress) {
    return run_epochs(k, y, weights, margin, intercept, order, first, last, before,
                      std::move(progress));
  });
}

}  // namespace filbert
