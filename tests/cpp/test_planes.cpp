// Tests cutting planes: every way to store them gives the sums of kernels that they represent.
#include <numeric>

#include "base/errors.hpp"
#include "base/place_map.hpp"
#include "check.hpp"
#include "learn/planes/plane_store.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-10;
constexpr PlaneStorage kStorages[] = {PlaneStorage::lists, PlaneStorage::dags,
                                      PlaneStorage::one_dag};

std::vector<SomeKernel> specs() {
  SomeKernel gaps = partial_tree(0.4, 0.6);
  gaps.penalty = Penalty::gaps;
  SomeKernel short_ones = partial_tree(0.5, 0.4);
  short_ones.max_subsequence = 2;
  return {
      subtree(0.4), subset_tree(0.4, false), subset_tree(0.7, true), partial_tree(0.4, 0.4), gaps,
      short_ones};
}

std::shared_ptr<const TrainingTrees> training(const SomeKernel& spec, const Forest& forest,
                                              bool normalize) {
  return std::make_shared<TrainingTrees>(spec, forest.dag, forest.roots, normalize, 1, Watch{});
}

// The planes that a test makes: sample s is every (s + 2)-nd example, and of it every second one is
// in the plane, with a weight of its own.
struct Step {
  std::vector<std::uint32_t> sample, places;
  std::vector<double> weights;
};

std::vector<Step> steps(std::size_t n, std::size_t n_steps) {
  std::mt19937 random(5);
  std::vector<Step> all(n_steps);
  for (std::size_t s = 0; s < n_steps; ++s) {
    Step& step = all[s];
    for (std::size_t i = s; i < n; i += s + 2) step.sample.push_back(static_cast<unsigned>(i));
    for (std::uint32_t p = 0; p < step.sample.size(); p += 2) {
      step.places.push_back(p);
      step.weights.push_back(below(random, 2001) / 1000.0 - 1.0);
    }
  }
  return all;
}

// A plane as weights of all examples.
std::vector<double> dense(const Step& step, std::size_t n) {
  std::vector<double> weights(n, 0.0);
  for (std::size_t k = 0; k < step.places.size(); ++k) {
    weights[step.sample[step.places[k]]] += step.weights[k];
  }
  return weights;
}

double bilinear(const std::vector<double>& k, const std::vector<double>& a,
                const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum += a[i] * k[i * b.size() + j] * b[j];
  }
  return sum;
}

std::vector<double> shares(std::size_t n) {
  std::vector<double> alpha(n);
  for (std::size_t j = 0; j < n; ++j) alpha[j] = static_cast<double>(j % 3) + 0.25;
  return alpha;
}

// Scores and products of all steps, with planes dropped on the way, against the kernel matrix.
void check_store(PlaneStore& store, const std::vector<double>& k, std::size_t n) {
  std::vector<std::vector<double>> planes;
  for (const Step& step : steps(n, 6)) {
    const std::vector<double> alpha = shares(planes.size());
    const std::vector<double> scores = store.scores(step.sample, alpha, 1, {});
    std::vector<double> w(n, 0.0);
    for (std::size_t j = 0; j < planes.size(); ++j) {
      for (std::size_t i = 0; i < n; ++i) w[i] += alpha[j] * planes[j][i];
    }
    for (std::size_t p = 0; p < step.sample.size(); ++p) {
      std::vector<double> one(n, 0.0);
      one[step.sample[p]] = 1.0;
      CHECK(std::fabs(scores[p] - bilinear(k, w, one)) <= kTolerance * static_cast<double>(n));
    }
    if (planes.size() == 4) {  // between a sample and its plane, as the learner does
      store.keep(std::vector<std::uint32_t>{1, 3});
      planes = {planes[1], planes[3]};
    }
    planes.push_back(dense(step, n));
    const std::vector<double> products = store.add(step.places, step.weights, 1, {});
    CHECK_EQUAL(products.size(), planes.size());
    CHECK_EQUAL(store.size(), planes.size());
    for (std::size_t j = 0; j < planes.size(); ++j) {
      const double expected = bilinear(k, planes[j], planes.back());
      CHECK(std::fabs(products[j] - expected) <= kTolerance * static_cast<double>(n * n));
    }
  }
}

void sums_of_kernels() {
  const std::vector<Tree> trees = random_trees(1, 30, 4, 3);
  const Forest forest = forest_of(trees);
  for (const SomeKernel& spec : specs()) {
    const std::vector<double> k = reference_matrix(spec, trees, trees, true);
    for (const PlaneStorage storage : kStorages) {
      const auto store = make_plane_store(storage, training(spec, forest, true));
      check_store(*store, k, trees.size());
    }
  }
}

void values_without_norms() {
  const std::vector<Tree> trees = random_trees(2, 30, 3, 3);
  const Forest forest = forest_of(trees);
  const SomeKernel spec = subset_tree(0.4);
  const std::vector<double> k = reference_matrix(spec, trees, trees, false);
  double largest = 0.0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    largest = std::max(largest, k[i * trees.size() + i]);
  }
  for (const PlaneStorage storage : kStorages) {
    const auto training_trees = training(spec, forest, false);
    CHECK_NEAR(training_trees->largest_self(), largest, kTolerance);
    check_store(*make_plane_store(storage, training_trees), k, trees.size());
  }
}

