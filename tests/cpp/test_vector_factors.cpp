// Tests the factors of kernels of vectors against the definition.
#include <cmath>
#include <random>
#include <string>

#include "base/errors.hpp"
#include "check.hpp"
#include "factors/vectors/vector_factors.hpp"
#include "reference_factors.hpp"

namespace filbert {

namespace {

constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;

struct Matrix {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> features;
  std::vector<double> values;

  SparseRows rows() const { return {begin, features, values}; }
  void end_row() { begin.push_back(static_cast<std::int64_t>(features.size())); }
  void add(std::int64_t feature, double value) {
    features.push_back(feature);
    values.push_back(value);
  }
};

// Features of value 1, of one value that is another, and of values that differ, also in sign.
Matrix random_matrix(unsigned seed, std::size_t n, std::int64_t n_features, bool binary) {
  std::mt19937 random(seed);
  Matrix matrix;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::int64_t f = 0; f < n_features; ++f) {
      if (below(random, 3) > 0) continue;
      const double any = 0.5 * below(random, 5) - 1.25;
      matrix.add(1000 * f, binary || f % 3 == 0 ? 1.0 : f % 3 == 1 ? 0.7 : any);
    }
    matrix.end_row();
  }
  return matrix;
}

double product(const Matrix& m, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (auto k = m.begin[i]; k < m.begin[i + 1]; ++k) {
    for (auto l = m.begin[j]; l < m.begin[j + 1]; ++l) {
      const auto a = static_cast<std::size_t>(k);
      const auto b = static_cast<std::size_t>(l);
      if (m.features[a] == m.features[b]) sum += m.values[a] * m.values[b];
    }
  }
  return sum;
}

double kernel(const Matrix& m, const PolynomialSpec& spec, std::size_t i, std::size_t j) {
  return std::pow(spec.gamma * product(m, i, j) + spec.coef0, spec.degree);
}

void check_matrix(const Matrix& m, const PolynomialSpec& spec) {
  const TreeFactors factors = vector_factors(m.rows(), spec, kRoom, 1, {});
  const std::size_t n = m.begin.size() - 1;
  CHECK_EQUAL(factors.n_trees(), n);
  const std::vector<double> actual = multiplied(factors);
  std::vector<double> norm;
  for (std::size_t i = 0; i < n; ++i) norm.push_back(std::sqrt(kernel(m, spec, i, i)));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double both = norm[i] * norm[j];
      const double expected = spec.normalize ? (both > 0.0 ? kernel(m, spec, i, j) / both : 0.0)
                                             : kernel(m, spec, i, j);
      const double size = spec.normalize ? 1.0 : 1.0 + both;
      CHECK(std::fabs(actual[i * n + j] - expected) <= 1e-12 * size);
      if (i == j) CHECK(std::fabs(factors.self[i] - expected) <= 1e-12 * size);
    }
  }
}

template <class Visit>
void for_each_spec(const Visit& visit) {
  for (const std::uint32_t degree : {1u, 2u, 3u, 5u}) {
    for (const double coef0 : {0.0, 1.0, 0.3}) {
      for (const bool normalize : {false, true})
        visit(PolynomialSpec{degree, 0.8, coef0, normalize});
    }
  }
}

void the_kernel_matrix() {
  for (unsigned seed = 1; seed < 5; ++seed) {
    for (const bool binary : {false, true}) {
      const Matrix m = random_matrix(seed, 14, 9, binary);
      for_each_spec([&](const PolynomialSpec& spec) { check_matrix(m, spec); });
    }
  }
}

void matrices_with_hardly_anything() {
  Matrix empty_rows;
  empty_rows.end_row();
  empty_rows.end_row();
  Matrix one_row;
  one_row.add(3, 2.0);
  one_row.add(4, -1.0);
  one_row.end_row();
  Matrix nothing_shared = one_row;
  nothing_shared.add(5, 1.0);
  nothing_shared.end_row();
  for_each_spec([&](const PolynomialSpec& spec) {
    for (const Matrix& m : {Matrix{}, empty_rows, one_row, nothing_shared}) check_matrix(m, spec);
  });
}

