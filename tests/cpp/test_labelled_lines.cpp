// Tests labelled trees, one per line: how a line is split, and that pieces and threads do not
// change the result.
#include <sstream>
#include <stdexcept>

#include "check.hpp"
#include "forest/labelled_lines.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

constexpr SvmlightTkFormat kSvmlightTk;

// --- lines

// "label|tree", with "|features" where there are some, "nothing" or "unusual".
std::string split(const LineFormat& format, std::string_view line) {
  const LineParts parts = split_line(format, line);
  if (parts.kind == LineKind::nothing) return "nothing";
  if (parts.kind == LineKind::unusual) return "unusual";
  const std::string both = std::string(parts.label) + "|" + std::string(parts.tree);
  return parts.features.empty() ? both : both + "|" + std::string(parts.features);
}

void tsv_lines_of_two_columns() {
  const TsvFormat two;
  CHECK_EQUAL(split(two, "x\t(a b)"), "x|(a b)");
  CHECK_EQUAL(split(two, " x y \t (a) "), " x y | (a) ");
  CHECK_EQUAL(split(two, "#\t(a)"), "#|(a)");
  CHECK_EQUAL(split(two, "\t(a)"), "|(a)");
  CHECK_EQUAL(split(two, "x\t"), "x|");
  CHECK_EQUAL(split(two, ""), "nothing");
  CHECK_EQUAL(split(two, " \t \v\f\r"), "nothing");
  CHECK_EQUAL(split(two, "x (a)"), "unusual");
  CHECK_EQUAL(split(two, "x\t(a)\t"), "unusual");
}

void tsv_lines_of_any_columns() {
  CHECK_EQUAL(split(TsvFormat{1, 2, 0}, "a\tb\tc\td"), "b|c");
  CHECK_EQUAL(split(TsvFormat{-1, 0, 0}, "a\tb\tc\td"), "d|a");
  CHECK_EQUAL(split(TsvFormat{0, -4, 0}, "a\tb\tc\td"), "a|a");
  CHECK_EQUAL(split(TsvFormat{0, -1, 0}, "a"), "a|a");
  CHECK_EQUAL(split(TsvFormat{0, 1, 0}, "a\t"), "a|");
  for (const std::int64_t column : {4, -5, 1 << 30, -(1 << 30)}) {
    CHECK_EQUAL(split(TsvFormat{column, 0, 0}, "a\tb\tc\td"), "unusual");
    CHECK_EQUAL(split(TsvFormat{0, column, 0}, "a\tb\tc\td"), "unusual");
  }
}

void svmlight_tk_lines() {
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| (a b) |ET|"), "1 | (a b) ");
  CHECK_EQUAL(split(kSvmlightTk, "-1|BT|a|ET||EV| anything"), "-1|a");
  CHECK_EQUAL(split(kSvmlightTk, "|BT||ET|"), "|");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| (a #b) |ET| \t # |BT| 1:1"), "1 | (a #b) | \t ");
  CHECK_EQUAL(split(kSvmlightTk, " \t"), "nothing");
  CHECK_EQUAL(split(kSvmlightTk, " # 1 |BT| a |ET|"), "nothing");
  CHECK_EQUAL(split(kSvmlightTk, "1 (a b) |ET|"), "unusual");
  CHECK_EQUAL(split(kSvmlightTk, "1 |ET| |BT| (a b)"), "unusual");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| (a b)"), "unusual");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| a |BT| b |ET|"), "unusual");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| a |ET| 1:1 2:3|EV| 5:5"), "1 | a | 1:1 2:3");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| a |ET| 1:1 |BV| 2:3"), "unusual");
  CHECK_EQUAL(split(kSvmlightTk, "1 |BT| a |ET| |BV| |EV|"), "unusual");
}

// --- pieces and threads

struct Read {
  std::shared_ptr<const Dag> dag;
  std::vector<NodeId> roots;
  LabelTable labels;
  std::vector<std::uint32_t> label_of;
};

