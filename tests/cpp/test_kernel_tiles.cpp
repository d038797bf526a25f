// Tests forests that are too large for one tile (512 trees or 16,384 nodes) or one block of rows
// (64 MB), with any number of threads.
#include <algorithm>
#include <cstring>

#include "check.hpp"
#include "reference_kernels.hpp"
#include "rows/matrix.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Where groups of eight rows and tiles of columns begin and end.
const std::vector<std::size_t> kPlaces{0,   1,   6,   7,   8,    9,    510,  511,  512, 513,
                                       519, 520, 521, 640, 1023, 1024, 1025, 1098, 1099};
constexpr std::size_t kMany = 1100;

const std::vector<Tree>& many_trees() {
  static const std::vector<Tree> trees = random_trees(1, kMany, 4, 3);
  return trees;
}

// The same trees in another forest, in which all ids are different.
Forest many_trees_again() {
  DagBuilder builder;
  std::vector<NodeId> roots(kMany);
  for (std::size_t i = kMany; i-- > 0;) roots[i] = insert(builder, many_trees()[i]);
  return {builder.finish(), roots};
}

void check_places(const SomeKernel& spec, bool normalize, const std::vector<double>& k) {
  std::vector<Tree> trees;
  for (const std::size_t i : kPlaces) trees.push_back(many_trees()[i]);
  const std::vector<double> expected = reference_matrix(spec, trees, trees, normalize);
  std::size_t next = 0;
  for (const std::size_t i : kPlaces) {
    for (const std::size_t j : kPlaces) CHECK_NEAR(k[i * kMany + j], expected[next++], kTolerance);
  }
}

bool all_written(const std::vector<double>& k) {
  return std::none_of(k.begin(), k.end(), [](double value) { return std::isnan(value); });
}

bool all_near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::fabs(x - y) <= kTolerance * std::fmax(x, y);
  });
}

void several_tiles_within() {
  const Forest forest = forest_of(many_trees());
  for (const SomeKernel& spec : some_specs()) {
    for (const bool normalize : {false, true}) {
      const std::vector<double> k = matrix(spec, forest, normalize);
      check_places(spec, normalize, k);
      CHECK(all_written(k));
    }
  }
}

void several_tiles_between() {
  const Forest a = forest_of(many_trees());
  const Forest b = many_trees_again();
  for (const SomeKernel& spec : some_specs()) {
    const std::vector<double> k = matrix(spec, a, b, true);
    check_places(spec, true, k);
    CHECK(all_written(k));
  }
}

void within_equals_between() {
  const Forest forest = forest_of(many_trees());
  for (const SomeKernel& spec : some_specs()) {
    CHECK(all_near(matrix(spec, forest, false), matrix(spec, forest, forest, false)));
  }
}

void threads_change_nothing() {
  const Forest a = forest_of(many_trees());
  Forest b = many_trees_again();
  b.roots.resize(100);
  for (const SomeKernel& spec : some_specs()) {
    const std::vector<double> within = matrix(spec, a, true, 1);
    const std::vector<double> between = matrix(spec, b, a, false, 1);
    for (const int n_threads : {2, 5}) {
      CHECK(same_bits(matrix(spec, a, true, n_threads), within));
      CHECK(same_bits(matrix(spec, b, a, false, n_threads), between));
    }
  }
}

// --- tiles and blocks that are full before they have 512 trees

// A random tree over given leaves: two or three neighbours are joined until one is left.
NodeId join(DagBuilder& builder, std::mt19937& random, std::vector<NodeId> parts,
            std::uint32_t n_labels, std::uint32_t most_children) {
  while (parts.size() > 1) {
    const std::size_t wanted = 2 + below(random, most_children - 1);
    const std::size_t n = std::min<std::size_t>(wanted, parts.size());
    const std::size_t first = below(random, static_cast<std::uint32_t>(parts.size() - n + 1));
    const std::string label(1, static_cast<char>('A' + below(random, n_labels)));
    const NodeId joined = builder.node(builder.label(label), std::span(parts).subspan(first, n));
    parts[first] = joined;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                parts.begin() + static_cast<std::ptrdiff_t>(first + n));
  }
  return parts[0];
}

