// Trees from texts of one tree each, or from a stream of bytes: into one forest.
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
  explicit TreeReader(bool skip_errors)
      : parser_(builder_,
                skip_errors ? BracketParser::OnError::skip : BracketParser::OnError::raise),
        skip_errors_(skip_errors) {}

  std::uint64_t n_texts() const { return n_texts_; }

  // Each text is one tree. False where it was skipped; else a ParseError names its number.
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

  // Trees one after another, cut anywhere. Not together with add().
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
