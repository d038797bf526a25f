// Tests mining and matching of fragments against all fragments of small trees.
#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"
#include "fragments/count.hpp"
#include "fragments/miner.hpp"
#include "reference_fragments.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-10;

std::string plain_text(const Dag& dag, NodeId root) {
  std::string text = "(" + std::string(dag.labels().text(dag.label(root)));
  for (const NodeId child : dag.children(root)) text += plain_text(dag, child);
  return text + ")";
}

SomeKernel subset_trees(double decay, bool leaves = false) {
  SomeKernel spec;
  spec.decay = decay;
  spec.include_leaves = leaves;
  return spec;
}

SomeKernel partial_trees(double decay, double depth_decay, Penalty penalty, std::uint32_t most) {
  SomeKernel spec;
  spec.name = "partial_tree";
  spec.decay = decay;
  spec.depth_decay = depth_decay;
  spec.penalty = penalty;
  spec.max_subsequence = most;
  return spec;
}

std::vector<SomeKernel> kernels() {
  SomeKernel subtrees;
  subtrees.name = "subtree";
  return {subset_trees(0.4),
          subset_trees(1.0),
          subset_trees(0.3, true),
          subtrees,
          partial_trees(0.4, 0.4, Penalty::span, 0),
          partial_trees(0.7, 0.5, Penalty::gaps, 0),
          partial_trees(0.5, 1.0, Penalty::span, 2)};
}

struct Case {
  std::vector<Tree> trees;
  std::vector<double> coef;
  Forest forest;

  explicit Case(unsigned seed, std::size_t n = 8) : trees(random_trees(seed, n, 4, 3)) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < n; ++i) {
      coef.push_back((static_cast<double>(below(random, 1000)) - 500.0) / 250.0);
    }
    coef[n / 2] = 0.0;
    forest = forest_of(trees);
  }

  struct Sums {
    double weight = 0.0;
    std::uint64_t frequency = 0;
  };
  // Eq. 6, without norms.
  std::map<std::string, Sums> weights(const SomeKernel& spec) const {
    std::map<std::string, Sums> sums;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      if (coef[i] == 0.0) continue;
      for (const auto& [text, figures] : all_fragments(trees[i], spec)) {
        sums[text].weight += coef[i] * figures.value;
        sums[text].frequency += figures.roots;
      }
    }
    return sums;
  }
};

void complete_search_finds_all_that_pass() {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Case c(seed);
    for (const SomeKernel& spec : kernels()) {
      const FragmentMiner miner(spec, c.forest.dag, c.forest.roots, c.coef, false,
                                Criterion::gradient, 1, {});
      const auto expected = c.weights(spec);
      const double threshold = miner.base(2) / 7.3;
      const MinedFragments mined = miner.mine(Search::complete, threshold, 2, 1000000, 2, {});
      std::size_t n_expected = 0;
      for (const auto& [text, sums] : expected) {
        n_expected += sums.frequency >= 2 && std::fabs(sums.weight) >= threshold ? 1 : 0;
      }
      CHECK_EQUAL(mined.roots.size(), n_expected);
      for (std::size_t i = 0; i < mined.roots.size(); ++i) {
        const auto found = expected.find(plain_text(*mined.dag, mined.roots[i]));
        CHECK(found != expected.end());
        if (found == expected.end()) continue;
        CHECK_NEAR(mined.weight[i], found->second.weight, kTolerance);
        CHECK_EQUAL(mined.frequency[i], found->second.frequency);
        CHECK(i == 0 || std::fabs(mined.relevance[i]) <= std::fabs(mined.relevance[i - 1]));
      }
    }
  }
}

void greedy_search_finds_some_of_them() {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Case c(seed, 40);
    for (const SomeKernel& spec : kernels()) {
      const FragmentMiner miner(spec, c.forest.dag, c.forest.roots, c.coef, true,
                                Criterion::gradient, 1, {});
      const double threshold = miner.base(3) / 20.0;
      const MinedFragments all = miner.mine(Search::complete, threshold, 3, 1000000, 1, {});
      const MinedFragments some = miner.mine(Search::greedy, threshold, 3, 1000000, 2, {});
      const MinedFragments again = miner.mine(Search::greedy, threshold, 3, 1000000, 1, {});
      std::map<std::string, double> weights;
      for (std::size_t i = 0; i < all.roots.size(); ++i) {
        weights[plain_text(*all.dag, all.roots[i])] = all.weight[i];
      }
      CHECK_EQUAL(weights.size(), all.roots.size());
      CHECK(!some.roots.empty());
      std::set<std::string> seen;
      for (std::size_t i = 0; i < some.roots.size(); ++i) {
        const std::string text = plain_text(*some.dag, some.roots[i]);
        CHECK(seen.insert(text).second);
        CHECK(weights.count(text) == 1);
        CHECK_NEAR(some.weight[i], weights[text], kTolerance);
      }
      CHECK(some.roots == again.roots && some.weight == again.weight && some.open == again.open);
    }
  }
}

