#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/turns.hpp"
#include "check.hpp"

using namespace filbert;

namespace {

const Watch no_watch = [](std::size_t, std::size_t) {};

// A writer that changes two numbers, equal wherever it offers a turn, until each of the readers has
// read some times.
void readers_see_what_is_consistent() {
  constexpr int kReaders = 4;
  constexpr int kReads = 50;
  Turns turns;
  const StopToken token;
  long first = 0, second = 0;
  std::atomic<int> n_read{0}, n_wrong{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&] {
      for (int k = 0; k < kReads; ++k) {
        const Turns::Reading reading(turns, no_watch);
        const Turns::Reading again(turns, no_watch);  // as a signal handler would
        if (first != second) ++n_wrong;
        ++n_read;
      }
    });
  }
  {
    Turns::Writing writing(turns, token);
    while (n_read < kReaders * kReads) {
      ++first;
      ++second;
      writing.offer();
    }
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(n_wrong == 0);
  CHECK(n_read == kReaders * kReads);
}

void there_is_one_writer() {
  Turns turns;
  const StopToken token;
  {
    const Turns::Writing writing(turns, token);
    bool refused = false;
    try {
      const Turns::Writing other(turns, token);
    } catch (const std::logic_error&) {
      refused = true;
    }
    CHECK(refused);
  }
  const Turns::Writing next(turns, token);
}

// A writer gives up where the work is stopped, a reader where its watch throws.
void waiting_can_be_ended() {
  Turns turns;
  StopToken token;
  token.stop();
  bool stopped = false;
  {
    const Turns::Reading reading(turns, no_watch);
    try {
      const Turns::Writing writing(turns, token);
    } catch (const Stopped&) {
      stopped = true;
    }
  }
  CHECK(stopped);
  const StopToken other;
  const Turns::Writing writing(turns, other);
  bool interrupted = false;
  try {
    const Turns::Reading reading(turns, [](std::size_t, std::size_t) { throw 1; });
  } catch (int) {
    interrupted = true;
  }
  CHECK(interrupted);
}

}  // namespace

int main() {
  return check::run({
      TEST(readers_see_what_is_consistent),
      TEST(there_is_one_writer),
      TEST(waiting_can_be_ended),
  });
}
