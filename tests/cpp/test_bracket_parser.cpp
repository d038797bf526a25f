#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "check.hpp"
#include "forest/bracket_parser.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

using OnError = BracketParser::OnError;
using std::string_view_literals::operator""sv;

// The result of parsing a text: its trees, written out, and the problems found.
struct Outcome {
  std::vector<std::string> trees;
  std::vector<std::string> problems;  // line:column reason
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  for (const std::string& tree : outcome.trees) out << tree << '\n';
  for (const std::string& problem : outcome.problems) out << problem << '\n';
  return out;
}

std::string described(const ParseProblem& problem) {
  return std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " + problem.reason;
}

// Each piece is a copy of its own, so that a look back at an earlier one is a look at freed memory.
void feed_in_pieces(BracketParser& parser, std::string_view text, std::size_t size) {
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    const auto piece = std::make_unique<std::string>(text.substr(0, size));
    piece->shrink_to_fit();
    parser.feed(*piece);
  }
}

Outcome outcome(std::string_view text, OnError on_error, std::size_t piece_size) {
  DagBuilder builder;
  BracketParser parser(builder, on_error);
  Outcome result;
  try {
    feed_in_pieces(parser, text, piece_size);
    parser.finish();
  } catch (const ParseError& error) {
    result.problems.push_back(described(error.problem));
  }
  for (const ParseProblem& problem : parser.problems()) {
    result.problems.push_back(described(problem));
  }
  const auto dag = builder.finish();
  result.trees = written(*dag, parser.roots());
  return result;
}

// The text and what became of it, so that a check that fails shows both.
std::string summary(std::string_view text, const Outcome& outcome) {
  std::ostringstream out;
  out << '[' << text << "] gives [" << outcome << ']';
  return out.str();
}

void check_pieces(std::string_view text) {
  for (const OnError on_error : {OnError::raise, OnError::skip}) {
    const std::string whole = summary(text, outcome(text, on_error, text.size()));
    for (std::size_t size = 1; size <= 7; ++size) {
      CHECK_EQUAL(summary(text, outcome(text, on_error, size)), whole);
    }
  }
}

void check_trees(std::string_view text, const std::vector<std::string>& expected) {
  const Outcome whole = outcome(text, OnError::raise, text.size());
  CHECK_EQUAL(summary(text, whole), summary(text, {expected, {}}));
  check_pieces(text);
}

// --- syntax

void trees_and_leaves() {
  check_trees("(S (NP (D a) (N dog)) (VP ran))", {"(S (NP (D a) (N dog)) (VP ran))"});
  check_trees("a", {"(a)"});
  check_trees("(a)", {"(a)"});
}

void leaves_in_brackets_are_leaves() {
  check_trees("(S (a) b)", {"(S a b)"});
  const Forest forest = read("(S (a) b) (S a (b))");
  CHECK_EQUAL(forest.roots[0], forest.roots[1]);
}

void white_space_separates() {
  check_trees("(S\t(A\ra)\v(B\fb)\n  c)", {"(S (A a) (B b) c)"});
  check_trees("(S(A a)(B b)c)", {"(S (A a) (B b) c)"});
  check_trees("( S ( A a ) )", {"(S (A a))"});
  check_trees("(S a)\r\n(T b)\r\n", {"(S a)", "(T b)"});
}

void many_trees() {
  check_trees("", {});
  check_trees(" \n\t\n ", {});
  check_trees("(S a)(T b) (U c)\n\n(V d)", {"(S a)", "(T b)", "(U c)", "(V d)"});
  check_trees("(S a)\nb\n  c  \n(T d)\ne", {"(S a)", "(b)", "(c)", "(T d)", "(e)"});
}

void outer_brackets_are_taken_off() {
  check_trees("((S a b))", {"(S a b)"});
  check_trees("( (S (A a)) )\n((a))\n(\n  (S b)\n)\n", {"(S (A a))", "(a)", "(S b)"});
}

