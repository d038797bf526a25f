// Tests labels, the builder, the tables that a Dag derives, extracted parts of a Dag, and arrays
// from a file.
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <thread>

#include "base/errors.hpp"
#include "check.hpp"
#include "forest/dag.hpp"
#include "forest/occurrences.hpp"
#include "forest/productions.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

using Ids = std::vector<std::uint32_t>;

// --- labels

void labels_have_one_id() {
  LabelTable labels;
  CHECK_EQUAL(labels.intern("NP"), 0);
  CHECK_EQUAL(labels.intern("VP"), 1);
  CHECK_EQUAL(labels.intern("NP"), 0);
  CHECK_EQUAL(labels.find("VP"), 1);
  CHECK_EQUAL(labels.find("V"), kNone);
  CHECK_EQUAL(labels.find(""), kNone);
  CHECK_EQUAL(labels.text(1), "VP");
  CHECK_EQUAL(labels.size(), 2);
}

// Every length from 1 to 40, and for each the same text with one letter changed anywhere.
void similar_labels_differ() {
  LabelTable labels;
  std::set<std::string> texts;
  for (std::size_t length = 1; length <= 40; ++length) {
    texts.insert(std::string(length, 'x'));
    for (std::size_t i = 0; i < length; ++i) {
      std::string text(length, 'x');
      text[i] = 'y';
      texts.insert(text);
    }
  }
  for (const std::string& text : texts) labels.intern(text);
  CHECK_EQUAL(labels.size(), texts.size());
  for (const std::string& text : texts) CHECK_EQUAL(labels.text(labels.find(text)), text);
}

std::string text_of(std::uint64_t word) {
  std::string text(8, ' ');
  std::memcpy(text.data(), &word, 8);
  return text;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) > 0; });
}

// Labels that begin with the same letters, of which the last eight bytes are the hash so far of
// those before: with this seed, hash_bytes gives 0 for all of them.
std::vector<std::string> labels_with_hash_zero(std::size_t n, const std::string& begin,
                                               HashSeed seed = hash_seed) {
  std::vector<std::string> labels;
  std::mt19937 random(1);
  while (labels.size() < n) {
    std::string label = begin;
    for (int i = 0; i < 8; ++i) label += static_cast<char>('a' + below(random, 26));
    std::uint64_t hash = mix(first_eight(label) ^ seed.a, seed.b + label.size() + 8);
    for (std::size_t i = 8; i < label.size(); i += 8) {
      hash = mix(hash ^ first_eight(label.substr(i)), seed.a);
    }
    label += text_of(hash);
    if (is_ascii(label)) labels.push_back(label);
  }
  return labels;
}

void colliding_labels_differ() {
  for (const char* begin : {"", "the same"}) {
    const std::vector<std::string> texts = labels_with_hash_zero(300, begin);
    LabelTable labels;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK_EQUAL(hash_bytes(texts[i]), 0);
      CHECK_EQUAL(labels.find(texts[i]), kNone);
      CHECK_EQUAL(labels.intern(texts[i]), i);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK_EQUAL(labels.find(texts[i]), i);
  }
}

// Who knows the source but not the numbers of this process cannot make labels with equal hashes.
void labels_cannot_be_made_to_collide() {
  std::set<std::uint64_t> hashes;
  for (const std::string& text : labels_with_hash_zero(300, "the same", {kHashA, kHashB})) {
    hashes.insert(hash_bytes(text) >> 32);
  }
  CHECK(hashes.size() >= 299);  // two of 300 may share 32 bits by chance
}

// Of so many labels some pairs share the 32 bits of the hash that the table keeps.
void many_short_labels_differ() {
  std::set<std::string> texts;
  std::mt19937 random(2);
  while (texts.size() < 300000) {
    std::string text(6 + below(random, 3), ' ');
    for (char& letter : text) letter = static_cast<char>('a' + below(random, 26));
    texts.insert(text);
  }
  LabelTable labels;
  for (const std::string& text : texts) labels.intern(text);
  CHECK_EQUAL(labels.size(), texts.size());
}

