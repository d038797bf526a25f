// Tests selected symbols: which nodes count, and the kernels over these nodes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/node_classes.hpp"
#include "reference_kernels.hpp"
#include "rows/needed_pairs.hpp"
#include "scoring/operator.hpp"
#include "scoring/symbol_forms.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-10;

using Symbols = std::vector<std::vector<std::string>>;

SomeKernel rooted_in(SomeKernel spec, const Symbols& symbols, SymbolKind kind = SymbolKind::label) {
  spec.chosen = std::make_shared<ChosenSymbols>(kind, symbols);
  return spec;
}

// Children that a listed node has are listed, and chosen nodes alone have counts.
void roots_are_counted() {
  const Forest forest = read("(S (A (B b) (C c)) (A (B b) (C c)) (D (C d)))\n");
  const std::vector<std::uint32_t> all(forest.dag->size(), 0);
  const SomeKernel spec = rooted_in(subset_tree(0.4), {{"A"}, {"unseen"}});
  const Occurrences x = count_roots(spec, *forest.dag, forest.roots, all, 1, {});
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < x.nodes.size(); ++i) {
    listed.push_back(to_brackets(*forest.dag, x.nodes[i]) + " " + std::to_string(x.counts[i]));
  }
  std::sort(listed.begin(), listed.end());
  const std::vector<std::string> expected{"(A (B b) (C c)) 2", "(B b) 0", "(C c) 0", "(b) 0",
                                          "(c) 0"};
  CHECK(listed == expected);
}

void productions_are_symbols() {
  const Forest forest = read("(S (A (B b) (C c)) (A (B b)) b)\n");
  const ChosenSymbols chosen(SymbolKind::production, Symbols{{"A", "B"}, {"b"}, {"C"}});
  const std::vector<std::uint8_t> of = chosen.of_nodes(*forest.dag);
  std::vector<std::string> found;
  for (NodeId u = 0; u < forest.dag->size(); ++u) {
    CHECK_EQUAL(of[u] != 0, chosen.has(*forest.dag, u));
    if (of[u] != 0) found.push_back(to_brackets(*forest.dag, u));
  }
  std::sort(found.begin(), found.end());
  const std::vector<std::string> expected{"(A (B b))", "(b)"};
  CHECK(found == expected);
}

// Texts of 16 bytes that libstdc++ gives the same hash. It mixes each eight bytes by steps that can
// be undone, into a state that begins with a number that everybody knows.
std::vector<std::string> symbols_of_one_std_hash(std::size_t n) {
  constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL, kSeed = 0xc70f6907ULL;
  std::uint64_t inverse = kMultiplier;  // modulo 2^64, by Newton's method
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  const auto bytes_of = [](std::uint64_t word) {
    return std::string(reinterpret_cast<const char*>(&word), sizeof word);
  };
  std::vector<std::string> texts;
  for (std::uint64_t first = 1; first <= n; ++first) {
    std::uint64_t word = first * kMultiplier;
    word = (word ^ (word >> 47)) * kMultiplier;
    const std::uint64_t state = ((kSeed ^ (16 * kMultiplier)) ^ word) * kMultiplier;
    std::uint64_t second = (state ^ 1) * inverse;
    second = (second ^ (second >> 47)) * inverse;
    texts.push_back(bytes_of(first) + bytes_of(second));
  }
  return texts;
}

// Who knows the source cannot make symbols with equal hashes.
void symbols_cannot_be_made_to_collide() {
  std::set<std::size_t> usual, own;
  for (const std::string& text : symbols_of_one_std_hash(300)) {
    usual.insert(std::hash<std::string>()(text));
    own.insert(ChosenSymbols::Hash()(text));
  }
#ifdef __GLIBCXX__
  CHECK_EQUAL(usual.size(), 1u);
#endif
  CHECK_EQUAL(own.size(), 300u);
}

// Kernels of single symbols add up to the kernel of all; pairs from the top are the rows' values.
void symbols_add_up() {
  const Forest forest = forest_of(random_trees(1, 30, 5));
  const std::size_t n = forest.roots.size();
  for (const SomeKernel& spec : {subtree(0.6), subset_tree(0.4), subset_tree(0.7, true)}) {
    const std::vector<double> exact = matrix(spec, forest, false);
    std::vector<double> sums(n * n, 0.0);
    for (const char* const label : {"A", "B", "C"}) {
      const std::vector<double> part = matrix(rooted_in(spec, {{label}}), forest, false);
      for (std::size_t i = 0; i < n * n; ++i) sums[i] += part[i];
    }
    for (std::size_t i = 0; i < n * n; ++i) CHECK_NEAR(sums[i], exact[i], kTolerance);
  }
}