void escapes() {
  check_trees("(a\\ b \\( \\) \\\\)", {"(a\\ b \\( \\) \\\\)"});
  check_trees("(\\n \\t\\r \\v\\f)", {"(\\n \\t\\r \\v\\f)"});
  check_trees("(x a\\\tb)", {"(x a\\\\ b)"});
  check_trees("(CD 1\\/2)", {"(CD 1\\\\/2)"});
  check_trees("\\", {"(\\\\)"});
  check_trees("(a b\\\n c)", {"(a b\\\\ c)"});
  check_trees("(a b\\\r c)", {"(a b\\\\ c)"});
}

void escapes_mean_what_they_should() {
  const auto label = [](std::string_view text) {
    const Forest forest = read(text);
    return std::string(forest.dag->labels().text(forest.dag->label(forest.roots.at(0))));
  };
  CHECK_EQUAL(label("a\\ b"), "a b");
  CHECK_EQUAL(label("\\(\\)\\\\"), "()\\");
  CHECK_EQUAL(label("\\n\\t\\r\\v\\f"), "\n\t\r\v\f");
  CHECK_EQUAL(label("\\x\\"), "\\x\\");
  CHECK_EQUAL(label("\\\\n"), "\\n");
  CHECK_EQUAL(label("\\\\\\n"), "\\\n");
}

void other_characters_are_labels() {
  check_trees("(-LRB- [ ] { } , . ' \" ; # $ % 1.5 *T*-1)",
              {"(-LRB- [ ] { } , . ' \" ; # $ % 1.5 *T*-1)"});
  check_trees("(\xC3\xA9 \xE6\x9C\xA8 \xF0\x9F\x8C\xB3 a\xC2\xA0z)",
              {"(\xC3\xA9 \xE6\x9C\xA8 \xF0\x9F\x8C\xB3 a\xC2\xA0z)"});
}

// Whatever comes after a label ends it, or does not, wherever it stands.
void labels_of_every_length() {
  for (std::size_t length = 1; length <= 20; ++length) {
    const std::string label = std::string("abcdefghijklmnopqrst").substr(0, length);
    for (const char* after : {" ", "\t", "\r", "\v", "\f", "\n", "(B b)", "\\ ", "\x01", "\x7F"}) {
      const std::string in_tree = std::string("(S ").append(label).append(after) + "z yyyyyyyyy)";
      const bool goes_on = std::string_view("\\\x01\x7F").find(after[0]) != std::string::npos;
      const bool is_tree = after[0] == '(';
      const std::string between = goes_on ? after : is_tree ? " (B b) " : " ";
      check_trees(in_tree, {std::string("(S ").append(label) + between + "z yyyyyyyyy)"});
    }
    check_trees(std::string("(").append(label) + ")(x yyyyyyyyy)",
                {std::string("(").append(label) + ")", "(x yyyyyyyyy)"});
  }
}

void a_byte_order_mark_is_passed_over() {
  check_trees("\xEF\xBB\xBF(S a)", {"(S a)"});
  check_trees("\xEF\xBB\xBF", {});
  check_trees("\xEF\xBB\xBF\na", {"(a)"});
  check_trees("(S \xEF\xBB\xBF)", {"(S \xEF\xBB\xBF)"});
  check_trees("\xEF\xBB\xBF\xEF\xBB\xBF", {"(\xEF\xBB\xBF)"});
}

// Characters whose first bytes are those of the mark.
void almost_a_byte_order_mark() {
  check_trees("\xEF\xBC\x81", {"(\xEF\xBC\x81)"});
  check_trees("\xEF\xBB\xBCz\n(S a)", {"(\xEF\xBB\xBCz)", "(S a)"});
}

// --- errors