void good_utf8() {
  LabelTable labels;
  for (const char* text :
       {"a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "( )\\\n", "\xE6\x9C\xA8"}) {
    CHECK_EQUAL(labels.text(labels.intern(text)), text);
  }
}

void bad_labels_are_refused() {
  using std::string_view_literals::operator""sv;
  LabelTable labels;
  for (const std::string_view text : {""sv,
                                      "\0"sv,
                                      "a\0b"sv,
                                      "\x80"sv,
                                      "\xBF"sv,
                                      "\xC0\x80"sv,
                                      "\xC1\xBF"sv,
                                      "\xC2"sv,
                                      "\xC2z"sv,
                                      "\xE0\x9F\xBF"sv,
                                      "\xED\xA0\x80"sv,
                                      "\xE1\x80"sv,
                                      "\xE1\x80z"sv,
                                      "\xF0\x8F\xBF\xBF"sv,
                                      "\xF4\x90\x80\x80"sv,
                                      "\xF5\x80\x80\x80"sv,
                                      "\xF1\x80\x80"sv,
                                      "\xF1\x80\x80z"sv,
                                      "\xFF"sv,
                                      "abcdefgh\xFF"sv}) {
    CHECK_THROWS(InvalidLabel, labels.intern(text));
    CHECK_EQUAL(labels.find(text), kNone);
  }
  CHECK_EQUAL(labels.size(), 0);
}

// --- builder

void children_come_before_parents(const Dag& dag) {
  for (NodeId u = 0; u < dag.size(); ++u) {
    for (const NodeId child : dag.children(u)) CHECK(child < u);
  }
}

void equal_subtrees_are_shared() {
  const Forest forest = read("(S (N a) (N a)) (T (N a) a) (S (N a) (N a))");
  CHECK_EQUAL(forest.dag->size(), 4);  // a, (N a), S and T
  CHECK_EQUAL(forest.dag->n_edges(), 5);
  CHECK_EQUAL(forest.dag->labels().size(), 4);
  CHECK_EQUAL(forest.roots[0], forest.roots[2]);
  CHECK(forest.roots[0] != forest.roots[1]);
  children_come_before_parents(*forest.dag);
}

void leaves_are_found_both_ways() {
  DagBuilder builder;
  const LabelId a = builder.label("a");
  const LabelId b = builder.label("b");
  const NodeId leaf_a = builder.leaf(a);
  CHECK_EQUAL(builder.node(a, {}), leaf_a);
  const NodeId leaf_b = builder.node(b, {});
  CHECK_EQUAL(builder.leaf(b), leaf_b);
  CHECK_EQUAL(builder.size(), 2);
}

// Label, number and order of children all matter.
void different_nodes_differ() {
  const Forest forest = read("(A b c) (A c b) (A b) (A b b) (A b b b) (B b c) (A (b c))");
  const std::set<NodeId> distinct(forest.roots.begin(), forest.roots.end());
  CHECK_EQUAL(distinct.size(), 7);
}

void random_trees_come_back() {
  const std::vector<Tree> trees = random_trees(1, 2000, 5);
  const Forest forest = forest_of(trees);
  children_come_before_parents(*forest.dag);
  for (std::size_t i = 0; i + 1 < trees.size(); ++i) {
    CHECK_EQUAL(forest.roots[i] == forest.roots[i + 1], trees[i] == trees[i + 1]);
  }
  const Forest again = forest_of(trees);
  CHECK(again.roots == forest.roots);
  CHECK(written(*again.dag, again.roots) == written(*forest.dag, forest.roots));
}

void a_builder_can_be_used_again() {
  DagBuilder builder;
  builder.leaf(builder.label("a"));
  const auto first = builder.finish();
  CHECK_EQUAL(builder.size(), 0);
  CHECK_EQUAL(builder.label("b"), 0);
  CHECK_EQUAL(builder.leaf(0), 0);
  const auto second = builder.finish();
  CHECK_EQUAL(to_brackets(*first, 0), "(a)");
  CHECK_EQUAL(to_brackets(*second, 0), "(b)");
}

void a_builder_can_start_from_a_forest() {
  const Forest forest = read("(S (N a) b)");
  DagBuilder builder(*forest.dag);
  CHECK_EQUAL(builder.size(), forest.dag->size());
  CHECK_EQUAL(insert(builder, {"S", {{"N", {{"a", {}}}}, {"b", {}}}}), forest.roots[0]);
  CHECK_EQUAL(builder.leaf(builder.label("b")),
              forest.dag->find(forest.dag->labels().find("b"), {}));
  CHECK_EQUAL(builder.leaf(builder.label("S")), forest.dag->size());
  const NodeId added = insert(builder, {"S", {{"N", {{"a", {}}}}, {"c", {}}}});
  const auto larger = builder.finish();
  CHECK_EQUAL(to_brackets(*larger, forest.roots[0]), "(S (N a) b)");
  CHECK_EQUAL(to_brackets(*larger, added), "(S (N a) c)");
  CHECK_EQUAL(to_brackets(*forest.dag, forest.roots[0]), "(S (N a) b)");
}

// Two more children whose ids are the hash so far: hash_ids gives 0. Such ids are beyond the
// forest's size, which the builder does not mind as long as nobody looks at the children.
Ids children_with_hash_zero(std::uint32_t label, std::uint32_t first_child) {
  const std::uint64_t start = mix(label ^ hash_seed.a, hash_seed.b + 4);
  const std::uint64_t hash = mix(start ^ first_child, hash_seed.a);
  return {first_child, 0, static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
}

void colliding_nodes_differ() {
  DagBuilder builder;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Ids children = children_with_hash_zero(i / 100, i);
    CHECK_EQUAL(hash_ids(i / 100, children), 0);
    CHECK_EQUAL(builder.node(i / 100, children), i);
  }
  const auto dag = builder.finish();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    CHECK_EQUAL(dag->find(i / 100, children_with_hash_zero(i / 100, i)), i);
    CHECK_EQUAL(dag->find(i / 100, children_with_hash_zero(i / 100, i + 1000)), kNone);
  }
}

