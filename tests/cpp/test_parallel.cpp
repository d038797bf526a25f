#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "check.hpp"

namespace filbert {

namespace {

struct Interrupt {};

[[noreturn]] void wait_to_be_stopped(const StopToken& token) {
  for (;;) {
    token.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void check_every_index_once(std::size_t n_tasks, int n_threads) {
  std::vector<int> calls(n_tasks, 0);  // each task has its own entry, so no lock is needed
  parallel_for(n_tasks, n_threads, {}, [&](std::size_t i, int, const StopToken&) { ++calls[i]; });
  CHECK(calls == std::vector<int>(n_tasks, 1));
}

void every_index_once() {
  for (const std::size_t n_tasks : {0, 1, 2, 7, 1000}) {
    for (const int n_threads : {-1, 0, 1, 2, 5, 40}) check_every_index_once(n_tasks, n_threads);
  }
}

void indices_come_in_order() {
  std::vector<std::size_t> order;
  parallel_for(100, 1, {}, [&](std::size_t i, int, const StopToken&) { order.push_back(i); });
  for (std::size_t i = 0; i < 100; ++i) CHECK_EQUAL(order[i], i);
  CHECK_EQUAL(order.size(), 100);
}

// What belongs to a worker needs no lock; the thread sanitizer would say so if it did.
void workers_have_scratch_of_their_own() {
  std::vector<std::vector<std::size_t>> scratch(3);
  parallel_for(1000, 3, {}, [&](std::size_t i, int worker, const StopToken&) {
    scratch.at(static_cast<std::size_t>(worker)).push_back(i);
  });
  CHECK_EQUAL(scratch[0].size() + scratch[1].size() + scratch[2].size(), 1000);
}

void no_more_workers_than_tasks() {
  std::vector<int> worker_of(4, -1);
  parallel_for(4, 40, {},
               [&](std::size_t i, int worker, const StopToken&) { worker_of[i] = worker; });
  for (const int worker : worker_of) CHECK(worker >= 0 && worker < 4);
}

void exceptions_reach_the_caller() {
  for (const int n_threads : {1, 2, 5}) {
    const auto error = check::caught<std::runtime_error>([&] {
      parallel_for(100, n_threads, {}, [](std::size_t i, int, const StopToken&) {
        if (i == 17) throw std::runtime_error("task 17");
      });
    });
    CHECK(error && std::string(error->what()) == "task 17");
  }
}

void an_exception_ends_the_work() {
  std::size_t last = 0;
  CHECK_THROWS(Interrupt, parallel_for(100, 1, {}, [&](std::size_t i, int, const StopToken&) {
                 last = i;
                 if (i == 17) throw Interrupt{};
               }));
  CHECK_EQUAL(last, 17);
}

// The other tasks go on until they are told to stop: the call returns only if they are.
void an_exception_stops_the_other_threads() {
  CHECK_THROWS(Interrupt, parallel_for(5, 5, {}, [](std::size_t i, int, const StopToken& token) {
                 if (i == 4) throw Interrupt{};
                 wait_to_be_stopped(token);
               }));
}

void one_of_many_exceptions() {
  for (int i = 0; i < 50; ++i) {
    CHECK_THROWS(Interrupt, parallel_for(100, 5, {}, [](std::size_t, int, const StopToken&) {
                   throw Interrupt{};
                 }));
  }
}

void a_watch_that_throws_stops_the_work() {
  for (const int n_threads : {1, 3}) {
    std::atomic<int> begun = 0;
    const Watch watch = [](std::size_t, std::size_t) { throw Interrupt{}; };
    CHECK_THROWS(Interrupt, parallel_for(1000, n_threads, watch,
                                         [&](std::size_t, int, const StopToken& token) {
                                           ++begun;
                                           wait_to_be_stopped(token);
                                         }));
    CHECK(begun <= n_threads);
  }
}

// Five seconds of work, given up after some thirty milliseconds.
void tasks_that_never_look_are_not_begun() {
  std::atomic<int> begun = 0;
  const Watch watch = [](std::size_t, std::size_t) { throw Interrupt{}; };
  CHECK_THROWS(Interrupt, parallel_for(1000, 1, watch, [&](std::size_t, int, const StopToken&) {
                 ++begun;
                 std::this_thread::sleep_for(std::chrono::milliseconds(5));
               }));
  CHECK(begun < 1000);
}

// Tasks wait until the watch has seen them, so the test does not depend on the clock.
void the_watch_sees_progress() {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> seen = false;
  bool on_caller = true, in_bounds = true;
  const Watch watch = [&](std::size_t done, std::size_t total) {
    on_caller = on_caller && std::this_thread::get_id() == caller;
    in_bounds = in_bounds && total == 10 && done <= 9;
    if (done == 9) seen = true;
  };
  parallel_for(10, 2, watch, [&](std::size_t i, int, const StopToken& token) {
    while (i == 9 && !seen) token.check();
  });
  CHECK(seen.load());
  CHECK(on_caller);
  CHECK(in_bounds);
}

void calls_may_be_nested() {
  std::vector<int> calls(20, 0);
  parallel_for(4, 2, {}, [&](std::size_t i, int, const StopToken&) {
    parallel_for(5, 2, {}, [&, i](std::size_t j, int, const StopToken&) { ++calls[5 * i + j]; });
  });
  CHECK(calls == std::vector<int>(20, 1));
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({
      TEST(every_index_once),
      TEST(indices_come_in_order),
      TEST(workers_have_scratch_of_their_own),
      TEST(no_more_workers_than_tasks),
      TEST(exceptions_reach_the_caller),
      TEST(an_exception_ends_the_work),
      TEST(an_exception_stops_the_other_threads),
      TEST(one_of_many_exceptions),
      TEST(a_watch_that_throws_stops_the_work),
      TEST(tasks_that_never_look_are_not_begun),
      TEST(the_watch_sees_progress),
      TEST(calls_may_be_nested),
  });
}