void check_error(std::string_view text, const std::string& place, std::string_view reason) {
  const Outcome whole = outcome(text, OnError::raise, text.size());
  CHECK_EQUAL(whole.problems.size(), 1);
  for (const std::string& problem : whole.problems) {
    CHECK_EQUAL(problem.substr(0, problem.find(' ')), place);
    CHECK_EQUAL(problem.substr(std::min(problem.find(reason), problem.size()), reason.size()),
                reason);
  }
  check_pieces(text);
}

void brackets_that_do_not_match() {
  check_error("(S (A a)", "1:1", "never closed: 1 bracket is open");
  check_error("(S a)\n  (T (A (B", "2:3", "never closed: 3 brackets are open");
  check_error("(S a))", "1:6", "closing bracket without an opening");
  check_error("(a \\)", "1:1", "never closed");
  check_error(")", "1:1", "closing bracket without an opening");
  check_error("(S a)\n\n   )", "3:4", "closing bracket without an opening");
}

void brackets_without_labels() {
  check_error("()", "1:2", "empty tree");
  check_error("( \n )", "2:2", "empty tree");
  check_error("(S ())", "1:5", "without a label inside");
  check_error("(S ((a)))", "1:5", "without a label inside");
  check_error("(())", "1:3", "without a label inside");
  check_error("(((S a)))", "1:3", "without a label inside");
}

void outer_brackets_with_too_much() {
  check_error("((S a) (T b))", "1:8", "more than one tree");
  check_error("((S a) b)", "1:8", "more than one tree");
  check_error("((S a) \xC3\xA9x)", "1:8", "more than one tree");
}

void text_outside_of_trees() {
  check_error("a b", "1:3", "text outside");
  check_error("(S a) b", "1:7", "text outside");
  check_error("(S\n a) word", "2:5", "text outside");
  check_error("a (S b)", "1:3", "text after the end");
  check_error("  word\n x \n y z", "3:4", "text outside");
}

void columns_count_characters() {
  check_error("(\xC3\xA9 \xE6\x9C\xA8) )", "1:7", "closing bracket");
  check_error("(S a)\n(\xF0\x9F\x8C\xB3 \xC3\xA9\xC3\xA9 ())", "2:8", "without a label");
  check_error("\xC3\xA9 \xC3\xA9", "1:3", "text outside");
  check_error("(S \xC3\xA9\xC3\xA9\xC3\xA9", "1:1", "never closed");
  check_error("(\xC3\xA9 x)  (S", "1:8", "never closed");
}

void columns_after_a_byte_order_mark() {
  check_error("\xEF\xBB\xBF)", "1:1", "closing bracket");
  check_error("\xEF\xBB\xBF(S a) b", "1:7", "text outside");
  check_error("\xEF\xBB\xBF \n (S", "2:2", "never closed");
  check_error("\xEF\xBC\x81 x", "1:3", "text outside");
  check_error("\xEF\xBB\xBCz (S a)", "1:4", "text after the end");
  check_error("\xEF", "1:1", "not valid UTF-8");
  check_error("\xEF\xBB", "1:1", "not valid UTF-8");
  check_error("\xEF\xBB(S a)", "1:1", "not valid UTF-8");
}

void bytes_that_are_not_text() {
  check_error("(S a\0b)"sv, "1:5", "NUL");
  check_error("(S \0)"sv, "1:4", "NUL");
  check_error("(S\n a\\\0)"sv, "2:4", "NUL");
  check_error("(S x\xFF)", "1:4", "not valid UTF-8");
  check_error("(S \xC3 b)", "1:4", "not valid UTF-8");
  check_error("word\xE6\x9C", "1:1", "not valid UTF-8");
}

void the_first_error_ends_reading() {
  const Outcome result = outcome("(S a)\n(T b))\n(U c)", OnError::raise, 100);
  CHECK(result.trees == std::vector<std::string>({"(S a)", "(T b)"}));
  CHECK_EQUAL(result.problems.size(), 1);
}