// Of so many nodes, and productions, some pairs share the 32 bits of the hash that a table keeps.
void many_nodes_differ() {
  constexpr std::uint32_t kLeaves = 1000;
  constexpr std::uint32_t kNodes = 300000;
  std::mt19937 random(3);
  DagBuilder builder;
  for (std::uint32_t i = 0; i < kLeaves; ++i) builder.leaf(builder.label(std::to_string(i)));
  std::set<Ids> distinct;
  while (distinct.size() < kNodes) {
    Ids children(5);
    for (NodeId& child : children) child = below(random, kLeaves);
    if (!distinct.insert(children).second) continue;
    CHECK_EQUAL(builder.node(0, children), kLeaves + distinct.size() - 1);
  }
  const auto dag = builder.finish();
  CHECK_EQUAL(dag->size(), kLeaves + kNodes);
  CHECK_EQUAL(dag->productions().size(), kNodes);
  for (std::uint32_t p = 0; p < kNodes; ++p) {
    CHECK_EQUAL(dag->productions().example(p), kLeaves + p);
  }
}

// --- what a Dag derives

void find_looks_at_everything() {
  const Forest forest = read("(S a b)");
  const Dag& dag = *forest.dag;
  const LabelId s = dag.labels().find("S");
  const NodeId a = dag.find(dag.labels().find("a"), {});
  const NodeId b = dag.find(dag.labels().find("b"), {});
  CHECK_EQUAL(dag.find(s, Ids{a, b}), forest.roots[0]);
  CHECK_EQUAL(dag.find(s, Ids{b, a}), kNone);
  CHECK_EQUAL(dag.find(s, Ids{a}), kNone);
  CHECK_EQUAL(dag.find(s, Ids{a, b, b}), kNone);
  CHECK_EQUAL(dag.find(s, {}), kNone);
  CHECK_EQUAL(dag.find(kNone, Ids{a, b}), kNone);
}

// Whether a child is a leaf does not matter; a leaf has no production.
void productions_are_labels() {
  const Forest forest = read("(A b c) (A (b x) c) (A (b y) (c y)) (A c b) (A b)\nb");
  const Productions& productions = forest.dag->productions();
  const auto of = [&](std::size_t tree) { return productions.of(forest.roots[tree]); };
  CHECK_EQUAL(of(0), of(1));
  CHECK_EQUAL(of(0), of(2));
  CHECK(of(3) != of(0));
  CHECK(of(4) != of(0));
  CHECK_EQUAL(of(5), kNone);
  CHECK_EQUAL(productions.size(), 6);  // three of A; b -> x, b -> y and c -> y
  CHECK_EQUAL(productions.example(of(2)), forest.roots[0]);
  CHECK_EQUAL(productions.of_nodes().size(), forest.dag->size());
}

