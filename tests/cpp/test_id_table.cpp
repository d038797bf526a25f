#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/id_table.hpp"
#include "check.hpp"

namespace filbert {

namespace {

// Numbers stored under ids, with a hash that the test chooses.
class Numbers {
 public:
  using Hash = std::uint64_t (*)(std::uint64_t);

  explicit Numbers(Hash hash) : hash_(hash) {}

  std::uint32_t find(std::uint64_t number) const {
    return table_.find(hash_(number), [&](std::uint32_t id) { return numbers_[id] == number; });
  }

  std::uint32_t intern(std::uint64_t number) {
    return table_.find_or_insert(
        hash_(number), [&](std::uint32_t id) { return numbers_[id] == number; },
        [&] {
          numbers_.push_back(number);
          return static_cast<std::uint32_t>(numbers_.size() - 1);
        });
  }

  // Without a search: the number must be new.
  void insert(std::uint64_t number) {
    table_.prefetch(hash_(number));
    table_.insert(hash_(number), static_cast<std::uint32_t>(numbers_.size()));
    numbers_.push_back(number);
  }

  std::size_t size() const { return numbers_.size(); }
  std::size_t bytes() const { return table_.bytes(); }

 private:
  Hash hash_;
  IdTable table_;
  std::vector<std::uint64_t> numbers_;
};

std::uint64_t spread(std::uint64_t number) { return number * 0x9e3779b97f4a7c15ULL; }
std::uint64_t all_zero(std::uint64_t) { return 0; }
std::uint64_t all_ones(std::uint64_t) { return ~std::uint64_t{0}; }
std::uint64_t one_tag(std::uint64_t number) { return (std::uint64_t{7} << 32) | (number & 0xffff); }
std::uint64_t three_tags(std::uint64_t number) { return (number % 3) << 32; }
std::uint64_t near_tags(std::uint64_t number) { return number << 32; }

void check_every_key(Numbers::Hash hash, std::uint64_t n) {
  Numbers numbers(hash);
  for (std::uint64_t i = 0; i < n; ++i) {
    CHECK_EQUAL(numbers.find(3 * i), kNone);
    CHECK_EQUAL(numbers.intern(3 * i), i);
    CHECK_EQUAL(numbers.intern(3 * i), i);
  }
  CHECK_EQUAL(numbers.size(), n);
  for (std::uint64_t i = 0; i < n; ++i) {
    CHECK_EQUAL(numbers.find(3 * i), i);
    CHECK_EQUAL(numbers.find(3 * i + 1), kNone);
  }
}

void check_insertion(Numbers::Hash hash, std::uint64_t n) {
  Numbers numbers(hash);
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i % 2 == 0) {
      numbers.insert(3 * i);
    } else {
      CHECK_EQUAL(numbers.intern(3 * i), i);
    }
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    CHECK_EQUAL(numbers.find(3 * i), i);
    CHECK_EQUAL(numbers.find(3 * i + 1), kNone);
  }
}

void insertion_without_a_search() {
  check_insertion(spread, 50000);
  check_insertion(all_zero, 1000);
  check_insertion(three_tags, 1000);
}

void ordinary_hashes() { check_every_key(spread, 100000); }
void equal_hashes() { check_every_key(all_zero, 2000); }
void hashes_like_the_empty_slot() { check_every_key(all_ones, 2000); }
void equal_tags() { check_every_key(one_tag, 2000); }
void few_tags() { check_every_key(three_tags, 2000); }
void tags_one_after_another() { check_every_key(near_tags, 50000); }

void an_empty_table_has_nothing() {
  const Numbers numbers(all_zero);
  CHECK_EQUAL(numbers.size(), 0);
  CHECK_EQUAL(numbers.find(0), kNone);
}

void it_grows() {
  Numbers numbers(spread);
  const std::size_t before = numbers.bytes();
  for (std::uint64_t i = 0; i < 300; ++i) numbers.intern(i);
  CHECK_EQUAL(numbers.bytes(), before);
  for (std::uint64_t i = 300; i < 10000; ++i) numbers.intern(i);
  CHECK(numbers.bytes() >= 10000 * sizeof(std::uint64_t));
  CHECK(numbers.bytes() < 10 * 10000 * sizeof(std::uint64_t));
}

void random_lookups() {
  Numbers numbers(three_tags);
  std::vector<std::uint32_t> id_of(500, kNone);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto number = static_cast<std::uint32_t>(random() % id_of.size());
    CHECK_EQUAL(numbers.find(number), id_of[number]);
    if (random() % 4 != 0) continue;
    const std::uint32_t id = numbers.intern(number);
    CHECK(id_of[number] == kNone || id_of[number] == id);
    id_of[number] = id;
  }
}

// Half of the keys are refused the first time; nothing of them may stay.
void a_throwing_make_stores_nothing() {
  IdTable table;
  const auto is = [](std::uint32_t wanted) {
    return [=](std::uint32_t id) { return id == wanted; };
  };
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::uint64_t hash = spread(i);
    const auto refuse = [&]() -> std::uint32_t { throw std::runtime_error("no"); };
    if (i % 2 == 0) CHECK_THROWS(std::runtime_error, table.find_or_insert(hash, is(i), refuse));
    CHECK_EQUAL(table.find(hash, is(i)), kNone);
    CHECK_EQUAL(table.find_or_insert(hash, is(i), [&] { return i; }), i);
    CHECK_EQUAL(table.find(hash, is(i)), i);
  }
}

void a_copy_is_its_own() {
  IdTable table;
  const auto never = [](std::uint32_t) { return false; };
  const auto always = [](std::uint32_t) { return true; };
  table.find_or_insert(spread(1), never, [] { return 1u; });
  IdTable copy = table;
  copy.find_or_insert(spread(2), never, [] { return 2u; });
  CHECK_EQUAL(copy.find(spread(1), always), 1);
  CHECK_EQUAL(copy.find(spread(2), always), 2);
  CHECK_EQUAL(table.find(spread(2), always), kNone);
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(ordinary_hashes),
      TEST(equal_hashes),
      TEST(hashes_like_the_empty_slot),
      TEST(equal_tags),
      TEST(few_tags),
      TEST(tags_one_after_another),
      TEST(insertion_without_a_search),
      TEST(an_empty_table_has_nothing),
      TEST(it_grows),
      TEST(random_lookups),
      TEST(a_throwing_make_stores_nothing),
      TEST(a_copy_is_its_own),
  });
}