Read read_lines(const std::string& text, std::size_t piece_bytes, int n_threads,
                const LineFormat& format = TsvFormat{}) {
  LabelledLines lines(format, piece_bytes);
  const std::size_t newline = text.find('\n', text.size() / 2);  // two texts, as from a file
  const std::size_t half = newline == text.npos ? text.size() : newline + 1;
  CHECK(lines.add(std::string_view(text).substr(0, half), n_threads, {}));
  CHECK(lines.add(std::string_view(text).substr(half), n_threads, {}));
  LabelledLines::Examples read = lines.finish();
  return {read.trees.finish(), read.roots, read.labels, read.label_of};
}

void check_same_labels(const LabelTable& a, const LabelTable& b) {
  CHECK_EQUAL(a.size(), b.size());
  for (LabelId i = 0; i < std::min(a.size(), b.size()); ++i) CHECK_EQUAL(a.text(i), b.text(i));
}

void check_same_nodes(const Dag& a, const Dag& b) {
  check_same_labels(a.labels(), b.labels());
  CHECK_EQUAL(a.size(), b.size());
  for (NodeId u = 0; u < std::min(a.size(), b.size()); ++u) {
    CHECK_EQUAL(a.label(u), b.label(u));
    const auto own = a.children(u), others = b.children(u);
    CHECK(std::equal(own.begin(), own.end(), others.begin(), others.end()));
  }
}

// The trees one by one into one builder: what pieces must give.
Read read_serially(const std::vector<Tree>& trees, const std::vector<std::string>& labels) {
  Read read;
  DagBuilder builder;
  BracketParser parser(builder, BracketParser::OnError::raise);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const Forest one = forest_of({trees[i]});
    read.roots.push_back(parser.parse_one(to_brackets(*one.dag, one.roots[0])));
    read.label_of.push_back(read.labels.intern(labels[i]));
  }
  read.dag = builder.finish();
  return read;
}

void pieces_and_threads_do_not_show() {
  const std::vector<Tree> trees = random_trees(7, 400, 5);
  std::mt19937 random(3);
  std::vector<std::string> labels;
  std::string text;
  for (const Tree& tree : trees) {
    const Forest one = forest_of({tree});
    labels.push_back("class " + std::to_string(below(random, 40)));
    text += labels.back() + '\t' + to_brackets(*one.dag, one.roots[0]);
    text += below(random, 3) == 0 ? "\r\n\n" : "\n";
  }
  text.pop_back();  // the last line has no end
  const Read expected = read_serially(trees, labels);
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{50}, std::size_t{3000},
                                        text.size() / 2, text.size(), 2 * text.size()}) {
    for (const int n_threads : {1, 2, 3, 8}) {
      const Read read = read_lines(text, piece_bytes, n_threads);
      check_same_nodes(*read.dag, *expected.dag);
      check_same_labels(read.labels, expected.labels);
      CHECK(read.roots == expected.roots);
      CHECK(read.label_of == expected.label_of);
    }
  }
}

void svmlight_tk_files() {
  const Read read =
      read_lines("# two\r\n+1 |BT| (a b) |ET|\n\n-1 |BT| (c (a b)) |ET| |EV|\n+1 |BT|(a b)|ET|", 20,
                 2, kSvmlightTk);
  CHECK(written(*read.dag, read.roots) ==
        std::vector<std::string>({"(a b)", "(c (a b))", "(a b)"}));
  CHECK(read.label_of == std::vector<std::uint32_t>({0, 1, 0}));
  CHECK_EQUAL(read.labels.text(1), "-1 ");
}

// --- features

// "column:value ..." for each row, "unusual" for a row that is.
std::string features(std::string_view text) {
  FeatureRows rows;
  if (!rows.add(text)) return "unusual";
  std::string out;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    std::ostringstream value;
    value << rows.values[i];
    out += (i == 0 ? "" : " ") + std::to_string(rows.columns[i]) + ":" + value.str();
  }
  return out;
}

