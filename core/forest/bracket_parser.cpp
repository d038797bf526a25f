#include "forest/bracket_parser.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "forest/bracket_writer.hpp"

namespace filbert {

namespace {

enum class Kind : unsigned char { label, space, newline, open, close, backslash, nul };

constexpr std::array<Kind, 256> kinds = [] {
  std::array<Kind, 256> table{};
  table.fill(Kind::label);
  for (const char c : {' ', '\t', '\r', '\v', '\f'})
    table[static_cast<unsigned char>(c)] = Kind::space;
  table['\n'] = Kind::newline;
  table['('] = Kind::open;
  table[')'] = Kind::close;
  table['\\'] = Kind::backslash;
  table[0] = Kind::nul;
  return table;
}();

Kind kind(char c) { return kinds[static_cast<unsigned char>(c)]; }

// A character after a backslash belongs to the label, unless it is NUL or white space other than a
// blank. In that case the backslash stands for itself.
bool escapes(char next) {
  return kind(next) != Kind::newline && kind(next) != Kind::nul &&
         (kind(next) != Kind::space || next == ' ');
}

char control_of(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'v': return '\v';
    case 'f': return '\f';
    default: return '\0';
  }
}

void unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char next = raw[i + 1];
    if (next == '(' || next == ')' || next == '\\' || next == ' ') {
      out.push_back(next);
      ++i;
    } else if (const char control = control_of(next); control != '\0') {
      out.push_back(control);
      ++i;
    } else {
      out.push_back('\\');
    }
  }
}

std::uint64_t count_characters(const char* begin, const char* end) {
  return static_cast<std::uint64_t>(std::count_if(
      begin, end, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

}  // namespace

void BracketParser::feed(std::string_view piece) {
  if (piece.empty()) return;
  if (!started_ && mark_bytes_ == 0) builder_.expect_text(piece.size());
  const char* p = piece.data();
  const char* const end = p + piece.size();
  line_start_ = p;
  if (!started_) {
    p = skip_mark(p, end);
    line_start_ = p;
  }
  while (p < end) {
    if (resuming_) {
      p = resume(p, end);
      continue;
    }
    try {
      scan(p, end);
      p = end;
    } catch (const ParseError& error) {
      if (on_error_ == OnError::raise) {
        start_over();  // no pointer into this piece may remain
        tree_start_ = nullptr;
        throw;
      }
      note(error.problem);
      p = line_start_;  // everything before this line has been read
    }
  }
  end_piece(end);
}

// Skips a byte order mark at the start of the text. The mark may also arrive in pieces.
const char* BracketParser::skip_mark(const char* p, const char* const end) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  while (p < end && mark_bytes_ < mark.size() && *p == mark[mark_bytes_]) {
    ++p;
    ++mark_bytes_;
  }
  if (mark_bytes_ == mark.size()) {
    started_ = true;
  } else if (p < end) {  // no byte order mark: these bytes begin a label
    started_ = true;
    pending_.assign(mark.substr(0, mark_bytes_));
    if (mark_bytes_ > 0) carried_columns_ = 1;  // the character that these bytes begin
  }
  return p;
}

// Skips to the next line that is not indented deeper than the tree that could not be read. If a
// tree spans several lines, its further lines are indented.
const char* BracketParser::resume(const char* p, const char* const end) {
  for (; p < end; ++p) {
    const Kind k = kind(*p);
    if (k == Kind::newline) {
      newline(p);
      at_line_start_ = true;
      indent_ = 0;
    } else if (at_line_start_ && k == Kind::space) {
      ++indent_;
    } else if (at_line_start_) {
      if (indent_ < resume_column_) {
        resuming_ = false;
        return p;
      }
      at_line_start_ = false;
    }
  }
  return p;
}

void BracketParser::note(const ParseProblem& problem) {
  resume_column_ = frames_.empty() ? kNone : tree_column();
  problems_.push_back(problem);
  start_over();
  resuming_ = true;
  at_line_start_ = false;
}

void BracketParser::finish() {
  if (!started_ && mark_bytes_ > 0) pending_.assign("\xEF\xBB", mark_bytes_);
  try {
    end_text();
  } catch (const ParseError& error) {
    if (on_error_ == OnError::raise) throw;
    note(error.problem);
  }
}

NodeId BracketParser::parse_one(std::string_view text) {
  single_ = true;
  line_ = 1;
  carried_columns_ = 0;
  tree_start_ = nullptr;
  start_over();
  line_start_ = text.data();
  const std::size_t before = roots_.size();
  scan(text.data(), text.data() + text.size());
  end_piece(text.data() + text.size());
  end_text();
  if (roots_.size() == before) {
    throw ParseError(
        {"there is no tree", "a tree is a label or a bracket such as (S (NP a) (VP b))", 1, 1});
  }
  const NodeId root = roots_.back();
  roots_.pop_back();
  return root;
}

void BracketParser::scan(const char* p, const char* const end) {
  if (!pending_.empty()) p = scan_label(p, end);
  while (p < end) {
    switch (kind(*p)) {
      case Kind::space: ++p; break;
      case Kind::newline: newline(p++); break;
      case Kind::open: open(p++); break;
      case Kind::close: close(p++); break;
      default:
        if (end - p >= 8) {
          if (const char* after = scan_short_label(p)) {
            p = after;
            break;
          }
        }
        p = scan_label(p, end);
    }
  }
}

// Most labels are shorter than eight bytes. Their end is found in all eight bytes at once, without
// a loop whose length the processor would have to predict. Returns null if the label is longer or
// contains a backslash or a control character.
const char* BracketParser::scan_short_label(const char* const p) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  constexpr std::uint64_t ones = ~std::uint64_t{0} / 255;
  const auto zero_bytes = [](std::uint64_t x) { return (x - ones) & ~x & (ones * 0x80); };
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  const std::uint64_t up_to_blank = (word - ones * 0x21) & ~word & (ones * 0x80);
  const std::uint64_t ends = up_to_blank | zero_bytes(word ^ (ones * '(')) |
                             zero_bytes(word ^ (ones * ')')) | zero_bytes(word ^ (ones * '\\'));
  if (ends == 0) return nullptr;
  const auto size = static_cast<std::size_t>(std::countr_zero(ends)) / 8;  // the first end is exact
  const Kind after = kind(p[size]);
  if (size == 0 || after == Kind::backslash || after == Kind::nul || after == Kind::label) {
    return nullptr;
  }
  const std::string_view text(p, size);
  LabelId label = kNone;
  try {
    label = builder_.short_label(text, word & (~std::uint64_t{0} >> (64 - 8 * size)));
  } catch (const InvalidLabel& invalid) {
    fail(p, invalid.reason, "trees are UTF-8 text; convert the file from its encoding");
  }
  place_label(label, p);
  return p + size;
}