void productions_can_be_looked_up() {
  const Forest forest = read("(A b c) (A (b x) c)");
  const Dag& dag = *forest.dag;
  const auto id = [&](const char* label) { return dag.labels().find(label); };
  const Productions& p = dag.productions();
  CHECK_EQUAL(p.find(dag, id("A"), Ids{id("b"), id("c")}), p.of(forest.roots[0]));
  CHECK_EQUAL(p.find(dag, id("b"), Ids{id("x")}), p.of(dag.children(forest.roots[1])[0]));
  CHECK_EQUAL(p.find(dag, id("A"), Ids{id("c"), id("b")}), kNone);
  CHECK_EQUAL(p.find(dag, id("A"), Ids{id("b")}), kNone);
  CHECK_EQUAL(p.find(dag, id("b"), {}), kNone);
}

void sizes_and_depths() {
  const Forest forest = read("a\n(N a) (S (N a) (N a) b) (S (S (S a)))");
  const std::vector<std::uint64_t> sizes{1, 2, 6, 4};
  const std::vector<std::uint32_t> depths{1, 2, 3, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_EQUAL(forest.dag->sizes()[forest.roots[i]], sizes[i]);
    CHECK_EQUAL(forest.dag->depths()[forest.roots[i]], depths[i]);
  }
}

void sizes_saturate() {
  const Forest forest = doubling_forest(100);
  const std::vector<std::uint64_t>& sizes = forest.dag->sizes();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (NodeId u = 0; u < 63; ++u) CHECK_EQUAL(sizes[u], (std::uint64_t{2} << u) - 1);
  for (NodeId u = 63; u < 100; ++u) CHECK_EQUAL(sizes[u], most);
  CHECK_EQUAL(forest.dag->depths()[99], 100);
}

// Wrapped around, twice the largest number and one would be the largest number again; thrice not.
void sums_of_saturated_sizes() {
  DagBuilder builder(*doubling_forest(100).dag);
  const NodeId three = builder.node(0, Ids{99, 99, 99});
  const NodeId mixed = builder.node(0, Ids{0, 99, 0, 5});
  const auto dag = builder.finish();
  CHECK_EQUAL(dag->sizes()[three], std::numeric_limits<std::uint64_t>::max());
  CHECK_EQUAL(dag->sizes()[mixed], std::numeric_limits<std::uint64_t>::max());
}

// Everything const may be asked by several threads at once.
void derived_tables_from_many_threads() {
  const Forest forest = forest_of(random_trees(2, 200, 5));
  const Dag& dag = *forest.dag;
  std::vector<const Productions*> seen(8);
  std::vector<std::thread> threads;
  for (const Productions*& mine : seen) {
    threads.emplace_back([&dag, &mine] {
      mine = &dag.productions();
      dag.sizes();
      dag.depths();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Productions* one : seen) CHECK_EQUAL(one, seen[0]);
}

void memory_from_another_thread() {
  const Forest forest = forest_of(random_trees(3, 2000, 6));
  const Dag& dag = *forest.dag;
  std::size_t before = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) before = dag.memory();
  });
  dag.productions();
  dag.sizes();
  dag.depths();
  other.join();
  CHECK(before > 0);
}

void memory_grows_with_derived_tables() {
  const Forest forest = forest_of(random_trees(4, 100, 4));
  const Dag& dag = *forest.dag;
  const std::size_t before = dag.memory();
  CHECK(before >= dag.size() * 8 + dag.n_edges() * 4);
  dag.sizes();
  dag.depths();
  CHECK_EQUAL(dag.memory(), before + dag.size() * 12);
  dag.productions();
  CHECK(dag.memory() > before + dag.size() * 12);
}

// --- parts

