// One problem that is solved on the available rows: its interface to the search for rows, for any
// loss.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "learn/svm/packed_rows.hpp"
#include "learn/svm/svm_problem.hpp"

namespace filbert {

class RowProblem {
 public:
  virtual ~RowProblem() = default;

  virtual bool done() const = 0;
  // Whether it cannot go on without other rows.
  bool waits() const { return !wanted_.empty(); }
  virtual std::span<const double> alpha() const = 0;
  virtual std::uint32_t progress() const = 0;  // in thousandths

  // Adds the part of the trees' examples, by their initial dual variables, to the decision values.
  virtual void add_start(const PackedRows& rows, const std::vector<bool>& trees,
                         const StopToken& token) = 0;

  // Goes on from the problem's place, with the decision values of that time.
  virtual void go_on(std::span<const double> values, const PackedRows& rows,
                     std::size_t most_wanted) = 0;
  virtual std::vector<double> values() const = 0;

  // Works on the available rows for some time. When they cannot improve the solution any more,
  // `wanted` lists the other rows that are needed.
  virtual void run(const PackedRows& rows, std::size_t most_wanted, const StopToken& token) = 0;

  // The trees whose rows are needed, the most important first.
  const std::vector<std::uint32_t>& wanted() const { return wanted_; }
  // The trees whose rows were used since the last call.
  std::vector<std::uint32_t> take_used() { return std::exchange(used_, {}); }
  // Marks trees without rows whose examples have more of the gap than the average allowed share.
  virtual void mark_missing(std::vector<bool>& missing) const = 0;

  // Call it at the end, or to pause.
  virtual SvmSolution solution() = 0;

 protected:
  std::vector<std::uint32_t> wanted_, used_;
};

}  // namespace filbert