// The piece with the error is gone by then: a sanitizer sees where it is looked at again.
void finishing_after_an_error() {
  DagBuilder builder;
  BracketParser parser(builder, OnError::raise);
  CHECK_THROWS(ParseError,
               feed_in_pieces(parser, "      (S (A a) ()    and so on and so on", 1000));
  try {
    parser.finish();
  } catch (const ParseError&) {
  }
}

// --- skipping what cannot be read

void check_skipped(std::string_view text, const std::vector<std::string>& trees,
                   const std::vector<std::string>& places) {
  Outcome whole = outcome(text, OnError::skip, text.size());
  for (std::string& problem : whole.problems) problem.resize(problem.find(' '));
  CHECK_EQUAL(summary(text, whole), summary(text, {trees, places}));
  check_pieces(text);
}

void skipping_a_line() {
  check_skipped("(S a)\n(T (b\n(U c)\n", {"(S a)", "(U c)"}, {"2:1"});
  check_skipped("(S a)\n(T b))\n(U c)\n", {"(S a)", "(T b)", "(U c)"}, {"2:6"});
  check_skipped("(S a) word (T b)\n(U c)", {"(S a)", "(U c)"}, {"1:7"});
  check_skipped("()\n(())\n(U c)", {"(U c)"}, {"1:2", "2:3"});
  check_skipped("(S \xFF)\n(U c)", {"(U c)"}, {"1:4"});
  check_skipped("a b\nc\nd e", {"(c)"}, {"1:3", "3:3"});
  check_skipped("(S a)\n)\n)\n", {"(S a)"}, {"2:1", "3:1"});
}

void skipping_an_indented_tree() {
  check_skipped("(S ()\n  (A a)\n  (B b))\n(U c)", {"(U c)"}, {"1:5"});
  check_skipped("(S ()\n (A a))\n(U c)", {"(U c)"}, {"1:5"});
  check_skipped("  (S ()\n    (A a))\n  (U c)\n", {"(U c)"}, {"1:7"});
  check_skipped("  (S ()\n\n    (A a))\n (U c)\n", {"(U c)"}, {"1:7"});
  check_skipped("(S (A a)\n  ()\n  (B b)\n)\n(U c)", {"(U c)"}, {"2:4", "4:1"});
}

void a_missing_bracket_swallows_one_tree() {
  check_skipped("(S (A a)\n   (B b)\n(T (A a))\n(U c)\n", {"(T (A a))", "(U c)"}, {"1:1"});
  check_skipped("(S\n(T\n(U c)\n(V", {"(U c)"}, {"1:1", "2:1", "4:1"});
  check_skipped(" (S (A a)\n (B b)\n(T c)", {"(T c)"}, {"1:2"});
}

void problems_at_the_end() {
  check_skipped("(S a)\n(T", {"(S a)"}, {"2:1"});
  check_skipped("(S a)\n(T \xFF", {"(S a)"}, {"2:4"});
  check_skipped("(S a)\nword\xC3", {"(S a)"}, {"2:1"});
  check_skipped("(S a)\n()", {"(S a)"}, {"2:2"});
}

// --- pieces

// Trees as they might be, with a few characters lost, changed or doubled.
std::string damaged_text(std::mt19937& random) {
  static constexpr std::string_view kOdd = "(()) \n\n\\a\t\r\x01\x7F\xC3\xA9\xFF\0"sv;
  std::string text;
  for (std::uint32_t n = below(random, 5); n > 0; --n) {
    const Forest forest = forest_of({random_tree(random, 3)});
    text += std::string(below(random, 3), ' ') + to_brackets(*forest.dag, forest.roots[0]);
    text += below(random, 4) == 0 ? ' ' : '\n';
  }
  for (std::uint32_t n = below(random, 4); n > 0 && !text.empty(); --n) {
    const std::size_t i = below(random, static_cast<std::uint32_t>(text.size()));
    if (below(random, 2) == 0) text.erase(i, 1);
    text.insert(i, 1, kOdd[below(random, static_cast<std::uint32_t>(kOdd.size()))]);
  }
  return text;
}

