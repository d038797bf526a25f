// The factors of differences of examples, phi(i) - phi(j), for learning to rank. A difference is
// not stored: it has the entries of example i, and those of example j with the opposite sign.
//
// What an example alone has is shared by all differences in which it occurs. It is therefore one
// more column for each example.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace filbert {

// The interface of SumFactors, with pairs in place of examples. F is SingleFactors or SumFactors.
template <class F>
class PairFactors {
 public:
  // Pair p is (first[p], second[p]). Pairs of the same first example should be neighbours. Throws
  // std::invalid_argument if an example does not exist.
  PairFactors(const F& factors, std::vector<std::uint32_t> first, std::vector<std::uint32_t> second,
              int n_threads, const Watch& watch)
      : f_(factors), first_(std::move(first)), second_(std::move(second)) {
    const auto exists = [&](std::uint32_t i) { return i < f_.n_trees(); };
    if (first_.size() != second_.size() || !std::all_of(first_.begin(), first_.end(), exists) ||
        !std::all_of(second_.begin(), second_.end(), exists)) {
      throw std::invalid_argument("pairs must name two examples each");
    }
    compute_selves(n_threads, watch);
  }

  std::size_t n_trees() const { return first_.size(); }
  std::size_t n_columns() const { return f_.n_columns() + f_.n_trees(); }
  std::uint64_t n_entries() const {
    return 2 * n_trees() * (1 + f_.n_entries() / std::max<std::uint64_t>(1, f_.n_trees()));
  }

  void prefetch(std::size_t p) const {
    f_.prefetch(first_[p]);
    f_.prefetch(second_[p]);
  }

  double dot(std::size_t p, const double* z) const {
    const double* const own = z + f_.n_columns();
    const std::uint32_t i = first_[p], j = second_[p];
    return (f_.dot(i, z) + own[i]) - (f_.dot(j, z) + own[j]);
  }

  void add(std::size_t p, double weight, double* z) const {
    add_example(first_[p], weight, z);
    add_example(second_[p], -weight, z);
  }

  bool has_values() const { return true; }

  // visit(column, value, mass) for all entries of a pair; a column may be visited twice
  template <class Visit>
  void for_each(std::size_t p, const Visit& visit) const {
    const std::uint32_t i = first_[p], j = second_[p];
    f_.for_each(i, visit);
    f_.for_each(
        j, [&](std::size_t column, double value, double mass) { visit(column, -value, mass); });
    visit(f_.n_columns() + i, 1.0, f_.diagonal[i]);
    visit(f_.n_columns() + j, -1.0, f_.diagonal[j]);
  }

  // Nothing belongs to one pair alone.
  struct Zeros {
    double operator[](std::size_t) const { return 0.0; }
  };
  Zeros diagonal;
  std::vector<double> self;  // by pair: K_ii + K_jj - 2 K_ij

 private:
  void add_example(std::uint32_t i, double weight, double* z) const {
    f_.add(i, weight, z);
    z[f_.n_columns() + i] += weight * f_.diagonal[i];
  }

  void compute_selves(int n_threads, const Watch& watch) {
    constexpr std::size_t kPart = 4096;
    self.resize(n_trees());
    n_threads = threads_for(static_cast<double>(n_entries()), n_threads);
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(std::max(1, n_threads)));
    parallel_for((n_trees() + kPart - 1) / kPart, n_threads, watch,
                 [&](std::size_t part, int worker, const StopToken& token) {
                   std::vector<double>& z = scratch[static_cast<std::size_t>(worker)];
                   z.resize(f_.n_columns(), 0.0);
                   compute_selves(part * kPart, std::min(n_trees(), (part + 1) * kPart), z, token);
                 });
  }

  // z is zero before and after.
  void compute_selves(std::size_t begin, std::size_t end, std::vector<double>& z,
                      const StopToken& token) {
    for (std::size_t p = begin, next = begin; p < end; p = next) {
      token.check();
      const std::uint32_t i = first_[p];
      f_.add(i, 1.0, z.data());
      for (; next < end && first_[next] == i; ++next) {
        const std::uint32_t j = second_[next];
        const double both = i == j ? f_.self[i] : f_.dot(j, z.data());
        self[next] = std::max(0.0, f_.self[i] + f_.self[j] - 2.0 * both);
      }
      f_.for_each(i, [&](std::size_t column, double, double) { z[column] = 0.0; });
    }
  }

  const F& f_;
  std::vector<std::uint32_t> first_, second_;
};

}  // namespace filbert