void features_of_a_line() {
  CHECK_EQUAL(features(""), "");
  CHECK_EQUAL(features(" \t\v"), "");
  CHECK_EQUAL(features("1:1"), "0:1");
  CHECK_EQUAL(features(" 1:0.5\t 7:-2e3  2147483647:+.25 "), "0:0.5 6:-2000 2147483646:0.25");
  CHECK_EQUAL(features("0000000002:1"), "1:1");
  for (const std::string_view text :
       {"x",       "1",       ":1",    "1:",           "0:1",
        "-1:1",    "+1:1",    "1.0:1", "2147483648:1", "99999999999:1",
        "2:1 2:1", "2:1 1:1", "1:x",   "1:1x",         "1:nan",
        "1:inf",   "1:1e999", "1:+-1", "1:++1",        "1:1:1",
        "1:0x1",   "1:1_0",   "1 :1"}) {
    CHECK_EQUAL(features(text), "unusual");
    CHECK(!LabelledLines(kSvmlightTk, 100).add("1 |BT| a |ET| " + std::string(text), 1, {}));
  }
}

void features_of_pieces_and_threads() {
  std::string text;
  std::vector<std::int64_t> row_begin = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::mt19937 random(5);
  for (int row = 0; row < 300; ++row) {
    text += "1 |BT| (a b) |ET|";
    std::int32_t column = -1;
    for (std::uint32_t n = below(random, 5); n > 0; --n) {
      columns.push_back(column += 1 + static_cast<std::int32_t>(below(random, 1000)));
      values.push_back(below(random, 100) / 8.0);
      text += " " + std::to_string(column + 1) + ":" + std::to_string(values.back());
    }
    row_begin.push_back(static_cast<std::int64_t>(columns.size()));
    text += "\n";
  }
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{999}, text.size()}) {
    for (const int n_threads : {1, 3}) {
      LabelledLines lines(kSvmlightTk, piece_bytes);
      CHECK(lines.add(text, n_threads, {}));
      const FeatureRows read = lines.finish().features;
      CHECK(read.row_begin == row_begin);
      CHECK(read.columns == columns);
      CHECK(read.values == values);
    }
  }
}

void no_lines() {
  for (const std::string text : {"", "\n", "\r\n \n\n"}) {
    const Read read = read_lines(text, 2, 2);
    CHECK_EQUAL(read.dag->size(), 0);
    CHECK(read.roots.empty() && read.label_of.empty());
  }
}

void unusual_lines_are_left_to_others() {
  std::string good;
  for (int i = 0; i < 50; ++i) good += "x\t(a b)\n";
  using namespace std::string_literals;
  for (const std::string& line : {"x"s, "x\t"s, "x\t(a"s, "x\t(a))"s, "x\t(a) (b)"s, "\t(a)"s,
                                  "\xFF\t(a)"s, "x\t(\xFF)"s, "x\0\t(a)"s, "x\t(a \0)"s}) {
    for (const std::string& text :
         {line, line + '\n' + good, good + line, good + line + '\n' + good}) {
      for (const std::size_t piece_bytes : {1, 30, 100000}) {
        CHECK(!LabelledLines(TsvFormat{}, piece_bytes).add(text, 2, {}));
      }
    }
  }
}