void reachable_nodes() {
  const Forest forest = read("(S (N a) b) (T b c) (U (N a))");
  const Dag& dag = *forest.dag;
  CHECK(reachable(dag, {}).empty());
  CHECK_EQUAL(reachable(dag, forest.roots).size(), dag.size());
  const std::vector<NodeId> first = reachable(dag, Ids{forest.roots[0], forest.roots[0]});
  CHECK_EQUAL(first.size(), 4);
  CHECK(std::is_sorted(first.begin(), first.end()));
  const std::vector<NodeId> both = reachable(dag, Ids{forest.roots[2], forest.roots[1]});
  CHECK_EQUAL(both.size(), 6);  // a N U and b c T
  CHECK(std::find(both.begin(), both.end(), forest.roots[0]) == both.end());
}

void extracting_trees() {
  const Forest forest = forest_of(random_trees(5, 300, 5));
  std::vector<NodeId> roots;
  for (std::size_t i = 0; i < 300; i += 7) roots.push_back(forest.roots[299 - i]);
  roots.push_back(roots.front());
  const auto expected = written(*forest.dag, roots);
  const std::size_t n_reachable = reachable(*forest.dag, roots).size();
  const auto part = extract(*forest.dag, roots);
  CHECK(written(*part, roots) == expected);
  CHECK_EQUAL(part->size(), n_reachable);
  children_come_before_parents(*part);
}

void extracting_leaves_other_labels_behind() {
  Forest forest = read("(S a) (T b)");
  std::vector<NodeId> roots{forest.roots[1]};
  const auto part = extract(*forest.dag, roots);
  CHECK_EQUAL(part->size(), 2);
  CHECK_EQUAL(part->labels().size(), 2);
  CHECK_EQUAL(part->labels().find("S"), kNone);
  std::vector<NodeId> none;
  CHECK_EQUAL(extract(*forest.dag, none)->size(), 0);
}

// --- occurrences

Ids all_in_one_class(const Dag& dag) { return Ids(dag.size(), 0); }

void occurrences_are_counted() {
  const Forest forest = read("(S (N a) (N a) a)\na\n(T (S (N a) (N a) a) b b)");
  const Dag& dag = *forest.dag;
  const Occurrences x = count_occurrences(dag, forest.roots, all_in_one_class(dag));
  CHECK_EQUAL(x.n_trees(), 3);
  const auto count = [&](std::size_t tree, const char* brackets) -> std::uint32_t {
    for (std::size_t i = 0; i < x.nodes_of(tree).size(); ++i) {
      if (to_brackets(dag, x.nodes_of(tree)[i]) == brackets) return x.counts_of(tree)[i];
    }
    return 0;
  };
  CHECK_EQUAL(count(0, "(S (N a) (N a) a)"), 1);
  CHECK_EQUAL(count(0, "(N a)"), 2);
  CHECK_EQUAL(count(0, "(a)"), 3);
  CHECK_EQUAL(x.nodes_of(1).size(), 1);
  CHECK_EQUAL(count(1, "(a)"), 1);
  CHECK_EQUAL(x.nodes_of(2).size(), 5);
  CHECK_EQUAL(count(2, "(N a)"), 2);
  CHECK_EQUAL(count(2, "(b)"), 2);
}

void occurrences_add_up_to_sizes() {
  const Forest forest = forest_of(random_trees(6, 500, 6));
  const Occurrences x = count_occurrences(*forest.dag, forest.roots, all_in_one_class(*forest.dag));
  for (std::size_t tree = 0; tree < 500; ++tree) {
    std::uint64_t total = 0;
    for (const std::uint32_t count : x.counts_of(tree)) total += count;
    CHECK_EQUAL(total, forest.dag->sizes()[forest.roots[tree]]);
    const auto nodes = x.nodes_of(tree);
    CHECK(std::is_sorted(nodes.begin(), nodes.end()));
  }
}

void nodes_without_a_class_are_left_out() {
  const Forest forest = read("(S (N a) (N a))");
  Ids class_of(forest.dag->size(), kNone);
  class_of[forest.dag->children(forest.roots[0])[0]] = 5;
  const Occurrences x = count_occurrences(*forest.dag, forest.roots, class_of);
  CHECK_EQUAL(x.nodes.size(), 1);
  CHECK_EQUAL(x.counts[0], 2);
}

