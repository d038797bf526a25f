#include "fragments/flat_fragment.hpp"

#include <stdexcept>

#include "forest/bracket_writer.hpp"

namespace filbert {

void to_flat(const Dag& dag, NodeId root, FlatFragment& out) {
  std::vector<NodeId> to_come{root};
  while (!to_come.empty()) {
    const NodeId u = to_come.back();
    to_come.pop_back();
    const std::span<const NodeId> children = dag.children(u);
    out.add(dag.label(u), static_cast<std::uint32_t>(children.size()), false);
    to_come.insert(to_come.end(), children.rbegin(), children.rend());
  }
}

std::string fragment_text(std::span<const std::string_view> labels,
                          std::span<const std::uint32_t> arity,
                          std::span<const std::uint8_t> open) {
  constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
  std::string text;
  std::vector<std::uint32_t> left;  // remaining children of each incomplete node
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) text.push_back(' ');
    const bool bare = i > 0 && arity[i] == 0 && !open[i];
    if (!bare) text.push_back('(');
    if (bare && labels[i] == kEllipsis) text.push_back('\\');
    append_label(labels[i], text);
    if (arity[i] > 0) {
      left.push_back(arity[i]);
      continue;
    }
    if (open[i]) text.append(" ").append(kEllipsis);
    if (!bare) text.push_back(')');
    while (!left.empty() && --left.back() == 0) {
      text.push_back(')');
      left.pop_back();
    }
  }
  return text;
}

std::vector<std::string_view> label_texts(const Dag& dag, const FlatFragment& fragment) {
  std::vector<std::string_view> texts;
  for (const LabelId label : fragment.labels) texts.push_back(dag.labels().text(label));
  return texts;
}

std::vector<std::string> fragment_texts(const Dag& dag, std::span<const NodeId> roots,
                                        std::span<const std::uint8_t> open) {
  std::vector<std::string> texts;
  std::size_t first = 0;
  FlatFragment fragment;
  for (const NodeId root : roots) {
    fragment.clear();
    to_flat(dag, root, fragment);
    const std::size_t n = fragment.labels.size();
    if (first + n > open.size()) throw std::invalid_argument("open has too few nodes");
    texts.push_back(
        fragment_text(label_texts(dag, fragment), fragment.arity, open.subspan(first, n)));
    first += n;
  }
  return texts;
}

}  // namespace filbert
