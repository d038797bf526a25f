// The label table. It stores each distinct label once, as UTF-8, with an id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"

namespace filbert {

class LabelTable {
 public:
  std::size_t size() const { return entries_.size(); }

  std::string_view text(LabelId id) const {
    const Entry& entry = entries_[id];
    return {bytes_.data() + entry.begin, entry.size};
  }

  LabelId find(std::string_view text) const { return find(text, hash_bytes(text)); }

  // Returns the id of a new or known label. Throws InvalidLabel before anything is stored.
  LabelId intern(std::string_view text) {
    const std::uint64_t hash = hash_bytes(text);
    const LabelId known = find(text, hash);
    return known != kNone ? known : insert(text, hash);
  }

  // Like intern, for a label of fewer than eight bytes that is also available as a number.
  LabelId intern_short(std::string_view text, std::uint64_t word) {
    const std::uint64_t hash = hash_short(word, text.size());
    const LabelId known = index_.find(hash, [&](LabelId id) {
      return entries_[id].first_eight == word && entries_[id].size == text.size();
    });
    return known != kNone ? known : insert(text, hash);
  }

  std::size_t memory() const;
  void shrink_to_fit();

 private:
  // Most labels are short. Comparing their first bytes is enough, without reading the text.
  struct Entry {
    std::uint64_t first_eight;
    std::uint64_t begin;
    std::size_t size;
  };

  LabelId find(std::string_view wanted, std::uint64_t hash) const {
    const std::uint64_t word = first_eight(wanted);
    return index_.find(hash, [&](LabelId id) {
      const Entry& entry = entries_[id];
      return entry.first_eight == word && entry.size == wanted.size() &&
             (entry.size <= 8 || text(id) == wanted);
    });
  }
  LabelId insert(std::string_view text, std::uint64_t hash);

  std::string bytes_;
  std::vector<Entry> entries_;
  IdTable index_;
};

// An invalid label: empty, not UTF-8, or with a NUL character.
struct InvalidLabel {
  const char* reason;
};

}  // namespace filbert