// With coefficients of one sign weights only fall as fragments grow: greedy is complete.
void greedy_search_is_complete_without_signs() {
  Case c(3, 60);
  for (double& x : c.coef) x = std::fabs(x);
  for (const SomeKernel& spec : {subset_trees(0.4), subset_trees(0.8, true)}) {
    const FragmentMiner miner(spec, c.forest.dag, c.forest.roots, c.coef, true, Criterion::gradient,
                              1, {});
    const double threshold = miner.base(3) / 50.0;
    const MinedFragments all = miner.mine(Search::complete, threshold, 3, 1000000, 1, {});
    const MinedFragments some = miner.mine(Search::greedy, threshold, 3, 1000000, 1, {});
    CHECK(all.roots.size() > 20);
    CHECK_EQUAL(written(*some.dag, some.roots) == written(*all.dag, all.roots), true);
    CHECK(some.open == all.open);
  }
}

void matches_are_those_written_out() {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Case c(seed), other(seed + 100);
    for (const SomeKernel& spec : kernels()) {
      const FragmentMiner miner(spec, c.forest.dag, c.forest.roots, c.coef, false,
                                Criterion::gradient, 1, {});
      const MinedFragments mined =
          miner.mine(Search::complete, miner.base(1) / 10.0, 1, 1000000, 1, {});
      const FragmentForest fragments{*mined.dag, mined.roots};
      const Trees trees{*other.forest.dag, other.forest.roots};
      const FragmentRows counts = count_fragments(spec, fragments, trees, 2, {});
      const FragmentRows values = fragment_features(spec, fragments, trees, false, 2, {});
      std::map<std::string, std::size_t> column;
      for (std::size_t i = 0; i < mined.roots.size(); ++i) {
        column[plain_text(*mined.dag, mined.roots[i])] = i;
      }
      for (std::size_t tree = 0; tree < other.trees.size(); ++tree) {
        std::map<std::size_t, Figures> expected;
        for (const auto& [text, figures] : all_fragments(other.trees[tree], spec)) {
          if (column.count(text)) expected[column[text]] = figures;
        }
        const auto first = static_cast<std::size_t>(counts.row_begin[tree]);
        const auto last = static_cast<std::size_t>(counts.row_begin[tree + 1]);
        CHECK_EQUAL(last - first, expected.size());
        CHECK(counts.row_begin == values.row_begin && counts.fragments == values.fragments);
        for (std::size_t k = first; k < last; ++k) {
          const Figures& figures = expected[static_cast<std::size_t>(counts.fragments[k])];
          CHECK_EQUAL(counts.values[k], figures.ways);
          CHECK_NEAR(values.values[k], figures.value, kTolerance);
        }
      }
    }
  }
}

void too_many_fragments_are_refused() {
  const Case c(1, 20);
  for (const SomeKernel& spec : kernels()) {
    const FragmentMiner miner(spec, c.forest.dag, c.forest.roots, c.coef, false,
                              Criterion::gradient, 1, {});
    for (const Search search : {Search::greedy, Search::complete}) {
      CHECK_THROWS(TooManyFragments, miner.mine(search, miner.base(1) / 100.0, 1, 2, 2, {}));
    }
  }
}

// A chain of so many nodes would overflow the stack, if anything went down by recursion.
void deep_trees_are_mined() {
  DagBuilder builder;
  const LabelId label = builder.label("A");
  NodeId top = builder.leaf(label);
  for (int i = 0; i < 300000; ++i) top = builder.node(label, std::vector<NodeId>{top});
  const Forest forest{builder.finish(), {top}};
  const std::vector<double> coef{1.0};
  SomeKernel partial = partial_trees(0.4, 0.4, Penalty::span, 0);
  for (const SomeKernel& spec : {subset_trees(0.4), partial}) {
    const FragmentMiner miner(spec, forest.dag, forest.roots, coef, false, Criterion::gradient, 1,
                              {});
    const MinedFragments mined =
        miner.mine(Search::greedy, miner.base(3) / 50.0, 3, 1000000, 1, {});
    CHECK(mined.roots.size() >= 3);
    const FragmentRows rows =
        count_fragments(spec, {*mined.dag, mined.roots}, {*forest.dag, forest.roots}, 1, {});
    CHECK_EQUAL(rows.values.size(), mined.roots.size());
    CHECK_EQUAL(rows.values[0], spec.name == "partial_tree" ? 300001.0 : 300000.0);
  }
}

void texts_tell_fragments_apart() {
  const std::vector<std::string_view> labels{"S", "NP", "V", "ran away", "\xE2\x80\xA6"};
  const std::vector<std::uint32_t> arity{3, 0, 1, 0, 0};
  const std::vector<std::uint8_t> open{0, 1, 0, 0, 0};
  CHECK_EQUAL(fragment_text(labels, arity, open),
              "(S (NP \xE2\x80\xA6) (V ran\\ away) \\\xE2\x80\xA6)");
  CHECK_EQUAL(fragment_text(std::span(labels).first(1), std::vector<std::uint32_t>{0},
                            std::vector<std::uint8_t>{0}),
              "(S)");
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({TEST(complete_search_finds_all_that_pass),
                     TEST(greedy_search_finds_some_of_them),
                     TEST(greedy_search_is_complete_without_signs),
                     TEST(matches_are_those_written_out), TEST(too_many_fragments_are_refused),
                     TEST(deep_trees_are_mined), TEST(texts_tell_fragments_apart)});
}