void no_trees_no_occurrences() {
  const Forest forest = read("a");
  const Occurrences x = count_occurrences(*forest.dag, {}, all_in_one_class(*forest.dag));
  CHECK_EQUAL(x.n_trees(), 0);
  CHECK(x.nodes.empty());
}

void large_counts() {
  const Forest forest = doubling_forest(32);
  const Occurrences x = count_occurrences(*forest.dag, forest.roots, all_in_one_class(*forest.dag));
  for (NodeId u = 0; u < 32; ++u) CHECK_EQUAL(x.counts[u], std::uint32_t{1} << (31 - u));
}

void counts_beyond_32_bits_are_an_error() {
  for (const std::size_t n : {33, 34, 65, 66, 100, 1000}) {
    const Forest forest = doubling_forest(n);
    const auto error = check::caught<CapacityError>([&] {
      count_occurrences(*forest.dag, Ids{0, forest.roots[0]}, all_in_one_class(*forest.dag));
    });
    CHECK(error && std::string(error->what()).starts_with("tree 1 "));
  }
}

// --- arrays

struct Arrays {
  std::string label_bytes = "SNab";
  std::vector<std::uint64_t> label_ends{1, 2, 3, 4};
  Ids node_labels{2, 1, 3, 0};  // a, (N a), b, (S (N a) b)
  std::vector<std::uint64_t> child_ends{0, 1, 1, 3};
  Ids children{0, 1, 2};
  Ids roots{3};

  std::shared_ptr<const Dag> load() {
    return from_arrays({label_bytes, label_ends, node_labels, child_ends, children}, roots);
  }
};

void arrays_make_a_forest() {
  Arrays arrays;
  const auto dag = arrays.load();
  CHECK_EQUAL(to_brackets(*dag, arrays.roots[0]), "(S (N a) b)");
  CHECK_EQUAL(dag->size(), 4);
  Arrays none{"", {}, {}, {}, {}, {}};
  CHECK_EQUAL(none.load()->size(), 0);
}

void equal_nodes_in_arrays_are_shared() {
  Arrays arrays;
  arrays.label_bytes = "SNaa";
  arrays.roots = {3, 2, 0};
  const auto dag = arrays.load();
  CHECK_EQUAL(dag->size(), 3);
  CHECK_EQUAL(dag->labels().size(), 3);
  CHECK_EQUAL(to_brackets(*dag, arrays.roots[0]), "(S (N a) a)");
  CHECK_EQUAL(arrays.roots[1], arrays.roots[2]);
}

template <class Damage>
void check_refused(const Damage& damage) {
  Arrays arrays;
  damage(arrays);
  CHECK_THROWS(InvalidForest, arrays.load());
}

void damaged_labels_are_refused() {
  check_refused([](Arrays& a) { a.label_ends[3] = 5; });
  check_refused([](Arrays& a) { a.label_ends[1] = ~std::uint64_t{0}; });
  check_refused([](Arrays& a) { a.label_ends[1] = 0; });
  check_refused([](Arrays& a) { a.label_ends[1] = 1; });  // an empty label
  check_refused([](Arrays& a) { a.label_bytes = "SN"; });
  check_refused([](Arrays& a) { a.label_bytes[2] = '\0'; });
  check_refused([](Arrays& a) { a.label_bytes[2] = '\xC3'; });
  check_refused([](Arrays& a) { a.label_ends.pop_back(); });
}

void damaged_nodes_are_refused() {
  check_refused([](Arrays& a) { a.node_labels[0] = 4; });
  check_refused([](Arrays& a) { a.node_labels[0] = kNone; });
  check_refused([](Arrays& a) { a.node_labels.pop_back(); });
  check_refused([](Arrays& a) { a.node_labels.push_back(0); });
  check_refused([](Arrays& a) { a.child_ends.clear(); });
  check_refused([](Arrays& a) { a.child_ends[3] = 4; });
  check_refused([](Arrays& a) { a.child_ends[3] = ~std::uint64_t{0}; });
  check_refused([](Arrays& a) { a.child_ends[2] = 0; });
  check_refused([](Arrays& a) { a.child_ends[0] = 1; });  // the first node as its own child
  check_refused([](Arrays& a) { a.children.pop_back(); });
  check_refused([](Arrays& a) { a.children[2] = 3; });
  check_refused([](Arrays& a) { a.children[0] = kNone; });
}

