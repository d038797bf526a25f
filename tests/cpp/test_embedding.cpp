// Tests distributed trees: random vectors, transforms and convolutions against their definitions,
// the steps for a list of trees, and equal bytes on every processor and with any number of threads.
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/rng.hpp"
#include "check.hpp"
#include "embed/embedding.hpp"
#include "embed/sine.hpp"
#include "embed/steps.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

void sines_and_logarithms() {
  constexpr double kTurn = 6.283185307179586;
  for (int i = -4096; i <= 4096; ++i) {
    const double turns = i / 8192.0;
    const SineCosine found = sine_cosine(turns);
    CHECK(std::fabs(found.sine - std::sin(kTurn * turns)) < 2e-15);
    CHECK(std::fabs(found.cosine - std::cos(kTurn * turns)) < 2e-15);
  }
  for (double u = 0x1p-33; u < 1; u = u * 1.01 + 1e-9) {
    CHECK(std::fabs(natural_log(u) - std::log(u)) < 1e-14);
  }
}

template <class T>
std::vector<T> label_vector(std::size_t d, std::uint64_t seed, std::string_view label) {
  std::vector<double> room;
  std::vector<T> values(d);
  LabelVectors(d, seed).write(label, room, values.data());
  return values;
}

void label_vectors() {
  for (const std::size_t d : {1u, 2u, 7u, 128u, 129u, 1000u}) {
    const std::vector<double> a = label_vector<double>(d, 1, "NP");
    CHECK_NEAR(sum_of_squares(a.data(), d), 1.0, 1e-14);
    CHECK(a == label_vector<double>(d, 1, "NP"));
    if (d == 1) continue;
    CHECK(a != label_vector<double>(d, 2, "NP"));
    CHECK(a != label_vector<double>(d, 1, "NPP"));
    const std::vector<float> single = label_vector<float>(d, 1, "NP");
    for (std::size_t i = 0; i < d; ++i) CHECK_EQUAL(single[i], static_cast<float>(a[i]));
  }
}

void signs() {
  for (const std::size_t d : {1u, 63u, 64u, 65u, 1000u}) {
    std::vector<double> room, a(d), other(d);
    const LabelVectors vectors(d, 1, Components::signs);
    vectors.write("NP", room, a.data());
    const double value = 1.0 / std::sqrt(static_cast<double>(d));
    for (const double component : a) CHECK_EQUAL(std::fabs(component), value);
    std::vector<float> single(d);
    vectors.write("NP", room, single.data());
    for (std::size_t i = 0; i < d; ++i) CHECK_EQUAL(single[i], static_cast<float>(a[i]));
    if (d == 1) continue;
    vectors.write("VP", room, other.data());
    CHECK(a != other);
    LabelVectors(d, 2, Components::signs).write("NP", room, other.data());
    CHECK(a != other);
  }
}

void normal_numbers() {
  std::vector<std::uint64_t> counters(2 * kNormalTile);
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = spread(i);
  std::vector<double> found(2 * counters.size()), baseline(found.size());
  normal_writer()(42, counters.data(), counters.size(), found.data());
  baseline_normal_writer()(42, counters.data(), counters.size(), baseline.data());
  CHECK(found == baseline);
}

template <class T>
std::vector<T> composed(const Composition<T>& composition, const std::vector<T>& a,
                        const std::vector<T>& b, const ComposeKernels<T>& kernels) {
  const AlignedArray<T> left = aligned_array<T>(composition.form_size);
  const AlignedArray<T> right = aligned_array<T>(composition.form_size);
  const AlignedArray<T> out = aligned_array<T>(composition.form_size);
  kernels.make_form(composition, a.data(), composition.left_order.data(), left.get());
  kernels.make_form(composition, b.data(), composition.right_order.data(), right.get());
  kernels.compose(composition, left.get(), right.get(), out.get());
  return {out.get(), out.get() + composition.n_components};
}

