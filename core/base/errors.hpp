// Errors in a user's input. The bindings translate each of them into an exception of
// filbert.errors. The core itself never prints.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace filbert {

// A text that is not a tree. Lines and columns count from 1. Columns count characters, not bytes.
// The sample is the index of the text in a list of texts, from 0.
struct ParseProblem {
  std::string reason;
  std::string hint;
  std::uint64_t line = 1;
  std::uint64_t column = 1;
  std::int64_t sample = -1;
};

class ParseError : public std::runtime_error {
 public:
  explicit ParseError(ParseProblem what_and_where)
      : std::runtime_error(what_and_where.reason), problem(std::move(what_and_where)) {}
  ParseProblem problem;
};

// Arrays that do not describe a forest, for example from a damaged pickle or model file.
class InvalidForest : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// More distinct nodes, edges or labels than 32-bit ids can name.
class CapacityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A tree that contains one of its subtrees more often than 32 bits can count.
class TooManyOccurrences : public CapacityError {
 public:
  explicit TooManyOccurrences(std::size_t number)
      : CapacityError("tree " + std::to_string(number) +
                      " contains one of its subtrees more than 2^32 times"),
        tree(number) {}
  const std::size_t tree;
};

// One pair of nodes would take more steps than the caller allows.
class TooExpensive : public std::runtime_error {
 public:
  TooExpensive(std::string message, double needed)
      : std::runtime_error(std::move(message)), steps(needed) {}
  double steps;
};

// Work that would need more memory than allowed.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(std::string message, std::uint64_t needed)
      : std::runtime_error(std::move(message)), bytes(needed) {}
  std::uint64_t bytes;
};

// Work that would take more steps than allowed.
class WorkExceeded : public std::runtime_error {
 public:
  explicit WorkExceeded(double most)
      : std::runtime_error("the work takes more steps than allowed"), max_steps(most) {}
  double max_steps;
};

// More fragments pass the threshold than the caller allows.
class TooManyFragments : public std::runtime_error {
 public:
  explicit TooManyFragments(std::size_t most)
      : std::runtime_error("there are more fragments than allowed"), max_fragments(most) {}
  std::size_t max_fragments;
};

// An unnormalised kernel value beyond the range of double.
class KernelOverflow : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace filbert
