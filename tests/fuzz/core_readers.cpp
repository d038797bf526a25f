// A target of libFuzzer: bytes to what reads text and arrays in the core, under sanitizers. Built
// and run by `python -m tests.fuzz.core`. The lowest bits of the first byte choose the reader.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "forest/bracket_writer.hpp"
#include "forest/labelled_lines.hpp"
#include "forest/tree_reader.hpp"

namespace filbert {

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> texts_of(const Dag& dag, const std::vector<NodeId>& roots) {
  std::vector<std::string> texts;
  // A DAG of few bytes may stand for a tree that has no end in practice.
  for (const NodeId root : roots) texts.push_back(to_brackets(dag, root, 1 << 16));
  return texts;
}

// A stream gives the same trees and problems, wherever its pieces end.
void brackets(std::string_view text, bool skip, bool bare_words, std::size_t piece) {
  const auto read = [&](std::size_t bytes) {
    TreeReader reader(skip, bare_words, nullptr);
    std::string told;
    TreeReader::Result result;
    try {
      for (std::size_t at = 0; at < text.size(); at += bytes) {
        // A copy of its own, so that the address sanitizer sees where the piece ends.
        reader.feed(std::string(text.substr(at, bytes)));
      }
      result = reader.finish();
    } catch (const ParseError& error) {
      const ParseProblem& problem = error.problem;
      return std::pair(
          problem.reason + std::to_string(problem.line) + ":" + std::to_string(problem.column),
          std::vector<std::string>());
    }
    for (const ParseProblem& problem : result.problems) {
      told += problem.reason + std::to_string(problem.line) + ":" + std::to_string(problem.column);
    }
    return std::pair(told, texts_of(*result.dag, result.roots));
  };
  require(read(std::max<std::size_t>(1, text.size())) == read(piece));
}

// What was read is written as text that is read back as the same node.
void one_tree(std::string_view text) {
  DagBuilder builder;
  BracketParser parser(builder, BracketParser::OnError::raise);
  const NodeId root = parser.parse_one(text);
  const std::string written = to_brackets(builder.dag(), root);
  require(parser.parse_one(written) == root);
}

// Lines are read the same in pieces, on threads or not.
void lines(std::string_view text, LineFormat format, std::size_t piece) {
  const auto read = [&](std::size_t bytes, int n_threads) {
    LabelledLines reader(format, bytes);
    const bool usual = reader.add(text, n_threads, {});
    auto examples = reader.finish();
    const auto dag = examples.trees.finish();
    return std::tuple(usual, examples.roots, examples.label_of, examples.features.columns,
                      texts_of(*dag, examples.roots));
  };
  require(read(std::size_t{1} << 20, kInline) == read(piece, kInline));
}

// Any arrays are a forest or InvalidForest.
void arrays(std::string_view data) {
  std::vector<std::uint64_t> label_ends, child_ends;
  std::vector<std::uint32_t> node_labels, children;
  std::vector<NodeId> roots;
  for (std::size_t i = 0; i < data.size(); ++i) {
    // Small numbers, and now and then one that is out of all ranges.
    const auto byte = static_cast<std::uint8_t>(data[i]);
    const std::uint32_t number = byte == 255 ? 0xFFFFFFFFu : byte;
    if (i % 5 == 0) label_ends.push_back(number == 255u ? ~std::uint64_t{0} : number);
    if (i % 5 == 1) node_labels.push_back(number);
    if (i % 5 == 2) child_ends.push_back(number);
    if (i % 5 == 3) children.push_back(number);
    if (i % 5 == 4) roots.push_back(number);
  }
  const auto dag = from_arrays({data, label_ends, node_labels, child_ends, children}, roots);
  for (const NodeId root : roots) require(root < dag->size());
  texts_of(*dag, roots);
}

void run(const std::uint8_t* bytes, std::size_t size) {
  const std::uint8_t kind = bytes[0];
  const std::size_t piece = 1 + bytes[1] % 7;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  switch ((kind & 7) % 5) {
    case 0: return brackets(text, (kind & 32) != 0, (kind & 64) != 0, piece);
    case 1: return one_tree(text);
    case 2: return lines(text, TsvFormat{0, kind & 32 ? -1 : 1, kind & 64 ? 0u : 2u}, piece);
    case 3: return lines(text, SvmlightTkFormat{}, piece);
    default: return arrays(text);
  }
}

}  // namespace

}  // namespace filbert

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const limit = std::getenv("FILBERT_FUZZ_BYTES");
  static const double most = limit ? std::atof(limit) : 1e18;
  static std::uint64_t n_inputs = 0, n_bytes = 0, n_accepted = 0;
  if (size < 2) return 0;
  ++n_inputs;
  n_bytes += size;
  try {
    filbert::run(data, size);
    ++n_accepted;
  } catch (const filbert::ParseError&) {
  } catch (const filbert::InvalidForest&) {
  } catch (const filbert::CapacityError&) {
  }
  if (static_cast<double>(n_bytes) >= most) {
    std::printf("core: %llu bytes in %llu inputs, %llu accepted, 0 reports\n",
                static_cast<unsigned long long>(n_bytes), static_cast<unsigned long long>(n_inputs),
                static_cast<unsigned long long>(n_accepted));
    std::fflush(stdout);
    std::_Exit(0);
  }
  return 0;
}
