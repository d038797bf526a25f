// Terms of sparse vectors. A linear kernel needs one weight for each feature. Other kernels need
// the products of an example with all support vectors: these are stored by feature, and the lists
// of the example's features are merged (Aiolli et al. 2007, section IV-C). The paper merges sorted
// lists through a heap of their heads, which costs a logarithm for each item. Here products are
// summed in an array by support vector, with a list of the entries that are touched; all other
// products are 0.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "base/place_map.hpp"
#include "base/power.hpp"
#include "learn/perceptron/growing_term.hpp"

namespace filbert {

namespace {

struct Vector {
  std::span<const std::uint32_t> features;
  std::span<const double> values;
  std::size_t size() const { return features.size(); }
};

Vector vector_of(const ExamplePart& part, std::size_t row) {
  const std::uint64_t first = part.begin[row];
  const std::uint64_t n = part.begin[row + 1] - first;
  return {part.features.subspan(first, n), part.values.subspan(first, n)};
}

double square(const Vector& x) {
  double sum = 0.0;
  for (const double value : x.values) sum += value * value;
  return sum;
}

double kernel_value(const VectorSpec& spec, double product, double square_a, double square_b) {
  switch (spec.kernel) {
    case VectorKernel::linear: return product;
    case VectorKernel::polynomial: return power(spec.gamma * product + spec.coef0, spec.degree);
    case VectorKernel::rbf: break;
  }
  return std::exp(-spec.gamma * std::max(0.0, square_a + square_b - 2.0 * product));
}

// The base of all terms of vectors: stores the support vectors.
class GrowingVectors : public GrowingTerm {
 public:
  GrowingVectors(const VectorSpec& spec, std::size_t n_columns)
      : spec_(spec), n_columns_(n_columns) {}

  std::vector<double> selves(const ExamplePart& part, int, const Watch&) const override {
    constexpr double kLargest = 1e300;  // as for trees: the square of a norm
    std::vector<double> values(part.size());
    for (std::size_t row = 0; row < values.size(); ++row) {
      const double own = square(vector_of(part, row));
      values[row] = kernel_value(spec_, own, own, own);
      if (!(values[row] < kLargest)) {
        throw KernelOverflow("the kernel of vector " + std::to_string(row) +
                             " with itself is beyond the range of doubles");
      }
    }
    return values;
  }

  void add(const ExamplePart& part, std::size_t row, std::uint32_t support,
           std::span<const double> weights, Scratch&) override {
    const Vector x = vector_of(part, row);
    if (support + 1 == kept_.begin.size()) {
      kept_.features.insert(kept_.features.end(), x.features.begin(), x.features.end());
      kept_.values.insert(kept_.values.end(), x.values.begin(), x.values.end());
      kept_.begin.push_back(kept_.features.size());
      enter(x);
    }
    weigh(x, support, weights);
  }

  SupportVectors support_vectors() const override { return kept_; }

 protected:
  virtual void enter(const Vector& x) = 0;
  virtual void weigh(const Vector& x, std::uint32_t support, std::span<const double> weights) = 0;

  const VectorSpec spec_;
  const std::size_t n_columns_;
  PlaceMap place_of_;  // of a feature that a support vector has

 private:
  SupportVectors kept_;
};

// ------------------------------------------------------------------------------ linear

struct NoScratch final : GrowingTerm::Scratch {
  void begin_part() override {}
};

class GrowingLinear final : public GrowingVectors {
 public:
  using GrowingVectors::GrowingVectors;

  std::unique_ptr<Scratch> scratch() const override { return std::make_unique<NoScratch>(); }

  void score(const ExamplePart& part, std::size_t row, double factor, Scratch&,
             std::span<double> out, const StopToken&) const override {
    const Vector x = vector_of(part, row);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::uint32_t place = place_of_.find(x.features[k]);
      if (place == kNone) continue;
      const double* const weights = weights_.data() + place * n_columns_;
      for (std::size_t c = 0; c < out.size(); ++c) out[c] += factor * x.values[k] * weights[c];
    }
  }

 private:
  void enter(const Vector& x) override {
    for (const std::uint32_t feature : x.features) place_of_.insert(feature);
    weights_.resize(place_of_.size() * n_columns_, 0.0);
  }