NodeId large_tree(DagBuilder& builder, std::mt19937& random, std::size_t n_leaves) {
  std::vector<NodeId> leaves;
  while (leaves.size() < n_leaves) {
    leaves.push_back(builder.leaf(builder.label(std::to_string(below(random, 60)))));
  }
  return join(builder, random, leaves, 4, 3);
}

// About 40,000 distinct nodes in 24 trees, one of them larger than a tile may be.
Forest large_trees() {
  DagBuilder builder;
  std::mt19937 random(2);
  std::vector<NodeId> roots;
  for (int i = 0; i < 23; ++i) roots.push_back(large_tree(builder, random, 2000));
  roots.insert(roots.begin() + 10, large_tree(builder, random, 40000));
  return {builder.finish(), roots};
}

void tiles_full_of_nodes() {
  const Forest forest = large_trees();
  const std::size_t n = forest.roots.size();
  CHECK(reachable(*forest.dag, forest.roots).size() > 3 * 16384);
  CHECK(reachable(*forest.dag, std::vector<NodeId>{forest.roots[10]}).size() > 16384);
  for (const SomeKernel& spec : {subtree(0.4), subset_tree(0.4)}) {
    const std::vector<double> k = matrix(spec, forest, false);
    CHECK(same_bits(matrix(spec, forest, false, 1), k));
    for (const std::size_t i : {0, 9, 10, 11, 23}) {
      for (const std::size_t j : {0, 5, 10, 23}) {
        CHECK_NEAR(k[i * n + j], one_value(spec, forest, i, j, false), kTolerance);
      }
    }
  }
}

// Nearly all nodes have the production A -> A A, so that a row of Delta is as wide as the tile.
// Some trees come again, in other blocks of rows.
Forest trees_of_one_production() {
  DagBuilder builder;
  std::mt19937 random(3);
  std::vector<NodeId> roots;
  for (int tree = 0; tree < 24; ++tree) {
    std::vector<NodeId> parts;
    for (int i = 0; i < 160; ++i) {
      const NodeId word = builder.leaf(builder.label(std::to_string(below(random, 100))));
      parts.push_back(builder.node(builder.label("A"), std::vector<NodeId>{word}));
    }
    if (tree % 8 == 7) parts[0] = roots[3];
    roots.push_back(join(builder, random, parts, 1, 2));
  }
  roots.insert(roots.end(), {roots[0], roots[9], roots[3]});
  return {builder.finish(), roots};
}

Tree tree_at(const Dag& dag, NodeId u) {
  Tree tree{std::string(dag.labels().text(dag.label(u))), {}};
  for (const NodeId child : dag.children(u)) tree.children.push_back(tree_at(dag, child));
  return tree;
}

void several_blocks_of_rows() {
  const Forest forest = trees_of_one_production();
  const std::size_t n = forest.roots.size();
  const SomeKernel spec = subset_tree(0.4);
  const std::vector<double> k = matrix(spec, forest, forest, false);
  CHECK(all_near(k, matrix(spec, forest, false)));
  for (const std::size_t i : {0, 7, 8, 15, 25}) {
    for (const std::size_t j : {0, 16, 23, 26}) {
      const Tree a = tree_at(*forest.dag, forest.roots[i]);
      const Tree b = tree_at(*forest.dag, forest.roots[j]);
      CHECK_NEAR(k[i * n + j], reference_kernel(spec, a, b), kTolerance);
    }
  }
  CHECK_NEAR(k[0 * n + 24], k[0 * n + 0], kTolerance);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(several_tiles_within),
      TEST(several_tiles_between),
      TEST(within_equals_between),
      TEST(threads_change_nothing),
      TEST(tiles_full_of_nodes),
      TEST(several_blocks_of_rows),
  });
}
