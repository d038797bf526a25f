// One problem that is solved on the rows that are there: what the search for rows sees of it,
// whatever its loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/packed_rows.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

class RowProblem {
 public:
  virtual ~RowProblem() = default;

  virtual bool done() const = 0;
  // It cannot go on without other rows.
  bool waits() const { return !wanted_.empty(); }
  virtual std::span<const double> alpha() const = 0;
  virtual std::uint32_t progress() const = 0;  // in thousandths

  // Adds what the trees' examples have by their start to the decision values.
  virtual void add_start(const PackedRows& rows, const std::vector<bool>& trees,
                         const StopToken& token) = 0;

  // Goes on with the rows that are there, for some time. When they have given what they can,
  // `wanted` tells which others are needed.
  virtual void run(const PackedRows& rows, std::size_t most_wanted, const StopToken& token) = 0;

  // The trees whose rows are wanted, the most wanted first.
  const std::vector<std::uint32_t>& wanted() const { return wanted_; }
  // The trees whose rows were used in the last run.
  const std::vector<std::uint32_t>& used() const { return used_; }
  // Marks trees without rows whose examples have more of the gap than all may keep on average.
  virtual void mark_missing(std::vector<bool>& missing) const = 0;

  // At the end.
  virtual SvmSolution solution() = 0;

 protected:
  std::vector<std::uint32_t> wanted_, used_;
};

}  // namespace filbert