void damaged_roots_are_refused() {
  check_refused([](Arrays& a) { a.roots = {4}; });
  check_refused([](Arrays& a) { a.roots = {0, kNone}; });
}

Arrays arrays_of(const Forest& forest) {
  Arrays arrays{"", {}, {}, {}, {}, forest.roots};
  for (LabelId label = 0; label < forest.dag->labels().size(); ++label) {
    arrays.label_bytes += forest.dag->labels().text(label);
    arrays.label_ends.push_back(arrays.label_bytes.size());
  }
  for (NodeId u = 0; u < forest.dag->size(); ++u) {
    arrays.node_labels.push_back(forest.dag->label(u));
    for (const NodeId child : forest.dag->children(u)) arrays.children.push_back(child);
    arrays.child_ends.push_back(arrays.children.size());
  }
  return arrays;
}

void arrays_come_back() {
  const Forest forest = forest_of(random_trees(7, 200, 5));
  Arrays arrays = arrays_of(forest);
  const auto dag = arrays.load();
  CHECK(arrays.roots == forest.roots);  // nothing to share: the same numbers
  CHECK(written(*dag, arrays.roots) == written(*forest.dag, forest.roots));
}

template <class Number>
void change_one(std::mt19937& random, std::vector<Number>& numbers) {
  if (!numbers.empty()) numbers[random() % numbers.size()] = static_cast<Number>(random() % 40);
}

// Whatever the damage: either InvalidForest, or a forest that can be gone through.
void random_damage() {
  const Arrays whole = arrays_of(forest_of(random_trees(8, 4, 4)));
  std::mt19937 random(9);
  for (int i = 0; i < 5000; ++i) {
    Arrays arrays = whole;
    switch (random() % 5) {
      case 0: change_one(random, arrays.label_ends); break;
      case 1: change_one(random, arrays.node_labels); break;
      case 2: change_one(random, arrays.child_ends); break;
      case 3: change_one(random, arrays.children); break;
      default: change_one(random, arrays.roots);
    }
    try {
      const auto dag = arrays.load();
      for (const NodeId root : arrays.roots) CHECK(!to_brackets(*dag, root, 1000).empty());
      children_come_before_parents(*dag);
    } catch (const InvalidForest&) {
    }
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(labels_have_one_id),
      TEST(similar_labels_differ),
      TEST(colliding_labels_differ),
      TEST(labels_cannot_be_made_to_collide),
      TEST(many_short_labels_differ),
      TEST(good_utf8),
      TEST(bad_labels_are_refused),
      TEST(equal_subtrees_are_shared),
      TEST(leaves_are_found_both_ways),
      TEST(different_nodes_differ),
      TEST(random_trees_come_back),
      TEST(a_builder_can_be_used_again),
      TEST(a_builder_can_start_from_a_forest),
      TEST(colliding_nodes_differ),
      TEST(many_nodes_differ),
      TEST(find_looks_at_everything),
      TEST(productions_are_labels),
      TEST(productions_can_be_looked_up),
      TEST(sizes_and_depths),
      TEST(sizes_saturate),
      TEST(sums_of_saturated_sizes),
      TEST(derived_tables_from_many_threads),
      TEST(memory_from_another_thread),
      TEST(memory_grows_with_derived_tables),
      TEST(reachable_nodes),
      TEST(extracting_trees),
      TEST(extracting_leaves_other_labels_behind),
      TEST(occurrences_are_counted),
      TEST(occurrences_add_up_to_sizes),
      TEST(nodes_without_a_class_are_left_out),
      TEST(no_trees_no_occurrences),
      TEST(large_counts),
      TEST(counts_beyond_32_bits_are_an_error),
      TEST(arrays_make_a_forest),
      TEST(equal_nodes_in_arrays_are_shared),
      TEST(damaged_labels_are_refused),
      TEST(damaged_nodes_are_refused),
      TEST(damaged_roots_are_refused),
      TEST(arrays_come_back),
      TEST(random_damage),
  });
}
