// The relevance of a fragment, from the nodes at which it is rooted, by one of two criteria:
//
//   gradient   |w|, with w = sum of f(u) v(u) over the nodes u, the weight of Eq. 6. v(u) is the
//              weight of an occurrence at u: lambda^(s/2) for subset trees.
//   chi2       N (yN - Mx)^2 / (x (N - x) M (N - M)), with N support vectors, M of them positive,
//              x of them with the fragment, and y of them positive and with the fragment.
//
// It also gives an upper bound for all larger fragments, which are rooted at some of the same
// nodes. For the gradient the bound is the sum of the positive or of the negative summands of w
// alone, because they can only become fewer and smaller. chi2 is convex in the numbers of positive
// and of other trees, so its bound is the larger of its values for either of them alone (Morishita
// & Sese 2000).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fragments/weighted_nodes.hpp"

namespace filbert {

enum class Criterion { gradient, chi2 };

struct Worth {
  double weight = 0.0;
  double relevance = 0.0;  // by the criterion; signed for the gradient
  double bound = 0.0;      // for the fragment and all that grows from it
  std::uint64_t frequency = 0;
};

inline double chi_square(double n, double m, double x, double y) {
  const double below = x * (n - x) * m * (n - m);
  const double difference = y * n - m * x;
  return below > 0.0 ? n * difference * difference / below : 0.0;
}

// For one thread.
class Judge {
 public:
  Judge(const WeightedNodes& nodes, Criterion criterion)
      : nodes_(nodes), criterion_(criterion), stamp_(nodes.n_trees(), 0) {}

  // For a fragment with weight `value` at each of the nodes.
  Worth of_nodes(std::span<const NodeId> members, double value) {
    begin();
    for (const NodeId u : members) add(u, value, value);
    return finish();
  }

  // The same step by step, for values that differ: one call of add per node.
  void begin() {
    positive_ = negative_ = positive_bound_ = negative_bound_ = 0.0;
    frequency_ = 0;
    n_with_ = n_positive_with_ = 0;
    ++now_;
  }
  // `bound`: the maximum weight of an occurrence of a larger fragment at the node.
  void add(NodeId u, double value, double bound) {
    const double f = nodes_.weight[u];
    if (f > 0.0) {
      positive_ += f * value;
      positive_bound_ += f * bound;
    } else if (f < 0.0) {
      negative_ -= f * value;
      negative_bound_ -= f * bound;
    }
    frequency_ += nodes_.frequency[u];
    if (criterion_ == Criterion::chi2) add_trees(u);
  }
  Worth finish() const {
    const double weight = positive_ - negative_;
    if (criterion_ == Criterion::gradient) {
      return {weight, weight, std::max(positive_bound_, negative_bound_), frequency_};
    }
    const double n = nodes_.n_trees(), m = nodes_.n_positive;
    const double x = n_with_, y = n_positive_with_;
    const double most = std::max(chi_square(n, m, y, y), chi_square(n, m, x - y, 0.0));
    const double own = chi_square(n, m, x, y);
    return {weight, own, std::max(own, most), frequency_};
  }

 private:
  void add_trees(NodeId u) {
    for (const std::uint32_t tree : nodes_.trees_of(u)) {
      if (stamp_[tree] == now_) continue;
      stamp_[tree] = now_;
      ++n_with_;
      n_positive_with_ += nodes_.positive[tree] ? 1 : 0;
    }
  }

  const WeightedNodes& nodes_;
  const Criterion criterion_;
  std::vector<std::uint64_t> stamp_;
  std::uint64_t now_ = 0;
  double positive_ = 0.0, negative_ = 0.0, positive_bound_ = 0.0, negative_bound_ = 0.0;
  std::uint64_t frequency_ = 0;
  std::uint32_t n_with_ = 0, n_positive_with_ = 0;
};

// FILTER: decides what is kept. Keeps the best rejected relevance, for callers that lower the
// threshold.
class Filter {
 public:
  Filter(double threshold, std::uint64_t min_frequency)
      : threshold_(threshold * (1.0 - kRounding)), min_frequency_(min_frequency) {}

  bool rare(const Worth& worth) const { return worth.frequency < min_frequency_; }
  // Whether nothing that grows from the fragment can be kept.
  bool hopeless(const Worth& worth) {
    if (rare(worth)) return true;
    if (worth.bound >= threshold_ * (1.0 - kRounding)) return false;
    largest_rejected_ = std::max(largest_rejected_, worth.bound);
    return true;
  }
  // Whether a fragment that is not rare is kept.
  bool keeps(const Worth& worth) {
    const double size = std::fabs(worth.relevance);
    if (size >= threshold_ && size > 0.0) return true;
    largest_rejected_ = std::max(largest_rejected_, size);
    return false;
  }

  double largest_rejected() const { return largest_rejected_; }
  void merge(const Filter& other) {
    largest_rejected_ = std::max(largest_rejected_, other.largest_rejected_);
  }

 private:
  static constexpr double kRounding = 1e-12;  // of sums: a value equal to the threshold is kept
  double threshold_;
  std::uint64_t min_frequency_;
  double largest_rejected_ = 0.0;
};

}  // namespace filbert