void the_same_for_any_number_of_threads() {
  const Forest forest = forest_of(random_trees(3, 200, 5));
  for (const PlaneStorage storage : kStorages) {
    const auto trees = training(partial_tree(0.4, 0.4), forest, true);
    const auto one = make_plane_store(storage, trees);
    const auto three = make_plane_store(storage, trees);
    for (const Step& step : steps(forest.roots.size(), 5)) {
      const std::vector<double> alpha = shares(one->size());
      CHECK(one->scores(step.sample, alpha, 1, {}) == three->scores(step.sample, alpha, 3, {}));
      CHECK(one->add(step.places, step.weights, 1, {}) ==
            three->add(step.places, step.weights, 3, {}));
    }
    CHECK_EQUAL(one->counts().calls, three->counts().calls);
    CHECK_EQUAL(one->counts().computed, three->counts().computed);
  }
}

// (S (A a) (A a) (B b)) and (S (A a) (B b)): the productions S -> A A B and S -> A B, A -> a, B ->
// b.
void calls_of_delta() {
  const Forest forest = read("(S (A a) (A a) (B b)) (S (A a) (B b))");
  const std::vector<std::uint32_t> sample{0, 1}, places{0, 1};
  const std::vector<double> weights{1.0, 1.0};
  const auto calls = [&](PlaneStorage storage) {
    const auto store = make_plane_store(storage, training(subset_tree(0.4), forest, true));
    store->scores(sample, {}, 1, {});
    CHECK_EQUAL(store->counts().calls, 0u);
    store->add(places, weights, 1, {});
    return store->counts();
  };
  // The first tree with itself 1 + 2 * 2 + 1, with the second 2 + 1; the second with itself 3.
  CHECK_EQUAL(calls(PlaneStorage::lists).calls, 12u);
  CHECK_EQUAL(calls(PlaneStorage::lists).computed, 8u);
  // The DAG has four nodes; the first tree calls for four nodes, the second for three.
  CHECK_EQUAL(calls(PlaneStorage::dags).calls, 7u);
  CHECK_EQUAL(calls(PlaneStorage::dags).computed, 6u);
  // Each tree is a part, a DAG of three nodes.
  CHECK_EQUAL(calls(PlaneStorage::one_dag).calls, 6u);
}

void nodes_that_are_stored() {
  const Forest forest = read("(S (A a) (A a) (B b)) (S (A a) (B b))");
  const std::vector<std::uint32_t> sample{0, 1}, places{0, 1};
  const std::vector<double> weights{1.0, 1.0}, alpha{1.0};
  const auto nodes = [&](PlaneStorage storage) {
    const auto store = make_plane_store(storage, training(subset_tree(0.4), forest, true));
    store->scores(sample, {}, 1, {});
    store->add(places, weights, 1, {});
    store->scores(sample, alpha, 1, {});
    store->add(places, weights, 1, {});
    return store->n_nodes();
  };
  CHECK_EQUAL(nodes(PlaneStorage::lists), 14u);
  CHECK_EQUAL(nodes(PlaneStorage::dags), 8u);
  CHECK_EQUAL(nodes(PlaneStorage::one_dag), 4u);
}

// Rows of Delta that are too many to keep are given back on the way. A chain with a branch on every
// node, so that no two nodes are equal.
void rows_given_back() {
  DagBuilder builder;
  const LabelId label = builder.label("A");
  NodeId top = builder.leaf(label);
  const NodeId leaf = top;
  for (int i = 0; i < 1200; ++i) top = builder.node(label, std::vector<NodeId>{top, leaf});
  const NodeId small = builder.node(builder.label("B"), std::vector<NodeId>{leaf});
  const Forest forest{builder.finish(), {top, small}};
  const SomeKernel spec = partial_tree(0.4, 0.4);
  std::vector<double> k(4);
  kernel_matrix(spec, {*forest.dag, forest.roots}, true, 1, {}, k.data());
  const std::vector<std::uint32_t> sample{0, 1}, places{0, 1};
  const std::vector<double> weights{1.0, 0.5}, alpha{2.0};
  for (const PlaneStorage storage : kStorages) {
    const auto store = make_plane_store(storage, training(spec, forest, true));
    store->scores(sample, {}, 1, {});
    const std::vector<double> products = store->add(places, weights, 1, {});
    CHECK_NEAR(products[0], k[0] + k[1] + 0.25 * k[3], kTolerance);
    const std::vector<double> scores = store->scores(sample, alpha, 1, {});
    CHECK_NEAR(scores[0], 2.0 * k[0] + k[1], kTolerance);
    CHECK_NEAR(scores[1], 2.0 * k[2] + k[3], kTolerance);
  }
}

void norms_beyond_range() {
  const Forest forest = doubling_forest(30);
  CHECK_THROWS(KernelOverflow, training(subset_tree(1.0), forest, true));
}

void maps_of_places() {
  PlaceMap map;
  std::mt19937 random(1);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> ids;
    for (int i = 0; i < (round == 1 ? 5000 : 7); ++i) {
      const std::uint32_t id = below(random, 1u << 20);
      const std::uint32_t before = map.size();
      const bool known = map.find(id) != kNone;
      const std::uint32_t place = map.insert(id);
      CHECK_EQUAL(map.size(), known ? before : before + 1);
      CHECK_EQUAL(map.id(place), id);
      ids.push_back(id);
    }
    for (const std::uint32_t id : ids) CHECK_EQUAL(map.id(map.find(id)), id);
    CHECK_EQUAL(map.find(1u << 21), kNone);
    map.clear();
    for (const std::uint32_t id : ids) CHECK_EQUAL(map.find(id), kNone);
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({TEST(sums_of_kernels), TEST(values_without_norms),
                     TEST(the_same_for_any_number_of_threads), TEST(calls_of_delta),
                     TEST(nodes_that_are_stored), TEST(rows_given_back), TEST(norms_beyond_range),
                     TEST(maps_of_places)});
}