std::string random_text(std::mt19937& random) {
  static constexpr std::string_view kLetters = "((()))  \n\nabc\\n\x01\xC3\xA9\0"sv;
  std::string text;
  for (std::uint32_t n = below(random, 30); n > 0; --n) {
    text += kLetters[below(random, static_cast<std::uint32_t>(kLetters.size()))];
  }
  return text;
}

void pieces_equal_the_whole() {
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) check_pieces(damaged_text(random));
  for (int i = 0; i < 1500; ++i) check_pieces(random_text(random));
}

void empty_pieces_are_nothing() {
  DagBuilder builder;
  BracketParser parser(builder, OnError::raise);
  for (const char* piece : {"", "(S", "", " a", "", "b", ")", ""}) parser.feed(piece);
  parser.finish();
  const auto dag = builder.finish();
  CHECK(written(*dag, parser.roots()) == std::vector<std::string>{"(S ab)"});
}

// --- words

void words_without_brackets_may_be_refused() {
  for (const std::size_t size : {1, 3, 100}) {
    DagBuilder builder;
    BracketParser parser(builder, OnError::skip, /*bare_words=*/false);
    feed_in_pieces(parser, "(a b)\n  dog\n(c)\n two words\ncat", size);
    parser.finish();
    std::vector<std::string> problems;
    for (const ParseProblem& problem : parser.problems()) problems.push_back(described(problem));
    const std::vector<std::string> expected{"2:3 a word without brackets: dog",
                                            "4:6 text outside the brackets of a tree",
                                            "5:1 a word without brackets: cat"};
    CHECK(problems == expected);
    const auto dag = builder.finish();
    CHECK(written(*dag, parser.roots()) == std::vector<std::string>({"(a b)", "(c)"}));
  }
  DagBuilder builder;
  BracketParser parser(builder, OnError::raise, /*bare_words=*/false);
  for (const char* text : {"dog", " dog", "dog\n", "d\\"}) {
    CHECK_THROWS(ParseError, parser.parse_one(text));
    parser.parse_one("(dog)");
  }
}

// --- one tree

void one_tree() {
  DagBuilder builder;
  BracketParser parser(builder, OnError::raise);
  std::vector<NodeId> roots;
  for (const char* text : {"(S (A a) b)", "a", " \n a \n ", "((S b))", "(S\n b)\n\n", "b\\"}) {
    roots.push_back(parser.parse_one(text));
  }
  const auto dag = builder.finish();
  const std::vector<std::string> expected{"(S (A a) b)", "(a)", "(a)", "(S b)", "(S b)", "(b\\\\)"};
  CHECK(written(*dag, roots) == expected);
}

void not_one_tree() {
  const std::vector<std::pair<std::string_view, std::string>> cases{
      {"", "1:1 there is no tree"},
      {" \n ", "1:1 there is no tree"},
      {"(S a) (T b)", "1:7 text after the end"},
      {"(S a)\n(T b)", "2:1 text after the end"},
      {"(S a) b", "1:7 text outside"},
      {"a\nb", "2:1 text outside"},
      {"a (b)", "1:3 text after the end"},
      {"\n (S (a", "2:2 the tree that begins here is never closed: 2 brackets"},
      {"(S a))", "1:6 a closing bracket"},
      {"()", "1:2 an empty tree"},
      {"(S \xFF)", "1:4 a label is not valid UTF-8"},
      {"(S \0)"sv, "1:4 a NUL"},
  };
  DagBuilder builder;
  BracketParser parser(builder, OnError::skip);
  for (const auto& [text, expected] : cases) {
    const auto error = check::caught<ParseError>([&, t = text] { parser.parse_one(t); });
    CHECK(error.has_value());
    if (error) CHECK_EQUAL(described(error->problem).substr(0, expected.size()), expected);
    CHECK_EQUAL(parser.parse_one("(fine x)"), parser.parse_one("(fine x)"));
  }
  CHECK(parser.problems().empty());
}

