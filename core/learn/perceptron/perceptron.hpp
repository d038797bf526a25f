// The kernel perceptron (Rosenblatt 1958; Aiolli et al. 2007, Fig. 4), online: examples come one by
// one, and examples that are not on the right side of the margin become support vectors.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/turns.hpp"
#include "learn/perceptron/growing_term.hpp"
#include "learn/perceptron/perceptron_rule.hpp"

namespace filbert {

// Some examples, with one part per term of the kernel
//   K(a, b) = sum_t scale_t(a) scale_t(b) K_t(a, b).
struct PerceptronExamples {
  std::span<const ExamplePart* const> parts;  // by term
  std::span<const double> scales;             // by term and example
  std::span<const double> norms;              // by example: sqrt(K(x, x))

  std::size_t size() const { return norms.size(); }
  double scale(std::size_t term, std::size_t row) const { return scales[term * size() + row]; }
};

// One thread may learn while others read. Readers hold Turns::Reading on `turns()` while they need
// a consistent state; `learn` lets them in between two examples.
class OnlinePerceptron {
 public:
  // Terms have two columns of weights per problem: the weights of the last vector w, and the
  // difference to the average (see PerceptronUpdate).
  OnlinePerceptron(std::size_t n_problems, std::vector<std::unique_ptr<GrowingTerm>> terms);

  OnlinePerceptron(const OnlinePerceptron&) = delete;
  OnlinePerceptron& operator=(const OnlinePerceptron&) = delete;

  Turns& turns() const { return turns_; }

  std::size_t n_problems() const { return rule_.n_problems(); }
  std::size_t n_terms() const { return terms_.size(); }
  const GrowingTerm& term(std::size_t t) const { return *terms_[t]; }
  const PerceptronLog& log() const { return log_; }
  std::uint32_t n_support() const { return n_support_; }
  std::uint64_t n_nodes() const;
  std::uint64_t n_tree_nodes() const;

  // Learns from the examples in the given order, until the end or until the token stops it. The
  // model is then the one after the examples so far. support_of: by example, its number as a
  // support vector or kNone; it is updated. max_nodes: stops after the example with which the model
  // exceeds this many nodes. Returns the number of examples read. Throws std::logic_error if
  // another thread learns.
  std::size_t learn(const PerceptronExamples& examples, const PerceptronTargets& targets,
                    std::span<const std::uint32_t> order, std::span<std::uint32_t> support_of,
                    std::uint64_t max_nodes, PerceptronProgress& progress, const StopToken& token);

  // Repeats the updates of a log on an empty model: gives the same model to the last bit. The
  // examples are the support vectors.
  void replay(const PerceptronExamples& examples, const PerceptronLog& log);

  // How many of these support vectors, from the first on, have at most max_nodes nodes together.
  std::size_t n_that_fit(std::span<const std::uint32_t> support, std::uint64_t max_nodes) const;

  // By example and problem, from w or from the average.
  std::vector<double> scores(const PerceptronExamples& examples, bool averaged, int n_threads,
                             const Watch& watch) const;

 private:
  using Scratches = std::vector<std::unique_ptr<GrowingTerm::Scratch>>;  // by term

  Scratches new_scratch() const;
  void score(const PerceptronExamples& examples, std::size_t row, Scratches& scratch,
             std::span<double> out, const StopToken& token) const;
  void update(const PerceptronExamples& examples, std::size_t row, std::uint32_t support,
              std::uint32_t problem, double amount, std::uint64_t time);

  mutable Turns turns_;
  std::vector<std::unique_ptr<GrowingTerm>> terms_;
  PerceptronRule rule_;
  PerceptronLog log_;
  std::uint32_t n_support_ = 0;
  Scratches scratch_;  // for learning
  std::vector<double> weights_;
};

}  // namespace filbert
