#include "forest/labelled_lines.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/errors.hpp"
#include "forest/bracket_parser.hpp"

namespace filbert {

namespace {

using Examples = LabelledLines::Examples;

struct Unusual {};

// Pieces of about `size` bytes. The same text always gives the same pieces.
std::vector<std::string_view> cut_at_line_ends(std::string_view text, std::size_t size) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n', std::min(size, text.size()) - 1);
    const std::size_t n = newline == text.npos ? text.size() : newline + 1;
    pieces.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return pieces;
}

void read_line(const LineFormat& format, std::string_view line, BracketParser& parser,
               Examples& out) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const LineParts parts = split_line(format, line);
  if (parts.kind == LineKind::nothing) return;
  if (parts.kind == LineKind::unusual || !is_usual_label(format, parts.label)) throw Unusual{};
  out.roots.push_back(parser.parse_one(parts.tree));
  out.label_of.push_back(out.labels.intern(parts.label));
  if (!out.features.add(parts.features)) throw Unusual{};
}

void read_lines(const LineFormat& format, bool bare_words, std::string_view text, Examples& out,
                const StopToken& token) {
  BracketParser parser(out.trees, BracketParser::OnError::raise, bare_words);
  while (!text.empty()) {
    token.check();
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(format, text.substr(0, end), parser, out);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Appends a piece to the examples read so far.
void append(Examples& piece, Examples& whole) {
  const std::vector<NodeId> node = whole.trees.add(*piece.trees.finish());
  for (const NodeId root : piece.roots) whole.roots.push_back(node[root]);
  std::vector<std::uint32_t> label;
  for (LabelId old = 0; old < piece.labels.size(); ++old) {
    label.push_back(whole.labels.intern(piece.labels.text(old)));
  }
  for (const std::uint32_t old : piece.label_of) whole.label_of.push_back(label[old]);
  whole.features.append(piece.features);
}

// Takes pieces in any order and appends them in the order of the text. The thread that delivers the
// next piece appends it, together with the following pieces that have arrived, while the other
// threads continue to read.
class InOrder {
 public:
  InOrder(std::size_t n_pieces, Examples& whole) : waiting_(n_pieces), whole_(whole) {}

  void take(std::size_t i, Examples&& piece) {
    std::unique_lock lock(mutex_);
    waiting_[i] = std::move(piece);
    if (appending_) return;
    appending_ = true;
    for (; next_ < waiting_.size() && waiting_[next_]; ++next_) {
      Examples mine = std::move(*waiting_[next_]);
      lock.unlock();
      append(mine, whole_);
      lock.lock();
    }
    appending_ = false;
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<Examples>> waiting_;
  std::size_t next_ = 0;
  bool appending_ = false;
  Examples& whole_;
};

// How much there was before some lines were read. Everything is numbered in the order in which it
// is met, so what comes later can be cut off.
class Mark {
 public:
  explicit Mark(const Examples& read)
      : n_nodes_(read.trees.size()),
        n_node_labels_(read.trees.dag().labels().size()),
        n_labels_(read.labels.size()),
        n_examples_(read.roots.size()),
        n_features_(read.features.columns.size()) {}

  void go_back(Examples& read) const {
    read.trees = first_nodes(read.trees.dag());
    LabelTable labels;
    for (LabelId id = 0; id < n_labels_; ++id) labels.intern(read.labels.text(id));
    read.labels = std::move(labels);
    read.roots.resize(n_examples_);
    read.label_of.resize(n_examples_);
    read.features.row_begin.resize(n_examples_ + 1);
    read.features.columns.resize(n_features_);
    read.features.values.resize(n_features_);
  }

 private:
  DagBuilder first_nodes(const Dag& dag) const {
    DagBuilder builder;
    for (LabelId id = 0; id < n_node_labels_; ++id) builder.label(dag.labels().text(id));
    for (NodeId u = 0; u < n_nodes_; ++u) {
      if (dag.is_leaf(u)) {
        builder.leaf(dag.label(u));
      } else {
        builder.node(dag.label(u), dag.children(u));
      }
    }
    return builder;
  }

  std::size_t n_nodes_, n_node_labels_, n_labels_, n_examples_, n_features_;
};

}  // namespace

bool LabelledLines::add(std::string_view text, int n_threads, const Watch& watch) {
  const Mark before(whole_);
  try {
    add_pieces(cut_at_line_ends(text, piece_bytes_), n_threads, watch);
    return true;
  } catch (const Unusual&) {
  } catch (const ParseError&) {
  } catch (const InvalidLabel&) {
  }
  before.go_back(whole_);
  return false;
}

void LabelledLines::add_pieces(const std::vector<std::string_view>& pieces, int n_threads,
                               const Watch& watch) {
  if (pieces.size() == 1) {  // nothing to merge
    parallel_for(1, threads_for(static_cast<double>(pieces[0].size()), n_threads), watch,
                 [&](std::size_t, int, const StopToken& token) {
                   read_lines(format_, bare_words_, pieces[0], whole_, token);
                 });
    return;
  }
  InOrder whole(pieces.size(), whole_);
  parallel_for(pieces.size(), n_threads, watch, [&](std::size_t i, int, const StopToken& token) {
    Examples piece;
    piece.trees.expect_text(pieces[i].size());
    read_lines(format_, bare_words_, pieces[i], piece, token);
    whole.take(i, std::move(piece));
  });
}

}  // namespace filbert
