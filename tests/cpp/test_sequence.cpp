// Tests the gap-weighted subsequence kernel, against an enumeration of all subsequences and in
// closed form if values are beyond double. Also tests trees as sequences of labels.
#include <bit>
#include <cmath>
#include <numeric>

#include "base/errors.hpp"
#include "check.hpp"
#include "forest/label_sequences.hpp"
#include "kernels/sequence.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

constexpr double kTolerance = 1e-12;

struct Rows {
  std::vector<LabelId> labels;
  std::vector<std::uint64_t> ends;

  void add(const std::vector<LabelId>& row) {
    labels.insert(labels.end(), row.begin(), row.end());
    ends.push_back(labels.size());
  }
  Sequences view() const { return {labels, ends}; }
};

Rows random_rows(std::mt19937& random, std::size_t n) {
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<LabelId> row(below(random, 8));
    for (LabelId& label : row) label = below(random, 3);
    rows.add(row);
  }
  return rows;
}

std::vector<LabelId> picked(std::span<const LabelId> row, unsigned places) {
  std::vector<LabelId> labels;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (places >> i & 1u) labels.push_back(row[i]);
  }
  return labels;
}

int span_of(unsigned places) {
  return static_cast<int>(std::bit_width(places)) - std::countr_zero(places);
}

double reference(const SequenceSpec& spec, std::span<const LabelId> s, std::span<const LabelId> t) {
  double sum = 0;
  for (unsigned i = 1; i < 1u << s.size(); ++i) {
    for (unsigned j = 1; j < 1u << t.size(); ++j) {
      if (spec.length != 0 && static_cast<unsigned>(std::popcount(i)) != spec.length) continue;
      if (picked(s, i) == picked(t, j)) sum += std::pow(spec.decay, span_of(i) + span_of(j));
    }
  }
  return sum;
}

std::vector<double> matrix(const SequenceSpec& spec, Sequences a, bool normalize, int n_threads) {
  std::vector<double> values(a.size() * a.size());
  kernel_matrix(spec, a, normalize, n_threads, {}, values.data());
  return values;
}

void all_subsequences() {
  std::mt19937 random(7);
  const Rows rows = random_rows(random, 12);
  const Sequences a = rows.view();
  const std::size_t n = a.size();
  for (const double decay : {0.01, 0.5, 1.0}) {
    for (const std::uint32_t length : {0u, 1u, 2u, 3u, 7u, 9u}) {
      const SequenceSpec spec{decay, length};
      const std::vector<double> within = matrix(spec, a, false, 1);
      const std::vector<double> normalised = matrix(spec, a, true, 2);
      std::vector<double> between(n * n);
      kernel_matrix(spec, a, a, false, 2, {}, between.data());
      const std::vector<Wide> selves = self_kernels(spec, a, 1, {});
      for (std::size_t i = 0; i < n; ++i) {
        CHECK_NEAR(selves[i].to_double(), reference(spec, a[i], a[i]), kTolerance);
        for (std::size_t j = 0; j < n; ++j) {
          const double expected = reference(spec, a[i], a[j]);
          const double norm = std::sqrt(selves[i].to_double()) * std::sqrt(selves[j].to_double());
          CHECK_NEAR(within[i * n + j], expected, kTolerance);
          CHECK_NEAR(between[i * n + j], expected, kTolerance);
          CHECK_NEAR(normalised[i * n + j], norm > 0 ? expected / norm : 0.0, kTolerance);
        }
      }
    }
  }
}

double log_comb(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double log_of(const Wide& value) {
  return std::log(value.mantissa()) + 512 * std::log(2.0) * static_cast<double>(value.power());
}

// One label n and m times, without decay: comb(n, p) comb(m, p) pairs of subsequences of length p,
// and comb(n + m, n) - 1 of all lengths.
void beyond_double() {
  Rows rows;
  rows.add(std::vector<LabelId>(600, 1));
  rows.add(std::vector<LabelId>(650, 1));
  rows.add({2});
  const SequenceSpec all{1.0, 0};
  const std::vector<double> values = matrix(all, rows.view(), true, 2);
  const double expected =
      std::exp(log_comb(1250, 600) - log_comb(1200, 600) / 2 - log_comb(1300, 650) / 2);
  CHECK_NEAR(values[1], expected, 1e-9);  // lgamma is not exact
  CHECK_EQUAL(values[0], 1.0);
  CHECK_EQUAL(values[2], 0.0);
  CHECK_EQUAL(values[8], 1.0);
  CHECK_THROWS(KernelOverflow, matrix(all, rows.view(), false, 2));

  Rows one;
  one.add(std::vector<LabelId>(540, 1));
  const std::vector<Wide> selves = self_kernels({1.0, 260}, one.view(), 1, {});
  CHECK_NEAR(log_of(selves[0]), 2 * log_comb(540, 260), kTolerance);
}

void labels_of_trees() {
  const Forest forest = read("(S (NP (D a) (N b)) (VP c)) (x) (S (D a) (D a))");
  const auto texts = [&](bool leaves_only) {
    const LabelSequences found = label_sequences(*forest.dag, forest.roots, leaves_only);
    std::string text;
    std::size_t at = 0;
    for (const std::uint64_t end : found.ends) {
      for (; at < end; ++at) text += std::string(forest.dag->labels().text(found.labels[at])) + ' ';
      text += '|';
    }
    return text;
  };
  CHECK_EQUAL(texts(true), "a b c |x |a a |");
  CHECK_EQUAL(texts(false), "S NP D a N b VP c |x |S D a D a |");
}

void too_many_labels() {
  DagBuilder builder;
  NodeId top = builder.leaf(builder.label("a"));
  for (int i = 0; i < 70; ++i) {
    top = builder.node(builder.label("b"), std::vector<NodeId>{top, top});
  }
  const std::vector<NodeId> roots{top};
  const auto dag = builder.finish();
  CHECK_THROWS(CapacityError, label_sequences(*dag, roots, true));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(all_subsequences),
      TEST(beyond_double),
      TEST(labels_of_trees),
      TEST(too_many_labels),
  });
}