// What was read before is as it was: the same numbers, and reading goes on from there.
void unusual_lines_leave_what_was_read_before() {
  const std::string first = "x\t(S (A a) (B b))\ny\t(S (A c))\n";
  const std::string last = "z\t(S (A a) (C d))\nx\t(S e)\n";
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{30}, std::size_t{100000}}) {
    for (const int n_threads : {1, 2}) {
      LabelledLines lines(TsvFormat{}, piece_bytes);
      CHECK(lines.add(first, n_threads, {}));
      CHECK(!lines.add("w\t(new (nodes n))\nv\t(S f)\nv\t(S (A\n", n_threads, {}));
      CHECK(lines.add(last, n_threads, {}));
      LabelledLines::Examples read = lines.finish();
      const Read expected = read_lines(first + last, 100000, 1);
      check_same_nodes(*read.trees.finish(), *expected.dag);
      check_same_labels(read.labels, expected.labels);
      CHECK(read.roots == expected.roots);
      CHECK(read.label_of == expected.label_of);
    }
  }
  LabelledLines lines(kSvmlightTk, 10);
  CHECK(lines.add("1 |BT| (a b) |ET| 1:1 3:2\n", 1, {}));
  CHECK(!lines.add("1 |BT| (a b) |ET| 2:1\n1 |BT| (a b) |ET| 4:1 x\n", 1, {}));
  CHECK(lines.add("1 |BT| (a b) |ET| 5:7\n", 1, {}));
  const FeatureRows features = lines.finish().features;
  CHECK(features.row_begin == std::vector<std::int64_t>({0, 2, 3}));
  CHECK(features.columns == std::vector<std::int32_t>({0, 2, 4}));
}

void labels_that_must_be_numbers() {
  const TsvFormat numbers{0, 1, 2, /*number_labels=*/true};
  for (const std::string label : {"1", " -1.5 ", "+2", "1e3"}) {
    CHECK(LabelledLines(kSvmlightTk, 100).add(label + " |BT| (a) |ET|", 1, {}));
    CHECK(LabelledLines(numbers, 100).add(label + "\t(a)", 1, {}));
  }
  for (const std::string label : {"", "x", "nan", "inf", "1e999", "1_0", "+-1", "1 2"}) {
    CHECK(!LabelledLines(kSvmlightTk, 100).add(label + " |BT| (a) |ET|", 1, {}));
    CHECK(!LabelledLines(numbers, 100).add(label + "\t(a)", 1, {}));
  }
  CHECK(LabelledLines(TsvFormat{}, 100).add("x\t(a)", 1, {}));
}

void empty_labels() {
  const TsvFormat last{1, 0, 2};
  CHECK(LabelledLines(last, 100).add("(a)\tx\n(b)\t \r\n\n", 1, {}));
  CHECK(!LabelledLines(last, 100).add("(a)\tx\n(b)\t\n", 1, {}));
  CHECK(!LabelledLines(last, 100).add("(a)\t\r\n", 1, {}));
  CHECK(!LabelledLines(TsvFormat{}, 100).add("\t(a)", 1, {}));
}

void words_may_be_refused() {
  CHECK(LabelledLines(TsvFormat{}, 100).add("x\tdog", 1, {}));
  CHECK(!LabelledLines(TsvFormat{}, 100, /*bare_words=*/false).add("x\tdog", 1, {}));
  CHECK(LabelledLines(TsvFormat{}, 100, /*bare_words=*/false).add("x\t(dog)", 1, {}));
}

void what_the_watch_throws_ends_the_reading() {
  struct Interrupt : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  std::string text;
  while (text.size() < 40'000'000) text += "x\t(S (NP (D a) (N b)) (VP c))\n";
  for (const std::size_t piece_bytes : {std::size_t{1} << 16, text.size()}) {
    LabelledLines lines(TsvFormat{}, piece_bytes);
    CHECK_THROWS(Interrupt,
                 lines.add(text, 2, [](std::size_t, std::size_t) { throw Interrupt("now"); }));
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(tsv_lines_of_two_columns),
      TEST(tsv_lines_of_any_columns),
      TEST(svmlight_tk_lines),
      TEST(pieces_and_threads_do_not_show),
      TEST(svmlight_tk_files),
      TEST(features_of_a_line),
      TEST(features_of_pieces_and_threads),
      TEST(no_lines),
      TEST(unusual_lines_are_left_to_others),
      TEST(unusual_lines_leave_what_was_read_before),
      TEST(labels_that_must_be_numbers),
      TEST(empty_labels),
      TEST(words_may_be_refused),
      TEST(what_the_watch_throws_ends_the_reading),
  });
}