void errors_come_with_a_hint() {
  for (const char* text : {"", "(", ")", "()", "a b", "(S ())", "((S a) b)", "\xFF"}) {
    DagBuilder builder;
    BracketParser parser(builder, OnError::raise);
    const auto error = check::caught<ParseError>([&] { parser.parse_one(text); });
    CHECK(error && !error->problem.hint.empty());
    CHECK(error && error->what() == error->problem.reason);
  }
}

// --- size

void deep_trees() {
  constexpr std::size_t kDepth = 1000000;
  std::string text;
  for (std::size_t i = 0; i < kDepth; ++i) text += "(A ";
  text += "a" + std::string(kDepth, ')');
  const Forest forest = read(text);
  CHECK_EQUAL(forest.dag->size(), kDepth + 1);
  CHECK_EQUAL(forest.dag->depths()[forest.roots[0]], kDepth + 1);
  CHECK_EQUAL(forest.dag->sizes()[forest.roots[0]], kDepth + 1);
  CHECK_EQUAL(reachable(*forest.dag, forest.roots).size(), kDepth + 1);
  CHECK(to_brackets(*forest.dag, forest.roots[0]) == text);
  std::vector<NodeId> roots = forest.roots;
  CHECK_EQUAL(extract(*forest.dag, roots)->size(), kDepth + 1);
}

void wide_trees() {
  constexpr std::size_t kWidth = 1000000;
  std::string text = "(A";
  for (std::size_t i = 0; i < kWidth; ++i) text += i % 3 == 0 ? " (B b)" : " c";
  text += ")";
  const Forest forest = read(text);
  CHECK_EQUAL(forest.dag->size(), 4);
  CHECK_EQUAL(forest.dag->arity(forest.roots[0]), kWidth);
  CHECK(to_brackets(*forest.dag, forest.roots[0]) == text);
}

void long_labels() {
  const std::string label(1000000, 'x');
  const Forest forest = read(label);
  CHECK_EQUAL(forest.dag->labels().text(0).size(), label.size());
  std::string tree = "(S ";
  tree.append(3000, 'y').append(")");
  check_trees(tree, {tree});
}

void many_errors() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += ")\n(S a)\n";
  const Outcome result = outcome(text, OnError::skip, text.size());
  CHECK_EQUAL(result.trees.size(), 100000);
  CHECK_EQUAL(result.problems.size(), 100000);
  CHECK(result.problems.back().starts_with("199999:1 "));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(trees_and_leaves),
      TEST(leaves_in_brackets_are_leaves),
      TEST(white_space_separates),
      TEST(many_trees),
      TEST(outer_brackets_are_taken_off),
      TEST(escapes),
      TEST(escapes_mean_what_they_should),
      TEST(other_characters_are_labels),
      TEST(labels_of_every_length),
      TEST(a_byte_order_mark_is_passed_over),
      TEST(almost_a_byte_order_mark),
      TEST(columns_after_a_byte_order_mark),
      TEST(brackets_that_do_not_match),
      TEST(brackets_without_labels),
      TEST(outer_brackets_with_too_much),
      TEST(text_outside_of_trees),
      TEST(columns_count_characters),
      TEST(bytes_that_are_not_text),
      TEST(the_first_error_ends_reading),
      TEST(skipping_a_line),
      TEST(skipping_an_indented_tree),
      TEST(a_missing_bracket_swallows_one_tree),
      TEST(problems_at_the_end),
      TEST(pieces_equal_the_whole),
      TEST(empty_pieces_are_nothing),
      TEST(words_without_brackets_may_be_refused),
      TEST(one_tree),
      TEST(not_one_tree),
      TEST(errors_come_with_a_hint),
      TEST(deep_trees),
      TEST(wide_trees),
      TEST(long_labels),
      TEST(many_errors),
      TEST(finishing_after_an_error),
  });
}
