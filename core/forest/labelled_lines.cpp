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
  if (parts.kind == LineKind::unusual) throw Unusual{};
  out.roots.push_back(parser.parse_one(parts.tree));
  out.label_of.push_back(out.labels.intern(parts.label));
  if (!out.features.add(parts.features)) throw Unusual{};
}

void read_lines(const LineFormat& format, std::string_view text, Examples& out,
                const StopToken& token) {
  BracketParser parser(out.trees, BracketParser::OnError::raise);
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

}  // namespace

bool LabelledLines::add(std::string_view text, int n_threads, const Watch& watch) {
  try {
    add_pieces(cut_at_line_ends(text, piece_bytes_), n_threads, watch);
    return true;
  } catch (const Unusual&) {
  } catch (const ParseError&) {
  } catch (const InvalidLabel&) {
  }
  whole_ = {};
  return false;
}

void LabelledLines::add_pieces(const std::vector<std::string_view>& pieces, int n_threads,
                               const Watch& watch) {
  if (pieces.size() == 1) {  // nothing to merge
    parallel_for(1, threads_for(static_cast<double>(pieces[0].size()), n_threads), watch,
                 [&](std::size_t, int, const StopToken& token) {
                   read_lines(format_, pieces[0], whole_, token);
                 });
    return;
  }
  InOrder whole(pieces.size(), whole_);
  parallel_for(pieces.size(), n_threads, watch, [&](std::size_t i, int, const StopToken& token) {
    Examples piece;
    piece.trees.expect_text(pieces[i].size());
    read_lines(format_, pieces[i], piece, token);
    whole.take(i, std::move(piece));
  });
}

}  // namespace filbert