const char* BracketParser::scan_label(const char* const begin, const char* const end) {
  const char* p = begin;
  bool escaped = false;
  if (pending_backslash_ && p < end) {
    pending_backslash_ = false;
    if (escapes(*p)) ++p;
  }
  while (p < end) {
    const Kind k = kind(*p);
    if (k == Kind::label) {
      ++p;
    } else if (k == Kind::backslash) {
      escaped = true;
      ++p;
      if (p == end) {
        pending_backslash_ = true;
      } else if (escapes(*p)) {
        ++p;
      }
    } else if (k == Kind::nul) {
      fail(p, "a NUL character", "the file may be binary or in UTF-16; trees are UTF-8 text");
    } else {
      break;
    }
  }
  if (p == end && !single_) {  // the label may continue in the next piece
    if (pending_.empty()) pending_column_ = column(begin);
    pending_.append(begin, p);
  } else if (pending_.empty()) {
    take_label({begin, static_cast<std::size_t>(p - begin)}, escaped, begin);
  } else {
    pending_.append(begin, p);
    const std::string label = std::move(pending_);
    pending_.clear();
    take_label(label, true, nullptr);
  }
  return p;
}

void BracketParser::open(const char* p) {
  const bool first_column = p == line_start_ && carried_columns_ == 0;
  if (first_column && !frames_.empty() && on_error_ == OnError::skip && !single_) {
    problems_.push_back(unclosed());
    start_over();
  }
  if (frames_.empty()) {
    if (bare_ != kNone || (single_ && line_has_tree_)) {
      fail(p, "text after the end of the tree", "one tree is expected here");
    }
    begin_tree(p);
  } else if (frames_.back().label == kNone) {
    if (frames_.size() > 1) {
      fail(p, "a bracket without a label inside a tree", "write (label ...)");
    }
    frames_.back().label = kOuter;
  } else if (frames_.back().label == kOuter && !values_.empty()) {
    fail(p, "an outer bracket without a label holds more than one tree",
         "give it a label, or write one tree for each bracket");
  }
  frames_.push_back({kNone, static_cast<std::uint32_t>(values_.size())});
}