void needed_pairs_are_enough() {
  const Forest forest = forest_of(random_trees(2, 20, 6));
  const std::size_t n = forest.roots.size();
  for (const bool leaves : {false, true}) {
    const SomeKernel spec = rooted_in(subset_tree(0.7, leaves), {{"A"}});
    const std::vector<double> K = matrix(spec, forest, false);
    const NodeClasses classes =
        classify(spec, *forest.dag, forest.roots, *forest.dag, forest.roots);
    const Occurrences x = count_roots(spec, *forest.dag, forest.roots, classes.rows, 1, {});
    const auto tree = [&](std::size_t i) {
      return CountedTree{*forest.dag, x.nodes_of(i), x.counts_of(i), classes.rows};
    };
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const auto value =
            KernelSpec(spec)->sum_of_needed_pairs(tree(i), tree(j), 100000, StopToken());
        CHECK(value.has_value());
        if (value) CHECK_NEAR(value->to_double(), K[i * n + j], kTolerance);
        if (K[i * n + j] > 0.0) {
          CHECK(
              !KernelSpec(spec)->sum_of_needed_pairs(tree(i), tree(j), 0, StopToken()).has_value());
        }
      }
    }
  }
}

// w^T K w of the kernels of single symbols, in two ways.
void forms_of_symbols() {
  const Forest forest = forest_of(random_trees(3, 40, 5));
  const std::size_t n = forest.roots.size();
  const NodeSymbols symbols = node_symbols(*forest.dag, SymbolKind::label);
  const std::size_t n_symbols = symbols.example.size();
  std::mt19937 random(7);
  std::vector<double> weights(n);
  for (double& w : weights) w = below(random, 2001) / 1000.0 - 1.0;
  for (const SomeKernel& spec : {subtree(0.6), subset_tree(0.4), partial_tree(0.5, 0.6)}) {
    OperatorOptions options;
    options.normalize = false;
    options.keep_nodes = true;
    const KernelOperator factors(spec, forest.dag, forest.roots, options, 1, {});
    const std::vector<double> by_factors =
        factors.symbol_forms(weights, 1, symbols.of, n_symbols, 1, {});
    const std::vector<double> by_pairs =
        pair_forms(spec, forest.dag, forest.roots, false, weights, 1, symbols.of, n_symbols, 1, {});
    for (std::size_t s = 0; s < n_symbols; ++s) {
      const std::string label(forest.dag->labels().text(forest.dag->label(symbols.example[s])));
      const std::vector<double> K = matrix(rooted_in(spec, {{label}}), forest, false);
      double expected = 0.0, size = 0.0;
      for (std::size_t i = 0; i < n * n; ++i) {
        expected += weights[i / n] * weights[i % n] * K[i];
        size += K[i];
      }
      CHECK(std::fabs(by_factors[s] - expected) <= kTolerance * size);
      CHECK(std::fabs(by_pairs[s] - expected) <= kTolerance * size);
    }
  }
}

// Only large trees with few chosen nodes are compared from these downwards.
void few_nodes_are_chosen() {
  std::string many;
  for (int i = 0; i < 400; ++i) many += "(B (C c))";
  const Forest forest = read("(A " + many + ")\n(A (B (C c)))\n");
  const auto few = [&](const char* label) {
    const Symbols symbols{{label}};
    return few_chosen(ChosenSymbols(SymbolKind::label, symbols), *forest.dag, forest.roots);
  };
  CHECK(few("A") == (std::vector<bool>{true, false}));
  CHECK(few("B") == (std::vector<bool>{false, false}));
  CHECK(few("unseen") == (std::vector<bool>{true, false}));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(roots_are_counted),
      TEST(productions_are_symbols),
      TEST(symbols_cannot_be_made_to_collide),
      TEST(symbols_add_up),
      TEST(needed_pairs_are_enough),
      TEST(forms_of_symbols),
      TEST(few_nodes_are_chosen),
  });
}
