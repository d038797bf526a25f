// Tests training on rows: the cache alone, and the solver against optimality conditions that are
// checked with an independent kernel matrix.
#include <algorithm>

#include "base/errors.hpp"
#include "learn/svm/row_trainer.hpp"
#include "reference_kernels.hpp"
#include "svm_case.hpp"

namespace filbert {

namespace {

const SomeKernel kSpec = partial_tree(0.4, 0.4);

// K(i, j) = 100 i + j, so that an entry tells where it belongs.
class NumberedRows final : public RowSource {
 public:
  explicit NumberedRows(std::size_t n) : self_(n, 1.0) {}
  std::size_t n_trees() const override { return self_.size(); }
  std::span<const double> self() const override { return self_; }
  void rows(std::span<const std::uint32_t> wanted, std::span<double* const> out, int,
            const Watch&) override {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      for (std::size_t j = 0; j < n_trees(); ++j) out[k][j] = entry(wanted[k], j);
    }
  }
  void block(std::span<const std::uint32_t> wanted, std::span<double* const> out, int,
             const Watch&) override {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      for (std::size_t l = k; l < wanted.size(); ++l) out[k][l - k] = entry(wanted[k], wanted[l]);
    }
  }
  static double entry(std::size_t i, std::size_t j) {
    return 100.0 * static_cast<double>(std::min(i, j)) + static_cast<double>(std::max(i, j));
  }

 private:
  std::vector<double> self_;
};

using Ids = std::vector<std::uint32_t>;

Ids those_there(const RowCache& cache) {
  Ids there;
  for (std::uint32_t tree = 0; tree < cache.n_trees(); ++tree) {
    if (!cache.rows().has(tree)) continue;
    there.push_back(tree);
    for (std::uint32_t j = 0; j < cache.n_trees(); ++j) {
      CHECK_EQUAL(cache.rows().of_trees(tree, j), NumberedRows::entry(tree, j));
    }
  }
  CHECK_EQUAL(there.size(), cache.size());
  return there;
}

// For so many rows of n trees, one after the other.
std::uint64_t bytes_for(std::size_t n_rows, std::size_t n) {
  return sizeof(double) * (n + n_rows * n - n_rows * (n_rows - 1) / 2);
}

const StopToken never;

void fetch_each(RowCache& cache, const Ids& wanted, const std::vector<bool>& in_use) {
  for (const std::uint32_t tree : wanted) cache.fetch({&tree, 1}, in_use, 1, {});
}

void rows_that_are_not_in_use_give_way_first() {
  NumberedRows source(20);
  RowCache cache(source, bytes_for(8, 20));
  CHECK_EQUAL(cache.capacity(), 8);
  CHECK_EQUAL(cache.batch(), 1);
  const std::vector<bool> none(20, false);
  fetch_each(cache, {0, 1, 2, 3, 4, 5, 6, 7}, none);
  CHECK_EQUAL(cache.peak_bytes(), bytes_for(8, 20));
  cache.touch(0);
  std::vector<bool> in_use(20, false);
  in_use[1] = in_use[2] = true;
  fetch_each(cache, {10, 11}, in_use);
  CHECK((those_there(cache) == Ids{0, 1, 2, 5, 6, 7, 10, 11}));
  std::vector<bool> all_in_use(20, true);
  all_in_use[12] = false;
  fetch_each(cache, {12, 13}, all_in_use);  // 12 gives way though it is the newest
  CHECK((those_there(cache) == Ids{0, 2, 5, 6, 7, 10, 11, 13}));
  CHECK_EQUAL(cache.n_computed(), 12);
  CHECK_EQUAL(cache.peak_bytes(), bytes_for(8, 20));
}

void a_matrix_is_completed() {
  NumberedRows source(40);
  RowCache cache(source, 1 << 20);
  CHECK_EQUAL(cache.capacity(), 40);
  cache.fetch(Ids{3, 17, 39}, std::vector<bool>(40, false), 1, {});
  cache.complete(1, {});
  CHECK_EQUAL(those_there(cache).size(), 40);
  CHECK_EQUAL(cache.n_computed(), 40);
}

void rows_come_and_go() {
  std::mt19937 random(1);
  NumberedRows source(50);
  RowCache cache(source, bytes_for(12, 50));
  for (int n = 0; n < 300; ++n) {
    std::vector<bool> in_use(50);
    for (std::size_t tree = 0; tree < 50; ++tree) in_use[tree] = below(random, 3) == 0;
    const std::uint32_t tree = below(random, 50);
    if (!cache.rows().has(tree)) fetch_each(cache, {tree}, in_use);
    CHECK(cache.rows().has(tree));
    CHECK(those_there(cache).size() <= 12);
  }
}

void weighted_rows_add_up() {
  NumberedRows source(50);
  RowCache cache(source, 1 << 20);
  cache.fetch(Ids{7, 3, 49, 30, 12, 0, 25}, std::vector<bool>(50, false), 1, {});
  const PackedRows& rows = cache.rows();
  for (const Ids& chosen : {Ids{}, Ids{2}, Ids{0, 1, 2, 3, 4, 5, 6}, Ids{1, 1, 3, 4, 6}}) {
    std::vector<PackedRows::Weighted> weighted;
    for (const std::uint32_t place : chosen) weighted.push_back({place, 1.0 + place});
    std::vector<double> sums(50, 0.5);
    rows.add_to(sums, weighted, never);
    for (std::size_t place = 0; place < 50; ++place) {
      double sum = 0.5;
      for (const auto& row : weighted) {
        sum += row.weight * NumberedRows::entry(rows.trees()[row.place], rows.trees()[place]);
      }
      CHECK_NEAR(sums[place], sum, 1e-14);
    }
  }
}

