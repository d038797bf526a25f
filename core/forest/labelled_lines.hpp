// Reads labelled trees, one per line and optionally with features, on several threads. The text is
// cut into pieces at line ends, each piece is read into a separate forest, and the forests are
// merged in the order of the text.
//
// Nodes are numbered in the order in which they are first read, both in a piece and in the whole.
// If the nodes of a piece are visited in ascending order, they get the same numbers in the whole as
// if the text had been read in one pass. Results therefore do not depend on pieces or threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "forest/builder.hpp"
#include "forest/feature_text.hpp"
#include "forest/labels.hpp"
#include "forest/line_format.hpp"

namespace filbert {

class LabelledLines {
 public:
  // `bare_words`: whether a word without brackets is a tree of one node.
  LabelledLines(LineFormat format, std::size_t piece_bytes, bool bare_words = true)
      : format_(format), piece_bytes_(piece_bytes), bare_words_(bare_words) {}

  // Adds more lines. Only the last line of the text may lack its line end. Returns false if a line
  // is not in the usual form, either because it is wrong or because it is rare. Then none of these
  // lines is read, and the lines read before stay.
  bool add(std::string_view text, int n_threads, const Watch& watch);

  // For each example: its root, the index of its label among the distinct labels, and its features.
  struct Examples {
    DagBuilder trees;
    std::vector<NodeId> roots;
    LabelTable labels;
    std::vector<std::uint32_t> label_of;
    FeatureRows features;
  };
  Examples finish() { return std::move(whole_); }

 private:
  void add_pieces(const std::vector<std::string_view>& pieces, int n_threads, const Watch& watch);

  LineFormat format_;
  std::size_t piece_bytes_;
  bool bare_words_;
  Examples whole_;
};

}  // namespace filbert