  void weigh(const Vector& x, std::uint32_t, std::span<const double> weights) override {
    for (std::size_t k = 0; k < x.size(); ++k) {
      double* const own = weights_.data() + place_of_.find(x.features[k]) * n_columns_;
      for (std::size_t c = 0; c < n_columns_; ++c) own[c] += weights[c] * x.values[k];
    }
  }

  std::vector<double> weights_;  // by feature and column
};

// ------------------------------------------------------------------------------ inverted lists

struct Products final : GrowingTerm::Scratch {
  void begin_part() override {}

  std::vector<double> product;           // by support vector; 0 between examples
  std::vector<std::uint8_t> is_touched;  // by support vector
  std::vector<std::uint32_t> touched;    // in the order of their first touch
  std::vector<double> sums;
};

class InvertedLists final : public GrowingVectors {
 public:
  InvertedLists(const VectorSpec& spec, std::size_t n_columns)
      : GrowingVectors(spec, n_columns), untouched_(n_columns, 0.0) {}

  std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Products>(); }

  // Scores all support vectors as if their products with x were 0, and then corrects those with
  // other products.
  void score(const ExamplePart& part, std::size_t row, double factor, Scratch& scratch,
             std::span<double> out, const StopToken& token) const override {
    auto& s = static_cast<Products&>(scratch);
    const Vector x = vector_of(part, row);
    const double own = square(x);
    const double of_x = value_at_zero(own);
    merge(x, s, token);
    s.sums.assign(out.size(), 0.0);
    for (const std::uint32_t j : s.touched) {
      const double value = kernel_value(spec_, s.product[j], own, square_[j]) - of_x * at_zero_[j];
      const double* const weights = weights_.data() + j * n_columns_;
      for (std::size_t c = 0; c < out.size(); ++c) s.sums[c] += weights[c] * value;
      s.product[j] = 0.0;
      s.is_touched[j] = 0;
    }
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] += factor * (s.sums[c] + of_x * untouched_[c]);
    }
  }

 private:
  struct Item {
    std::uint32_t support;
    double value;
  };

  // The kernel of two vectors with product 0 is a product of two numbers, one per vector.
  double value_at_zero(double square_x) const {
    return spec_.kernel == VectorKernel::rbf ? std::exp(-spec_.gamma * square_x) : 1.0;
  }

  void merge(const Vector& x, Products& s, const StopToken& token) const {
    s.product.resize(square_.size(), 0.0);
    s.is_touched.resize(square_.size(), 0);
    s.touched.clear();
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k % 1024 == 1023) token.check();
      const std::uint32_t place = place_of_.find(x.features[k]);
      if (place == kNone) continue;
      for (const Item& item : lists_[place]) {
        if (s.is_touched[item.support] == 0) {
          s.is_touched[item.support] = 1;
          s.touched.push_back(item.support);
        }
        s.product[item.support] += x.values[k] * item.value;
      }
    }
  }

  void enter(const Vector& x) override {
    const auto support = static_cast<std::uint32_t>(square_.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::uint32_t place = place_of_.insert(x.features[k]);
      if (place == lists_.size()) lists_.emplace_back();
      lists_[place].push_back({support, x.values[k]});
    }
    square_.push_back(square(x));
    const bool rbf = spec_.kernel == VectorKernel::rbf;
    at_zero_.push_back(rbf ? value_at_zero(square_.back()) : power(spec_.coef0, spec_.degree));
    weights_.resize(weights_.size() + n_columns_, 0.0);
  }

  void weigh(const Vector&, std::uint32_t support, std::span<const double> weights) override {
    for (std::size_t c = 0; c < n_columns_; ++c) {
      weights_[support * n_columns_ + c] += weights[c];
      untouched_[c] += weights[c] * at_zero_[support];
    }
  }

  std::vector<std::vector<Item>> lists_;  // by feature
  // By support vector.
  std::vector<double> square_;
  std::vector<double> at_zero_;    // its factor in value_at_zero
  std::vector<double> weights_;    // and by column
  std::vector<double> untouched_;  // by column: the sum of weights times at_zero_
};

}  // namespace

std::unique_ptr<GrowingTerm> growing_vectors(const VectorSpec& spec, std::size_t n_columns) {
  if (spec.kernel == VectorKernel::linear) return std::make_unique<GrowingLinear>(spec, n_columns);
  return std::make_unique<InvertedLists>(spec, n_columns);
}

}  // namespace filbert
