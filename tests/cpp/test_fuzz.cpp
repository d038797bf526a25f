// A short part of what `python -m tests.fuzz.core` does for longer, for any compiler: the stored
// corpus with random changes, the same ones each time. A wrong answer or a crash ends the program.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "../fuzz/core_readers.cpp"

namespace {

constexpr int kChanged = 100;  // inputs for each file and reader

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(FILBERT_CORPUS)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

std::string changed(std::string text, std::mt19937& rng) {
  using namespace std::string_view_literals;  // which keep the NUL
  const std::string_view special = "()\\ \t\n|BET:#\r\0\xFF"sv;
  for (std::uint32_t n = rng() % 6; n > 0; --n) {
    const std::size_t at = rng() % (text.size() + 1);
    const std::size_t length = std::min<std::size_t>(text.size() - at, rng() % 20);
    switch (rng() % 4) {
      case 0: text.insert(at, 1, special[rng() % special.size()]); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      default: text.insert(at, 1, static_cast<char>(rng() % 256));
    }
  }
  return text;
}

}  // namespace

int main() {
  std::mt19937 rng(1);
  const std::vector<std::string> texts = corpus();
  for (const std::string& text : texts) {
    for (const int kind : {0, 32, 64, 96, 1, 2, 34, 66, 3, 4}) {
      for (int n = 0; n < kChanged; ++n) {
        const std::string input =
            std::string{static_cast<char>(kind), static_cast<char>(rng() % 256)} +
            changed(text, rng);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
      }
    }
  }
  return texts.size() < 10;  // the corpus is not there
}
