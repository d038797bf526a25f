#include "bindings.hpp"

namespace filbert {

namespace {

template <class T>
using EmbeddedRows = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

// The first tree whose vector is beyond the range of T, or nothing.
template <class T>
nb::object embed(const TreeEmbedder<T>& embedder, const Dag& dag, const Array<NodeId>& roots,
                 std::size_t max_bytes, int n_threads, nb::object progress, EmbeddedRows<T> out) {
  const std::vector<NodeId> ids = checked_roots(dag, roots);
  if (out.shape(0) != ids.size() || out.shape(1) != embedder.n_components()) {
    throw nb::value_error("the output does not have the shape of the vectors");
  }
  const Watch watch = watch_from_python(std::move(progress));
  auto too_large = without_gil(
      [&] { return embedder.embed(dag, ids, max_bytes, n_threads, watch, out.data()); });
  if (too_large == TreeEmbedder<T>::kFinite) return nb::none();
  return nb::int_(too_large);
}

template <class T>
void bind_embedder(nb::module_& m, const char* name) {
  nb::class_<TreeEmbedder<T>>(m, name)
      .def(
          "__init__",
          [](TreeEmbedder<T>* self, std::size_t n_components, bool convolution, double decay,
             bool normalize, std::uint64_t seed, bool signs) {
            const ComposeBy by = convolution ? ComposeBy::convolution : ComposeBy::product;
            const Components components = signs ? Components::signs : Components::normal;
            new (self) TreeEmbedder<T>(
                EmbeddingSpec{n_components, by, decay, normalize, seed, components});
          },
          nb::arg("n_components"), nb::arg("convolution"), nb::arg("decay"), nb::arg("normalize"),
          nb::arg("seed"), nb::arg("signs"))
      .def_prop_ro("gamma", &TreeEmbedder<T>::gamma)
      .def("embed", &embed<T>, nb::arg("dag"), nb::arg("roots"), nb::arg("max_bytes"),
           nb::arg("n_threads"), nb::arg("progress").none(), nb::arg("out").noconvert());
}

}  // namespace

void bind_embed(nb::module_& m) {
  bind_embedder<float>(m, "TreeEmbedder32");
  bind_embedder<double>(m, "TreeEmbedder64");
}

}  // namespace filbert
