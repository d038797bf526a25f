#include "bindings.hpp"

namespace filbert {

namespace {

// Errors of the core become errors of filbert.errors. Texts may quote damaged input, so they are
// decoded with replacement characters.
nb::object text(const std::string& utf8) {
  return nb::steal(
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

void raise_as(const char* name, nb::object error) {
  nb::object type = nb::module_::import_("filbert.errors").attr(name);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& caught, void*) {
  try {
    std::rethrow_exception(caught);
  } catch (const ParseError& error) {
    const ParseProblem& p = error.problem;
    nb::object type = nb::module_::import_("filbert.errors").attr("ParseError");
    nb::object sample = p.sample < 0 ? nb::none() : nb::object(nb::int_(p.sample));
    raise_as("ParseError",
             type(text(p.reason), nb::arg("hint") = text(p.hint), nb::arg("line") = p.line,
                  nb::arg("column") = p.column, nb::arg("sample") = sample));
  } catch (const InvalidForest& error) {
    raise_as("CorruptForestError", text(error.what()));
  } catch (const CapacityError& error) {
    raise_as("CapacityError", text(error.what()));
  } catch (const OutOfMemory& error) {
    raise_as("OutOfMemoryError", text(error.what()));
  } catch (const WorkExceeded& error) {
    nb::object type = nb::module_::import_("filbert.errors").attr("WorkLimitError");
    raise_as("WorkLimitError", type(error.max_steps));
  } catch (const TooManyFragments& error) {
    nb::object type = nb::module_::import_("filbert.errors").attr("TooManyFragmentsError");
    raise_as("TooManyFragmentsError", type(error.max_fragments));
  } catch (const KernelOverflow& error) {
    raise_as("KernelOverflowError", text(error.what()));
  } catch (const TooExpensive& error) {
    nb::object type = nb::module_::import_("filbert.errors").attr("TooExpensiveError");
    raise_as("TooExpensiveError", type(text(error.what()), error.steps));
  }
}

}  // namespace

Watch watch_from_python(nb::object progress) {
  return [progress = std::move(progress)](std::size_t done, std::size_t total) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(done, total);
  };
}

}  // namespace filbert

NB_MODULE(_core, m) {
  m.doc() = "Filbert's native core. Private: the public names are in the package `filbert`.";
  // At exit, other modules (pytest, notebooks) may still hold forests: that is not worth a warning.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(filbert::translate);
  filbert::bind_forest(m);
  filbert::bind_kernels(m);
  filbert::bind_embed(m);
  filbert::bind_engine(m);
  filbert::bind_features(m);
  filbert::bind_fragments(m);
  filbert::bind_patterns(m);
  filbert::bind_perceptron(m);
  filbert::bind_planes(m);
  filbert::bind_rows(m);
  filbert::bind_scorer(m);
  filbert::bind_search(m);
  filbert::bind_select(m);
  filbert::bind_sequence(m);
  filbert::bind_sums(m);
  filbert::bind_svm(m);
}
