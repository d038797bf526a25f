// Tests maps between the ids of forests that were built separately, and the union of such forests.
#include <algorithm>
#include <utility>

#include "check.hpp"
#include "forest/align.hpp"
#include "forest/productions.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

struct TwoForests {
  std::vector<Tree> trees_a = random_trees(1, 300, 5);
  std::vector<Tree> trees_b = random_trees(2, 40, 5);
  Forest a, b;

  TwoForests() {
    for (std::size_t i = 0; i < 20; ++i) trees_b.push_back(trees_a[7 * i]);
    trees_b.push_back({"only in b", {{"A", {}}}});
    std::reverse(trees_b.begin(), trees_b.end());  // ids in another order
    a = forest_of(trees_a);
    b = forest_of(trees_b);
  }
};

void labels_map_by_text() {
  const Forest a = read("(S (N x) y)");
  const Forest b = read("(y (S z) N)");
  const std::vector<LabelId> map = map_labels(*a.dag, *b.dag);
  CHECK_EQUAL(map.size(), a.dag->labels().size());
  for (LabelId label = 0; label < map.size(); ++label) {
    const std::string_view text = a.dag->labels().text(label);
    CHECK_EQUAL(map[label] == kNone, text == "x");
    if (map[label] != kNone) CHECK_EQUAL(b.dag->labels().text(map[label]), text);
  }
}

void productions_map_by_labels() {
  const Forest a = read("(S (N x) y) (S y N) (T y) (N y)");
  const Forest b = read("(z (N y)) (S (N z) (y y)) (z x T)");
  const std::vector<std::uint32_t> map = map_productions(*a.dag, *b.dag);
  const auto of = [&](std::size_t tree) { return map[a.dag->productions().of(a.roots[tree])]; };
  CHECK_EQUAL(map.size(), 5);
  CHECK_EQUAL(of(0), b.dag->productions().of(b.roots[1]));
  CHECK_EQUAL(of(1), kNone);
  CHECK_EQUAL(of(2), kNone);
  CHECK_EQUAL(of(3), b.dag->productions().of(b.dag->children(b.roots[0])[0]));
}

void check_nodes_map(const Forest& from, const Forest& to) {
  const std::vector<NodeId> nodes = reachable(*from.dag, from.roots);
  const std::vector<NodeId> map = map_nodes(*from.dag, *to.dag, nodes);
  std::vector<std::string> known = written(*to.dag, reachable(*to.dag, to.roots));
  std::sort(known.begin(), known.end());
  CHECK_EQUAL(map.size(), from.dag->size());
  for (const NodeId u : nodes) {
    const std::string text = to_brackets(*from.dag, u);
    const bool is_known = std::binary_search(known.begin(), known.end(), text);
    CHECK_EQUAL(map[u] != kNone, is_known);
    if (map[u] != kNone) CHECK_EQUAL(to_brackets(*to.dag, map[u]), text);
  }
}

void nodes_map_by_subtrees() {
  const TwoForests two;
  check_nodes_map(two.a, two.b);
  check_nodes_map(two.b, two.a);
  check_nodes_map(two.a, two.a);
}

void only_the_listed_nodes_are_mapped() {
  const Forest a = read("(S (N x)) (T y)");
  const std::vector<NodeId> part{a.roots[0]};
  const std::vector<NodeId> map = map_nodes(*a.dag, *a.dag, reachable(*a.dag, part));
  CHECK_EQUAL(map[a.roots[0]], a.roots[0]);
  CHECK_EQUAL(map[a.roots[1]], kNone);
}

void check_merged(const Forest& first, const Forest& second) {
  std::vector<NodeId> roots_first = first.roots;
  std::vector<NodeId> roots_second = second.roots;
  const auto both = merge(*first.dag, roots_first, *second.dag, roots_second);
  CHECK(written(*both, roots_first) == written(*first.dag, first.roots));
  CHECK(written(*both, roots_second) == written(*second.dag, second.roots));
  const bool first_is_larger = first.dag->size() >= second.dag->size();
  CHECK((first_is_larger ? roots_first == first.roots : roots_second == second.roots));
  for (NodeId u = 0; u < both->size(); ++u) {
    for (const NodeId child : both->children(u)) CHECK(child < u);
  }
}

void merging_in_both_orders() {
  const TwoForests two;
  check_merged(two.a, two.b);
  check_merged(two.b, two.a);
  check_merged(two.a, two.a);
}

void merging_shares_subtrees() {
  const Forest a = read("(S (N x) (V y))");
  const Forest b = read("(T (V y)) (S (N x) (V y))");
  std::vector<NodeId> roots_a = a.roots;
  std::vector<NodeId> roots_b = b.roots;
  const auto both = merge(*a.dag, roots_a, *b.dag, roots_b);
  CHECK_EQUAL(both->size(), 6);  // x N y V S and T
  CHECK_EQUAL(roots_a[0], roots_b[1]);
}

void merging_with_nothing() {
  const Forest a = read("(S x)");
  check_merged(a, Forest{DagBuilder().finish(), {}});
  check_merged(Forest{DagBuilder().finish(), {}}, a);
}

// Of the smaller forest only what its roots reach is added.
void merging_a_part() {
  const Forest a = read("(S (N x) (V y)) (S x) (S y)");
  const Forest b = read("(T a) (U b)");
  std::vector<NodeId> roots_a = a.roots;
  std::vector<NodeId> roots_b{b.roots[1]};
  const auto both = merge(*a.dag, roots_a, *b.dag, roots_b);
  CHECK_EQUAL(both->size(), a.dag->size() + 2);
  CHECK_EQUAL(both->labels().find("T"), kNone);
  CHECK_EQUAL(to_brackets(*both, roots_b[0]), "(U b)");
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(labels_map_by_text),
      TEST(productions_map_by_labels),
      TEST(nodes_map_by_subtrees),
      TEST(only_the_listed_nodes_are_mapped),
      TEST(merging_in_both_orders),
      TEST(merging_shares_subtrees),
      TEST(merging_with_nothing),
      TEST(merging_a_part),
  });
}
