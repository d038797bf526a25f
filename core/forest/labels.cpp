#include "forest/labels.hpp"

#include "base/errors.hpp"

namespace filbert {

namespace {

// The number of bytes of the well-formed UTF-8 sequence that starts at `text[i]`, or 0 if there is
// none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) {
    return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
  };
  const auto continues = [&](std::size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0u : 0x80u;
    const unsigned high = lead == 0xED ? 0x9Fu : 0xBFu;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90u : 0x80u;
    const unsigned high = lead == 0xF4 ? 0x8Fu : 0xBFu;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void check_label(std::string_view text) {
  if (text.empty()) throw InvalidLabel{"a label is empty"};
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\0') throw InvalidLabel{"a label has a NUL character"};
    const std::size_t length = utf8_length(text, i);
    if (length == 0) throw InvalidLabel{"a label is not valid UTF-8"};
    i += length;
  }
}

}  // namespace

LabelId LabelTable::insert(std::string_view text, std::uint64_t hash) {
  check_label(text);
  // kNone and kNone - 1 have special meanings in the parser.
  if (size() >= kNone - 2)
    throw CapacityError("a forest can hold at most 2^32 - 3 distinct labels: split the corpus");
  return index_.find_or_insert(
      hash, [](LabelId) { return false; },
      [&] {
        entries_.push_back({first_eight(text), bytes_.size(), text.size()});
        bytes_.append(text);
        return static_cast<LabelId>(entries_.size() - 1);
      });
}

std::size_t LabelTable::memory() const {
  return bytes_.capacity() + entries_.capacity() * sizeof(Entry) + index_.bytes();
}

void LabelTable::shrink_to_fit() {
  bytes_.shrink_to_fit();
  entries_.shrink_to_fit();
}

}  // namespace filbert
