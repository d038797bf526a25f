// Labelled trees, one a line and features with it, on several threads: the text is cut into pieces
// at line ends, each piece is read into a forest of its own, and these are put together in the
// order of the text.
//
// Nodes are numbered in the order in which they are first met, in a piece as in the whole. So a
// piece's nodes, gone through by their numbers, get the numbers in the whole that reading
// everything in one go would give them: results do not depend on pieces or threads.
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

  // Some lines more; a line may lack its end only where the text ends. False where one of them is
  // not as usual, be it wrong or only rare: then none of them is read, and what was read before
  // stays as it was.
  bool add(std::string_view text, int n_threads, const Watch& watch);

  // For each example its root, its label's place among the distinct labels, and its features.
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