template <class T>
void check_convolutions(double tolerance) {
  std::vector<std::size_t> sizes(40);
  std::iota(sizes.begin(), sizes.end(), 1u);
  for (const std::size_t d : {64, 100, 128, 129, 256, 300, 512, 777, 1024, 2048})
    sizes.push_back(d);
  for (const std::size_t d : sizes) {
    const Composition<T> composition(d, ComposeBy::convolution, 0.4, d);
    const std::vector<T> a = label_vector<T>(d, 0, "a"), b = label_vector<T>(d, 0, "b");
    const std::vector<T> found = composed(composition, a, b, compose_kernels<T>());
    for (std::size_t k = 0; k < d; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < d; ++i) {
        sum += static_cast<double>(a[composition.left_order[i]]) *
               static_cast<double>(b[composition.right_order[(k + d - i) % d]]);
      }
      CHECK(std::fabs(static_cast<double>(found[k]) - sum) < tolerance);
    }
    CHECK(found == composed(composition, a, b, baseline_compose_kernels<T>()));
  }
}

void convolutions() {
  check_convolutions<float>(1e-6);
  check_convolutions<double>(1e-14);
}

void steps_of_trees() {
  const Forest forest = read("(S (A a) b (A a)) (S (A a) b) (x)");
  const Steps steps(*forest.dag, forest.roots);
  // Five labels; A a, [b (A a)], [(A a) b (A a)], S; [(A a) b], S.
  CHECK_EQUAL(steps.n_items(), 5u + 6u);
  const std::vector<double> counts = steps.frequencies(forest.roots);
  const ItemId first = steps.item_of(forest.roots[0]);
  CHECK(steps.node(first) == forest.roots[0]);
  CHECK(steps.is_label(steps.left(first)));
  const ItemId list = steps.right(first);
  CHECK_EQUAL(steps.node(list), kNone);
  const ItemId a = steps.left(list);
  CHECK(steps.node(a) != kNone);
  CHECK_EQUAL(counts[a], 3.0);
  CHECK_EQUAL(steps.right(steps.right(list)), a);
  CHECK(steps.needs_left(a) && steps.needs_right(a) && steps.needs_vector(a));
  CHECK_EQUAL(steps.n_vectors(first), 1u);
  CHECK_EQUAL(steps.n_vectors(list), 1u);
  CHECK(steps.is_label(steps.item_of(forest.roots[2])));
  for (ItemId item = 0; item < steps.n_items(); ++item) {
    steps.for_each_source(*forest.dag, item, [&](ItemId source) {
      CHECK(source < item);
      CHECK(counts[source] >= counts[item]);
    });
  }
}

template <class T>
void check_same_bytes() {
  const Forest forest = forest_of(random_trees(5, 80, 6));
  for (const ComposeBy by : {ComposeBy::convolution, ComposeBy::product}) {
    EmbeddingSpec spec;
    spec.n_components = 48;
    spec.by = by;
    const TreeEmbedder<T> embedder(spec);
    std::vector<T> expected(forest.roots.size() * spec.n_components);
    CHECK_EQUAL(embedder.embed(*forest.dag, forest.roots, 1u << 30, 1, {}, expected.data()),
                TreeEmbedder<T>::kFinite);
    for (const std::size_t bytes : {0u, 10'000u, 100'000u}) {
      for (const int n_threads : {1, 3}) {
        std::vector<T> values(expected.size());
        embedder.embed(*forest.dag, forest.roots, bytes, n_threads, {}, values.data());
        CHECK(std::memcmp(values.data(), expected.data(), values.size() * sizeof(T)) == 0);
      }
    }
  }
}

void same_bytes() {
  check_same_bytes<float>();
  check_same_bytes<double>();
}

void too_large() {
  const Forest forest = doubling_forest(200);
  const std::vector<NodeId> roots{0, forest.roots[0]};
  EmbeddingSpec spec;
  spec.n_components = 16;
  spec.decay = 1.0;
  spec.normalize = false;
  std::vector<float> values(32);
  CHECK_EQUAL(TreeEmbedder<float>(spec).embed(*forest.dag, roots, 1u << 20, 2, {}, values.data()),
              1u);
  spec.normalize = true;
  CHECK_EQUAL(TreeEmbedder<float>(spec).embed(*forest.dag, roots, 1u << 20, 2, {}, values.data()),
              TreeEmbedder<float>::kFinite);
  CHECK_NEAR(sum_of_squares(values.data() + 16, 16), 1.0, 1e-5);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(sines_and_logarithms),
      TEST(label_vectors),
      TEST(signs),
      TEST(normal_numbers),
      TEST(convolutions),
      TEST(steps_of_trees),
      TEST(same_bytes),
      TEST(too_large),
  });
}
