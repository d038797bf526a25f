#include <algorithm>
#include <string>

#include "check.hpp"
#include "forest/bracket_writer.hpp"
#include "trees.hpp"

namespace filbert {

namespace {

const std::string kEllipsis = "\xE2\x80\xA6";

std::string rewritten(std::string_view text) {
  const Forest forest = read(text);
  return to_brackets(*forest.dag, forest.roots.at(0));
}

void trees_are_written_as_read() {
  for (const char* text : {"(a)", "(S a)", "(S (A a) b (C (D d)))", "(S a a a)"}) {
    CHECK_EQUAL(rewritten(text), text);
  }
}

void special_characters_are_escaped() {
  DagBuilder builder;
  const NodeId leaf = builder.leaf(builder.label("( )\\\n\t\r\v\f/"));
  const NodeId root = builder.node(builder.label("a b"), std::vector<NodeId>{leaf, leaf});
  const auto dag = builder.finish();
  CHECK_EQUAL(to_brackets(*dag, root),
              "(a\\ b \\(\\ \\)\\\\\\n\\t\\r\\v\\f/ \\(\\ \\)\\\\\\n\\t\\r\\v\\f/)");
}

std::string random_label(std::mt19937& random) {
  static const std::vector<std::string> kParts{"(",  ")",  "\\", " ",        "\n",
                                               "\t", "\r", "\v", "\f",       "n",
                                               "t",  "x",  "/",  "\xC3\xA9", "\xF0\x9F\x8C\xB3"};
  std::string label;
  for (std::uint32_t n = 1 + below(random, 4); n > 0; --n) {
    label += kParts[below(random, static_cast<std::uint32_t>(kParts.size()))];
  }
  return label;
}

Tree odd_tree(std::mt19937& random, int depth) {
  Tree tree{random_label(random), {}};
  for (std::uint32_t n = depth > 1 ? below(random, 4) : 0; n > 0; --n) {
    tree.children.push_back(odd_tree(random, depth - 1));
  }
  return tree;
}

void any_labels_come_back() {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const Forest forest = forest_of({odd_tree(random, 3)});
    const std::string text = to_brackets(*forest.dag, forest.roots[0]);
    DagBuilder builder(*forest.dag);
    BracketParser parser(builder, BracketParser::OnError::raise);
    CHECK_EQUAL(parser.parse_one(text), forest.roots[0]);
    CHECK_EQUAL(builder.size(), forest.dag->size());
  }
}

// The text is cut at the limit, and only if it is longer.
void the_limit_is_kept() {
  const Forest forest = read("(S (A a) (B bb (C ccc)) d)");
  const std::string whole = to_brackets(*forest.dag, forest.roots[0]);
  for (std::size_t limit = 0; limit < whole.size(); ++limit) {
    const std::string cut = to_brackets(*forest.dag, forest.roots[0], limit);
    CHECK_EQUAL(cut, whole.substr(0, limit) + kEllipsis);
  }
  CHECK_EQUAL(to_brackets(*forest.dag, forest.roots[0], whole.size()), whole);
  CHECK_EQUAL(to_brackets(*forest.dag, forest.roots[0], whole.size() + 1), whole);
}

void the_limit_cuts_between_characters() {
  const Forest forest = read("(\xF0\x9F\x8C\xB3 \xC3\xA9 x)");
  const std::vector<std::string> expected{"", "(", "(", "(", "(", "(\xF0\x9F\x8C\xB3"};
  for (std::size_t limit = 0; limit < expected.size(); ++limit) {
    CHECK_EQUAL(to_brackets(*forest.dag, forest.roots[0], limit), expected[limit] + kEllipsis);
  }
}

void the_limit_bounds_the_work() {
  const Forest forest = doubling_forest(100);  // 2^99 leaves
  const std::string text = to_brackets(*forest.dag, forest.roots[0], 500);
  CHECK_EQUAL(text.size(), 500 + kEllipsis.size());
  CHECK(text.starts_with("(A (A (A "));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(trees_are_written_as_read),
      TEST(special_characters_are_escaped),
      TEST(any_labels_come_back),
      TEST(the_limit_is_kept),
      TEST(the_limit_cuts_between_characters),
      TEST(the_limit_bounds_the_work),
  });
}
