#include "patterns/pattern_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "forest/bracket_writer.hpp"

namespace filbert {

namespace {

constexpr const char* kEllipsis = "\xE2\x80\xA6";

std::uint32_t kind_of(Family family, std::uint32_t level) {
  return static_cast<std::uint32_t>(family) + 8 * level;
}

}  // namespace

PatternTable::PatternTable(const PatternSpec& spec, const PatternTable* base)
    : spec_(spec),
      base_(base),
      first_(base ? base->size() : 0),
      first_label_(base ? base->n_labels() : 0) {}

void PatternTable::clear() {
  labels_ = LabelTable();
  entries_.clear();
  keys_.clear();
  index_ = IdTable();
}

LabelId PatternTable::label(std::string_view text) {
  const LabelId known = base_ ? base_->labels_.find(text) : kNone;
  return known != kNone ? known : first_label_ + labels_.intern(text);
}

std::span<const std::uint32_t> PatternTable::key(PatternId p) const {
  if (p < first_) return base_->key(p);
  const std::size_t i = p - first_;
  const std::uint64_t end = i + 1 < entries_.size() ? entries_[i + 1].begin : keys_.size();
  return {keys_.data() + entries_[i].begin, end - entries_[i].begin};
}

PatternId PatternTable::find(std::uint64_t hash, std::uint32_t kind,
                             std::span<const std::uint32_t> wanted) const {
  return index_.find(hash, [&](PatternId i) {
    return entries_[i].kind == kind && std::ranges::equal(key(first_ + i), wanted);
  });
}

PatternId PatternTable::intern(Family family, std::uint32_t level,
                               std::span<const std::uint32_t> key) {
  const std::uint32_t kind = kind_of(family, level);
  const std::uint64_t hash = hash_ids(kind, key);
  if (base_) {
    const PatternId known = base_->find(hash, kind, key);
    if (known != kNone) return known;
  }
  const PatternId own = find(hash, kind, key);
  if (own != kNone) return first_ + own;
  if (size() >= kNone - 1) {
    throw CapacityError("there are more than 2^32 distinct patterns: use fewer families of them");
  }
  const std::uint32_t edges = edges_of(kind, key);
  const double mass = spec_.unit() * (spec_.decay == 1.0 ? 1.0 : std::pow(spec_.decay, edges));
  index_.insert(hash, static_cast<std::uint32_t>(entries_.size()));
  entries_.push_back({keys_.size(), mass, edges, kind});
  keys_.insert(keys_.end(), key.begin(), key.end());
  return size() - 1;
}

std::uint32_t PatternTable::edges_of(std::uint32_t kind, std::span<const std::uint32_t> key) const {
  const std::uint32_t level = kind / 8;
  if (static_cast<Family>(kind % 8) == Family::path) return level - 1;
  if (static_cast<Family>(kind % 8) == Family::leaves) return level;
  std::uint64_t edges = key.size() - 1;
  if (static_cast<Family>(kind % 8) == Family::subtree) {
    for (const PatternId child : key.subspan(1)) edges += at(child).edges;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(edges, kNone));
}

std::vector<PatternId> PatternTable::features() const {
  std::vector<PatternId> found;
  for (PatternId p = 0; p < size(); ++p) {
    if (is_feature(p)) found.push_back(p);
  }
  return found;
}

// ------------------------------------------------------------------------------ to show them

// Labels that could be mistaken for the signs between them get a backslash. In brackets a label
// that begins with a backslash has two of them.
void PatternTable::write_label(LabelId label, std::string& out) const {
  if (label == kStart) {
    out.push_back('^');
  } else if (label == kEnd) {
    out.push_back('$');
  } else {
    const std::string_view text = label_text(label);
    if (text == ">" || text == "^" || text == "$" || text == kEllipsis) out.push_back('\\');
    append_label(text, out);
  }
}

void PatternTable::write(PatternId p, std::size_t limit, std::string& out) const {
  const std::span<const std::uint32_t> ids = key(p);
  const Family of = family(p);
  if (out.size() > limit) return;
  if (of == Family::label) return write_label(ids[0], out);
  if (of == Family::path) {
    write_label(ids[0], out);
    out.append(" > ");
    return level(p) == 2 ? write_label(ids[1], out) : write(ids[1], limit, out);
  }
  out.push_back('(');
  of == Family::leaves ? void(out.append(kEllipsis)) : write_label(ids[0], out);
  if (of == Family::siblings && ids[1] != kStart) out.append(" ").append(kEllipsis);
  for (const std::uint32_t id : ids.subspan(of == Family::leaves ? 0 : 1)) {
    if (out.size() > limit) return;
    out.push_back(' ');
    of == Family::subtree ? write(id, limit, out) : write_label(id, out);
  }
  if (of == Family::siblings && ids.back() != kEnd) out.append(" ").append(kEllipsis);
  out.push_back(')');
}

std::string PatternTable::text(PatternId p, std::size_t limit) const {
  std::string out;
  write(p, limit, out);
  if (out.size() <= limit) return out;
  while (limit > 0 && (static_cast<unsigned char>(out[limit]) & 0xC0u) == 0x80u) --limit;
  out.resize(limit);
  return out.append(kEllipsis);
}

PatternTree PatternTable::tree(PatternId p, std::size_t max_nodes) const {
  struct Place {
    std::uint32_t id;
    bool is_label;  // otherwise a pattern
    std::int64_t parent;
    bool is_closed;  // a leaf of the tree, because it is above the cut
  };
  PatternTree out;
  const std::span<const std::uint32_t> whole = key(p);
  if (family(p) == Family::leaves) {  // below a node that is not part of the pattern
    out = {{kEllipsis}, {-1}, {1}};
    for (std::size_t i = 0; i < whole.size() && out.labels.size() < max_nodes; ++i) {
      out.labels.emplace_back(label_text(whole[i]));
      out.parents.push_back(0);
      out.open.push_back(0);
    }
    return out;
  }
  out.at_start = family(p) == Family::siblings && whole[1] == kStart;
  out.at_end = family(p) == Family::siblings && whole.back() == kEnd;
  std::vector<Place> waiting{{p, false, -1, false}};
  while (!waiting.empty() && out.labels.size() < max_nodes) {
    const Place place = waiting.back();
    waiting.pop_back();
    const auto number = static_cast<std::int64_t>(out.labels.size());
    const std::span<const std::uint32_t> ids =
        place.is_label ? std::span(&place.id, 1) : key(place.id);
    const Family of = place.is_label ? Family::label : family(place.id);
    const bool takes_all = of == Family::production || of == Family::subtree;
    const bool both_ends = of == Family::siblings && out.at_start && out.at_end;
    out.labels.emplace_back(label_text(ids[0]));
    out.parents.push_back(place.parent);
    out.open.push_back(!takes_all && !both_ends && !place.is_closed);
    const bool of_labels = of != Family::subtree && !(of == Family::path && level(place.id) > 2);
    for (std::size_t i = ids.size(); i-- > 1;) {
      if (of == Family::siblings && (ids[i] == kStart || ids[i] == kEnd)) continue;
      const bool leaf = of == Family::subtree && family(ids[i]) == Family::label;
      waiting.push_back({ids[i], of_labels, number, leaf});
    }
  }
  return out;
}

// ------------------------------------------------------------------------------ arrays

PatternTable::Arrays PatternTable::to_arrays() const {
  Arrays arrays;
  for (LabelId label = 0; label < labels_.size(); ++label) {
    const std::string_view text = labels_.text(label);
    arrays.label_bytes.insert(arrays.label_bytes.end(), text.begin(), text.end());
    arrays.label_ends.push_back(arrays.label_bytes.size());
  }
  for (const Entry& entry : entries_) {
    arrays.kinds.push_back(entry.kind);
    if (entry.begin > 0) arrays.key_ends.push_back(entry.begin);
  }
  if (!entries_.empty()) arrays.key_ends.push_back(keys_.size());
  arrays.keys = keys_;
  return arrays;
}

bool PatternTable::is_valid(std::uint32_t kind, std::span<const std::uint32_t> key) const {
  const auto of = static_cast<Family>(kind % 8);
  const std::uint32_t level = kind / 8;
  const auto is_label = [&](std::uint32_t id) { return id < labels_.size(); };
  const auto is_child = [&](std::uint32_t id) {
    if (id >= size()) return false;
    const Family own = family(id);
    return own == Family::label || own == Family::production ||
           (own == Family::subtree && this->level(id) < level);
  };
  if (key.empty() || !is_label(key[0])) return false;
  const std::span<const std::uint32_t> rest = key.subspan(1);
  switch (of) {
    case Family::label: return level == 0 && rest.empty();
    case Family::production:
      return level == 0 && !rest.empty() && std::ranges::all_of(rest, is_label);
    case Family::subtree:
      return level >= 2 && level <= spec_.subtree_depth && !rest.empty() &&
             std::ranges::all_of(rest, is_child);
    case Family::path:
      if (level < 2 || level > spec_.paths || rest.size() != 1) return false;
      if (level == 2) return is_label(rest[0]);
      return rest[0] < size() && family(rest[0]) == Family::path &&
             this->level(rest[0]) == level - 1;
    case Family::leaves:
      return level >= 2 && level <= spec_.leaves && key.size() == level &&
             std::ranges::all_of(rest, is_label);
    case Family::siblings: break;
  }
  if (of != Family::siblings || level < 2 || level > spec_.siblings || rest.size() != level) {
    return false;
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool is_end = (i == 0 && rest[i] == kStart) || (i + 1 == rest.size() && rest[i] == kEnd);
    if (!is_end && !is_label(rest[i])) return false;
  }
  return true;
}

PatternTable PatternTable::from_arrays(const PatternSpec& spec, std::string_view label_bytes,
                                       std::span<const std::uint64_t> label_ends,
                                       std::span<const std::uint32_t> kinds,
                                       std::span<const std::uint64_t> key_ends,
                                       std::span<const std::uint32_t> keys) {
  PatternTable table(spec);
  const auto piece = [](auto whole, std::uint64_t begin, std::uint64_t end) {
    if (begin > end || end > whole.size()) throw InvalidForest("a pattern ends beyond its array");
    return decltype(whole)(whole.data() + begin, end - begin);
  };
  for (std::size_t i = 0; i < label_ends.size(); ++i) {
    const std::string_view text = piece(label_bytes, i ? label_ends[i - 1] : 0, label_ends[i]);
    try {
      if (table.label(text) != i) throw InvalidForest("a label of patterns is listed twice");
    } catch (const InvalidLabel& error) {
      throw InvalidForest(error.reason);
    }
  }
  if (key_ends.size() != kinds.size()) throw InvalidForest("patterns have no keys");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::span<const std::uint32_t> key = piece(keys, i ? key_ends[i - 1] : 0, key_ends[i]);
    if (!table.is_valid(kinds[i], key)) throw InvalidForest("a key is not one of a pattern");
    const auto family = static_cast<Family>(kinds[i] % 8);
    if (table.intern(family, kinds[i] / 8, key) != i) {
      throw InvalidForest("a pattern is listed twice");
    }
  }
  return table;
}

}  // namespace filbert
