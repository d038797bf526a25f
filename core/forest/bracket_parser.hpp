// Parses bracketed trees, `(S (NP (D a) (N dog)) (VP ran))`, directly into a DagBuilder.
//
//   tree   := '(' label tree* ')' | label            `a` and `(a)` are the same leaf; a whole tree
//                                                    may be required to have its brackets
//   outer  := '(' tree ')'                           Penn's unlabelled bracket: removed
//   label  := one or more characters; ( ) \ and white space are written \( \) \\ `\ `, and \n \t \r
//             \v \f stand for those characters; any other backslash is itself (Penn's `1\/2`)
//
// The parser makes one pass with an explicit stack and has no limit on depth or width. Text may
// arrive in pieces that end anywhere, even within a label.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "forest/builder.hpp"

namespace filbert {

class BracketParser {
 public:
  enum class OnError { raise, skip };

  // Without `bare_words` a label that stands alone, outside of brackets, is an error.
  BracketParser(DagBuilder& builder, OnError on_error, bool bare_words = true)
      : builder_(builder), on_error_(on_error), bare_words_(bare_words) {}

  // Reads a stream of trees, separated by white space. A tree that is a bare label stands alone on
  // its line. With OnError::skip, text that cannot be read is recorded in problems(), and reading
  // continues at the next line that is not indented deeper than the bad tree. A bracket in the
  // first column then always opens a new tree, so that one missing bracket does not swallow the
  // rest of the file.
  void feed(std::string_view piece);
  void finish();

  // Reads exactly one tree. Throws ParseError for any value of OnError.
  NodeId parse_one(std::string_view text);

  std::vector<NodeId>& roots() { return roots_; }
  const std::vector<ParseProblem>& problems() const { return problems_; }

 private:
  struct Frame {
    LabelId label;              // kNone: not read yet; kOuter: Penn's unlabelled bracket
    std::uint32_t first_child;  // on the stack of values
  };
  static constexpr LabelId kOuter = kNone - 1;

  void scan(const char* p, const char* end);
  const char* resume(const char* p, const char* end);
  const char* skip_mark(const char* p, const char* end);
  const char* scan_label(const char* p, const char* end);
  void open(const char* p);
  void close(const char* p);
  const char* scan_short_label(const char* p);
  void take_label(std::string_view raw, bool escaped, const char* p);
  void place_label(LabelId label, const char* p);
  void end_tree(NodeId root);
  void end_bare_word();
  void newline(const char* p);
  void end_piece(const char* end);
  void end_text();
  void begin_tree(const char* p);
  void start_over();
  void note(const ParseProblem& problem);

  std::uint64_t column(const char* p) const;
  std::uint64_t tree_column() const;
  ParseProblem unclosed() const;
  ParseProblem without_brackets(NodeId word) const;
  [[noreturn]] void fail(const char* p, std::string reason, std::string hint) const;

  DagBuilder& builder_;
  OnError on_error_;
  bool bare_words_;
  bool single_ = false;  // parse_one
  std::vector<NodeId> roots_;
  std::vector<ParseProblem> problems_;

  std::vector<Frame> frames_;
  std::vector<NodeId> values_;
  std::string unescaped_;

  // A label that continues in the next piece.
  std::string pending_;
  bool pending_backslash_ = false;
  std::uint64_t pending_column_ = 1;

  NodeId bare_ = kNone;  // a label outside brackets, a tree if it is alone on its line
  bool line_has_tree_ = false;
  bool started_ = false;  // past the optional byte order mark
  std::size_t mark_bytes_ = 0;

  // After a problem, with OnError::skip.
  bool resuming_ = false;
  bool at_line_start_ = false;
  std::uint64_t indent_ = 0;
  std::uint64_t resume_column_ = 1;

  // Columns are counted only on demand, from the start of the line in the current piece. The
  // characters of the line in earlier pieces are added.
  std::uint64_t line_ = 1;
  const char* line_start_ = nullptr;
  std::uint64_t carried_columns_ = 0;

  std::uint64_t tree_line_ = 1;
  const char* tree_start_ = nullptr;  // null: it began in an earlier piece, at tree_column_
  const char* tree_line_start_ = nullptr;
  std::uint64_t tree_carried_columns_ = 0;
  std::uint64_t tree_column_ = 1;
};

}  // namespace filbert
