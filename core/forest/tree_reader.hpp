// Reads trees into one forest, from texts of one tree each or from a stream of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "forest/bracket_parser.hpp"
#include "forest/builder.hpp"

namespace filbert {

class TreeReader {
 public:
  // Starts with the nodes of `start`, if it is given. `bare_words`: whether a word without brackets
  // is a tree of one node.
  TreeReader(bool skip_errors, bool bare_words, const Dag* start)
      : builder_(start == nullptr ? DagBuilder() : DagBuilder(*start)),
        parser_(builder_,
                skip_errors ? BracketParser::OnError::skip : BracketParser::OnError::raise,
                bare_words),
        skip_errors_(skip_errors) {}

  std::uint64_t n_texts() const { return n_texts_; }

  // Each text is one tree. Returns false if it was skipped. A ParseError names its number.
  bool add(std::string_view text) {
    const auto sample = static_cast<std::int64_t>(n_texts_++);
    try {
      roots_.push_back(parser_.parse_one(text));
      return true;
    } catch (ParseError& error) {
      error.problem.sample = sample;
      if (!skip_errors_) throw;
      problems_.push_back(error.problem);
      return false;
    }
  }

  // Reads trees one after another; pieces may end anywhere. Not to be mixed with add().
  void feed(std::string_view piece) { parser_.feed(piece); }

  struct Result {
    std::shared_ptr<const Dag> dag;
    std::vector<NodeId> roots;
    std::vector<ParseProblem> problems;
  };
  Result finish() {
    if (n_texts_ == 0) {
      parser_.finish();
      roots_ = std::move(parser_.roots());
      problems_ = parser_.problems();
    }
    return {builder_.finish(), std::move(roots_), std::move(problems_)};
  }

 private:
  DagBuilder builder_;
  BracketParser parser_;
  bool skip_errors_;
  std::uint64_t n_texts_ = 0;
  std::vector<NodeId> roots_;
  std::vector<ParseProblem> problems_;
};

}  // namespace filbert
