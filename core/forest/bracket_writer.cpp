#include "forest/bracket_writer.hpp"

#include <vector>

namespace filbert {

void append_label(std::string_view label, std::string& out) {
  if (label.find_first_of("()\\ \n\t\r\v\f") == std::string_view::npos) {
    out.append(label);
    return;
  }
  for (const char c : label) {
    switch (c) {
      case '\n': out.append("\\n"); break;
      case '\t': out.append("\\t"); break;
      case '\r': out.append("\\r"); break;
      case '\v': out.append("\\v"); break;
      case '\f': out.append("\\f"); break;
      case '(':
      case ')':
      case '\\':
      case ' ': out.push_back('\\'); [[fallthrough]];
      default: out.push_back(c);
    }
  }
}

namespace {

void cut_at_character(std::string& text, std::size_t limit) {
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0u) == 0x80u) --limit;
  text.resize(limit);
  text.append("\xE2\x80\xA6");
}

}  // namespace

std::string to_brackets(const Dag& dag, NodeId root, std::size_t limit) {
  struct Frame {
    NodeId node;
    std::size_t next_child;
  };
  std::string out;
  std::vector<Frame> stack;
  const auto open = [&](NodeId u) {
    out.push_back('(');
    append_label(dag.labels().text(dag.label(u)), out);
    stack.push_back({u, 0});
  };
  open(root);
  while (!stack.empty() && out.size() <= limit) {
    Frame& frame = stack.back();
    if (frame.next_child == dag.arity(frame.node)) {
      out.push_back(')');
      stack.pop_back();
      continue;
    }
    const NodeId child = dag.children(frame.node)[frame.next_child++];
    out.push_back(' ');
    if (dag.is_leaf(child)) {
      append_label(dag.labels().text(dag.label(child)), out);
    } else {
      open(child);
    }
  }
  if (out.size() > limit) cut_at_character(out, limit);
  return out;
}

}  // namespace filbert