void BracketParser::close(const char* p) {
  if (frames_.empty()) {
    fail(p, "a closing bracket without an opening one", "remove it, or open a tree before it");
  }
  const Frame frame = frames_.back();
  if (frame.label == kNone) {
    fail(p, frames_.size() == 1 ? "an empty tree: ()" : "a bracket without a label inside a tree",
         "write (label ...)");
  }
  NodeId id;
  if (frame.label == kOuter) {
    id = values_.back();
  } else if (values_.size() == frame.first_child) {
    id = builder_.leaf(frame.label);
  } else {
    id = builder_.node(frame.label, std::span(values_).subspan(frame.first_child));
  }
  values_.resize(frame.first_child);
  frames_.pop_back();
  if (frames_.empty()) {
    end_tree(id);
  } else {
    values_.push_back(id);
  }
}

void BracketParser::take_label(std::string_view raw, bool escaped, const char* p) {
  if (escaped) {
    unescape(raw, unescaped_);
    raw = unescaped_;
  }
  LabelId label = kNone;
  try {
    label = builder_.label(raw);
  } catch (const InvalidLabel& invalid) {
    fail(p, invalid.reason, "trees are UTF-8 text; convert the file from its encoding");
  }
  place_label(label, p);
}

void BracketParser::place_label(LabelId label, const char* p) {
  if (frames_.empty()) {
    if (bare_ != kNone || line_has_tree_) {
      fail(p, "text outside the brackets of a tree",
           "write one tree a line; a tree of one node may stand alone on its line");
    }
    begin_tree(p);
    bare_ = builder_.leaf(label);
  } else if (frames_.back().label == kNone) {
    frames_.back().label = label;
  } else if (frames_.back().label == kOuter) {
    fail(p, "an outer bracket without a label holds more than one tree",
         "give it a label, or write one tree for each bracket");
  } else {
    values_.push_back(builder_.leaf(label));
  }
}

void BracketParser::end_tree(NodeId root) {
  roots_.push_back(root);
  line_has_tree_ = true;
}

void BracketParser::end_bare_word() {
  if (bare_ == kNone) return;
  const NodeId word = std::exchange(bare_, kNone);
  if (!bare_words_) throw ParseError(without_brackets(word));
  end_tree(word);
}

void BracketParser::newline(const char* p) {
  if (!single_) end_bare_word();
  ++line_;
  line_start_ = p + 1;
  carried_columns_ = 0;
  if (!single_) line_has_tree_ = false;
}

void BracketParser::begin_tree(const char* p) {
  tree_line_ = line_;
  tree_start_ = p;
  tree_line_start_ = line_start_;
  tree_carried_columns_ = carried_columns_;
  if (p == nullptr) tree_column_ = pending_column_;
}

void BracketParser::end_piece(const char* end) {
  tree_column_ = tree_column();
  tree_start_ = nullptr;
  carried_columns_ += count_characters(line_start_, end);
  line_start_ = end;
}

void BracketParser::end_text() {
  pending_backslash_ = false;
  if (!pending_.empty()) {
    const std::string label = std::move(pending_);
    pending_.clear();
    take_label(label, true, nullptr);
  }
  end_bare_word();
  if (!frames_.empty()) throw ParseError(unclosed());
}

void BracketParser::start_over() {
  frames_.clear();
  values_.clear();
  pending_.clear();
  pending_backslash_ = false;
  bare_ = kNone;
  line_has_tree_ = false;
}

std::uint64_t BracketParser::column(const char* p) const {
  if (p == nullptr) return pending_column_;
  return carried_columns_ + count_characters(line_start_, p) + 1;
}

std::uint64_t BracketParser::tree_column() const {
  if (tree_start_ == nullptr) return tree_column_;
  return tree_carried_columns_ + count_characters(tree_line_start_, tree_start_) + 1;
}

void BracketParser::fail(const char* p, std::string reason, std::string hint) const {
  throw ParseError({std::move(reason), std::move(hint), line_, column(p)});
}

ParseProblem BracketParser::unclosed() const {
  return {"the tree that begins here is never closed: " + std::to_string(frames_.size()) +
              (frames_.size() == 1 ? " bracket is open" : " brackets are open"),
          "add the missing closing brackets", tree_line_, tree_column()};
}

ParseProblem BracketParser::without_brackets(NodeId word) const {
  constexpr std::size_t kMost = 40;  // bytes of it that are shown
  const Dag& dag = builder_.dag();
  const std::string_view label = dag.labels().text(dag.label(word));
  std::size_t end = std::min(kMost, label.size());
  while (end < label.size() && (static_cast<unsigned char>(label[end]) & 0xC0u) == 0x80u) --end;
  std::string reason = "a word without brackets: ";
  append_label(label.substr(0, end), reason);
  if (end < label.size()) reason += "…";
  return {std::move(reason),
          "write (word) for a tree of one node; bare_words=True of from_brackets and read_examples "
          "allows "
          "words alone",
          tree_line_, tree_column()};
}

}  // namespace filbert