void too_little_memory() {
  NumberedRows source(100);
  CHECK_THROWS(OutOfMemory, RowCache(source, bytes_for(8, 100) - 1));
  CHECK_EQUAL(RowCache(source, bytes_for(8, 100)).capacity(), 8);
}

void rows_are_those_of_the_matrix() {
  const std::vector<Tree> trees = random_trees(5, 60, 4, 3);
  const Forest forest = forest_of(trees);
  for (const bool normalize : {true, false}) {
    const std::vector<double> K = reference_matrix(kSpec, trees, trees, normalize);
    const std::size_t n = trees.size();
    Ids numbers(n);
    TileRows rows(kSpec, forest.dag, forest.roots, numbers, normalize, 1, {});
    const Ids wanted{7, 0, 59, 31, 8, 9, 10, 11, 12, 13};
    std::vector<double> all(wanted.size() * n), block(wanted.size() * n, -1.0);
    std::vector<double*> to_all, to_block;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      to_all.push_back(all.data() + k * n);
      to_block.push_back(block.data() + k * n);
    }
    rows.rows(wanted, to_all, 2, {});
    rows.block(wanted, to_block, 2, {});
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      CHECK_NEAR(rows.self()[wanted[k]], K[wanted[k] * n + wanted[k]], 1e-10);
      for (std::size_t j = 0; j < n; ++j) {
        CHECK_NEAR(all[k * n + j], K[wanted[k] * n + j], 1e-10);
        const bool asked_for = k + j < wanted.size();
        CHECK_NEAR(block[k * n + j], asked_for ? K[wanted[k] * n + wanted[k + j]] : -1.0, 1e-10);
      }
    }
  }
}

struct Case : SvmCase {
  Forest forest;
};

// Some examples have no weight.
Case random_case(unsigned seed, std::size_t n, double C = 1.0, bool squared_hinge = false,
                 bool intercept = true) {
  static SvmMatrices matrices(kSpec);
  Case c{random_svm_case(seed, matrices.of(seed, n), n, C, squared_hinge, intercept),
         forest_of(svm_trees(seed, n))};
  for (std::size_t i = 0; i < n; i += 7) c.C[i] = 0.0;
  return c;
}

// With room for so many rows of doubles.
SvmSolution solved(const Case& c, double tol, std::size_t n_rows, int n_threads = 1,
                   std::span<const double> start = {}) {
  const std::uint64_t max_bytes = n_rows * c.size() * sizeof(double);
  RowTrainer trainer(kSpec, c.forest.dag, c.forest.roots, true, max_bytes, 1, {});
  SvmProblems problems = c.problems(tol);
  problems.start = start;
  return trainer.train(problems, n_threads, {})[0];
}

void optimality_conditions() {
  for_each_setting([](double C, bool squared_hinge, bool intercept) {
    const Case c = random_case(1, 80, C, squared_hinge, intercept);
    for (const std::size_t n_rows : {1000, 16}) {
      const SvmSolution s = solved(c, 1e-10, n_rows);
      CHECK(s.gap <= 1e-10);
      check_optimal(c, s, 1e-2);
      for (std::size_t i = 0; i < c.size(); i += 7) CHECK_EQUAL(s.alpha[i], 0.0);
    }
  });
}

void objectives_are_what_they_say() {
  const Case c = random_case(2, 150);
  for (const double tol : {0.3, 1e-3, 1e-8}) {
    for (const std::size_t n_rows : {1000, 50}) check_objectives(c, solved(c, tol, n_rows), tol);
  }
}

void the_same_bytes_for_any_threads() {
  const Case c = random_case(3, 200);
  const SvmSolution one = solved(c, 1e-6, 100);
  for (const int n_threads : {kInline, 2, 5}) check_same(solved(c, 1e-6, 100, n_threads), one);
}

void from_the_solution_there_is_no_way_to_go() {
  const Case c = random_case(4, 150);
  for (const std::size_t n_rows : {1000, 50}) {
    const SvmSolution s = solved(c, 1e-7, n_rows);
    const SvmSolution again = solved(c, 1.01e-7, n_rows, 1, s.alpha);
    CHECK_EQUAL(again.n_sweeps, 0);
    CHECK(again.alpha == s.alpha);
  }
}

void it_can_be_stopped() {
  const Case c = random_case(5, 200);
  RowTrainer trainer(kSpec, c.forest.dag, c.forest.roots, true, 1 << 30, 1, {});
  const SvmProblems problems = c.problems(1e-12);
  struct Enough {};
  const Watch watch = [](std::size_t, std::size_t) { throw Enough{}; };
  CHECK_THROWS(Enough, trainer.train(problems, kInline, watch));
  CHECK(trainer.train(problems, 1, {})[0].gap <= 1e-12);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(rows_that_are_not_in_use_give_way_first),
      TEST(a_matrix_is_completed),
      TEST(rows_come_and_go),
      TEST(weighted_rows_add_up),
      TEST(too_little_memory),
      TEST(rows_are_those_of_the_matrix),
      TEST(optimality_conditions),
      TEST(objectives_are_what_they_say),
      TEST(the_same_bytes_for_any_threads),
      TEST(from_the_solution_there_is_no_way_to_go),
      TEST(it_can_be_stopped),
  });
}
