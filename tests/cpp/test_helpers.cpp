// Threads without a task help with the pieces of tasks that still run.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/helpers.hpp"
#include "check.hpp"

namespace filbert {

namespace {

struct EndOfTask {
  Helpers& helpers;
  ~EndOfTask() { helpers.end_task(); }
};

// Tasks as in FactorRounds: one for each number of pieces, and the rest for threads that help.
template <class Split>
void with_tasks(std::size_t n_tasks, int n_threads, const Split& split) {
  Helpers helpers;
  helpers.start(n_tasks);
  parallel_for(n_tasks + static_cast<std::size_t>(n_threads), n_threads, {},
               [&](std::size_t task, int worker, const StopToken& token) {
                 if (task >= n_tasks) return helpers.help(worker, token);
                 const EndOfTask end{helpers};
                 split(helpers, task, worker, token);
               });
}

void wait_for_help(Helpers& helpers, const StopToken& token) {
  while (!helpers.available()) {
    token.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void every_piece_once() {
  for (const int n_threads : {1, 2, 5}) {
    for (const std::size_t n_tasks : {1, 2, 7}) {
      std::vector<std::vector<int>> calls(n_tasks, std::vector<int>(100, 0));
      with_tasks(n_tasks, n_threads,
                 [&](Helpers& helpers, std::size_t task, int worker, const StopToken& token) {
                   for (std::size_t round = 0; round < 5; ++round) {
                     helpers.split(20, worker, token, [&](std::size_t i, int, const StopToken&) {
                       ++calls[task][20 * round + i];
                     });
                   }
                 });
      for (const auto& of_task : calls) CHECK(of_task == std::vector<int>(100, 1));
    }
  }
}

// The only task waits until another thread has taken a piece.
void waiting_threads_help() {
  std::atomic<bool> helped{false};
  with_tasks(1, 3, [&](Helpers& helpers, std::size_t, int own, const StopToken& token) {
    wait_for_help(helpers, token);
    helpers.split(50, own, token, [&](std::size_t, int worker, const StopToken& stop) {
      if (worker != own) helped = true;
      while (!helped) {
        stop.check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  });
  CHECK(helped);
}

// Whichever thread it is thrown on.
void exceptions_reach_the_caller() {
  for (int n_threads : {1, 2, 4}) {
    for (const std::size_t bad : {0, 1, 30, 49}) {
      std::string message;
      try {
        with_tasks(1, n_threads,
                   [&](Helpers& helpers, std::size_t, int worker, const StopToken& token) {
                     if (n_threads > 1) wait_for_help(helpers, token);
                     helpers.split(50, worker, token, [&](std::size_t i, int, const StopToken&) {
                       if (i == bad) throw std::runtime_error("piece");
                     });
                   });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK_EQUAL(message, "piece");
    }
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(every_piece_once),
      TEST(waiting_threads_help),
      TEST(exceptions_reach_the_caller),
  });
}
