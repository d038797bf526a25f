// The label table: each distinct label once, as UTF-8, with an id.
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
  std::size_t size() const { return ends_.size(); }

  std::string_view text(LabelId id) const {
    const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
    return std::string_view(bytes_).substr(begin, ends_[id] - begin);
  }

  LabelId find(std::string_view text) const { return find(text, hash_bytes(text)); }

  // The label's id, new or not. Throws InvalidLabel before anything is stored.
  LabelId intern(std::string_view text);

  const std::string& bytes() const { return bytes_; }
  const std::vector<std::uint64_t>& ends() const { return ends_; }
  std::size_t memory() const;
  void shrink_to_fit();

 private:
  LabelId find(std::string_view text, std::uint64_t hash) const {
    return index_.find(hash, [&](LabelId id) { return this->text(id) == text; });
  }

  std::string bytes_;
  std::vector<std::uint64_t> ends_;
  IdTable index_;
};

// A label that no tree may have: empty, not UTF-8, or with a NUL.
struct InvalidLabel {
  const char* reason;
};

}  // namespace filbert