// Rows with 7 of 8 features of value 1 have 64 sets of up to three each, and all of them 93.
void features_of_one_value_are_there_once() {
  Matrix m;
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t f = 0; f < 8; ++f) {
      if (f != row) m.add(f, 1.0);
    }
    m.end_row();
  }
  const TreeFactors factors = vector_factors(m.rows(), {3, 1.0, 1.0, true}, kRoom, 1, {});
  CHECK_EQUAL(factors.mass.size(), std::size_t{93});
  CHECK_EQUAL(factors.columns_of(0).size(), std::size_t{64});
  CHECK(factors.values.empty());
  CHECK_EQUAL(factors.diagonal[0], 0.0);
}

// Whatever the products, the rows tell them apart.
void products_of_the_same_rows_are_one_column() {
  Matrix m;
  for (int row = 0; row < 4; ++row) {
    for (std::int64_t f = 0; f < 7; ++f) m.add(f, 1.0);
    if (row < 2) m.add(7, 0.5 * row + 1.0);
    if (row < 2) m.add(8, 0.5 * row + 1.0);
    m.end_row();
  }
  const PolynomialSpec spec{2, 1.0, 1.0, true};
  const TreeFactors factors = vector_factors(m.rows(), spec, kRoom, 1, {});
  CHECK_EQUAL(factors.mass.size(), std::size_t{3});  // of all rows, with 7 or 8, with two of them
  check_matrix(m, spec);
}

void the_same_bytes_on_any_number_of_threads() {
  const Matrix m = random_matrix(7, 3000, 40, false);
  const PolynomialSpec spec{2, 1.0, 1.0, true};
  const TreeFactors one = vector_factors(m.rows(), spec, kRoom, 1, {});
  const TreeFactors three = vector_factors(m.rows(), spec, kRoom, 3, {});
  CHECK(one.begin == three.begin);
  CHECK(one.columns == three.columns);
  CHECK(one.values == three.values);
  CHECK(one.mass == three.mass);
  CHECK(one.diagonal == three.diagonal);
}

void too_many_products() {
  Matrix m;
  for (int row = 0; row < 2; ++row) {
    for (std::int64_t f = 0; f < 100'000; ++f) m.add(f, 1.0);
    m.end_row();
  }
  CHECK_THROWS(OutOfMemory, vector_factors(m.rows(), {3, 1.0, 1.0, true}, kRoom, 1, {}));
  CHECK_EQUAL(vector_factors(m.rows(), {1, 1.0, 0.0, true}, kRoom, 1, {}).mass.size(),
              std::size_t{1});
}

void values_beyond_double() {
  Matrix m;
  m.add(0, 1e120);
  m.add(1, 1e120);
  m.end_row();
  m.add(0, 1e120);
  m.end_row();
  CHECK_THROWS(KernelOverflow, vector_factors(m.rows(), {2, 1.0, 1.0, false}, kRoom, 1, {}));
  const TreeFactors normalized = vector_factors(m.rows(), {2, 1.0, 1.0, true}, kRoom, 1, {});
  CHECK_NEAR(multiplied(normalized)[1], 0.5, 1e-12);
  m.values[0] = 1e200;
  CHECK_THROWS(KernelOverflow, vector_factors(m.rows(), {1, 1.0, 0.0, true}, kRoom, 1, {}));
}

struct Interrupt {};

void it_can_be_stopped() {
  const Matrix m = random_matrix(8, 4000, 60, true);
  const Watch stop = [](std::size_t, std::size_t) { throw Interrupt{}; };
  CHECK_THROWS(Interrupt, vector_factors(m.rows(), {3, 1.0, 1.0, true}, kRoom, 2, stop));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(the_kernel_matrix),
      TEST(matrices_with_hardly_anything),
      TEST(features_of_one_value_are_there_once),
      TEST(products_of_the_same_rows_are_one_column),
      TEST(the_same_bytes_on_any_number_of_threads),
      TEST(too_many_products),
      TEST(values_beyond_double),
      TEST(it_can_be_stopped),
  });
}
