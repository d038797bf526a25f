// As much of a test harness as the core needs. A test is a function that uses the CHECK macros; a
// test program hands its tests to check::run and returns what that returns. Checks are for the main
// thread: what other threads find out is collected first and checked after they are joined.
#pragma once

#include <cmath>
#include <concepts>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace check {

struct Tally {
  long checks = 0;
  long failures = 0;
};

inline Tally& tally() {
  static Tally counts;
  return counts;
}

// A check in a loop may fail a million times; the first few tell enough.
inline constexpr long kMostPrinted = 25;

struct Place {
  const char* file;
  int line;
};

inline void failed(Place place, const std::string& message) {
  if (++tally().failures > kMostPrinted) return;
  std::cout << place.file << ':' << place.line << ": " << message << std::endl;  // before any abort
}

inline void is_true(bool condition, Place place, const char* text) {
  ++tally().checks;
  if (!condition) failed(place, text);
}

template <class Value>
std::string shown(const Value& value) {
  if constexpr (requires(std::ostream& out) { out << value; }) {
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    out << value;
    return out.str();
  } else {
    return "(a value)";
  }
}

template <class A, class B>
bool same(const A& a, const B& b) {
  if constexpr (std::integral<A> && std::integral<B> && !std::same_as<A, bool> &&
                !std::same_as<B, bool>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

template <class A, class B>
void is_equal(const A& actual, const B& expected, Place place, const char* text) {
  ++tally().checks;
  if (same(actual, expected)) return;
  failed(place, std::string(text) + " is " + shown(actual) + ", not " + shown(expected));
}

// Equal up to the relative error `tolerance`; zero is near nothing but zero.
inline void is_near(double actual, double expected, double tolerance, Place place,
                    const char* text) {
  ++tally().checks;
  if (actual == expected) return;
  const double scale = std::fmax(std::fabs(actual), std::fabs(expected));
  if (std::isfinite(scale) && std::fabs(actual - expected) <= tolerance * scale) return;
  failed(place, std::string(text) + " is " + shown(actual) + ", not " + shown(expected));
}

template <class Error, class Call>
void throws(const Call& call, Place place, const char* text) {
  ++tally().checks;
  try {
    call();
  } catch (const Error&) {
    return;
  } catch (...) {
    failed(place, std::string(text) + " throws something else");
    return;
  }
  failed(place, std::string(text) + " does not throw");
}

// What call() throws, for a closer look; nothing where it throws nothing.
template <class Error, class Call>
std::optional<Error> caught(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

struct Test {
  const char* name;
  void (*body)();
};

inline void run_one(const Test& test) {
  const long before = tally().failures;
  try {
    test.body();
  } catch (const std::exception& error) {
    failed({test.name, 0}, std::string("ends with an exception: ") + error.what());
  } catch (...) {
    failed({test.name, 0}, "ends with an exception");
  }
  if (tally().failures > before) std::cout << "FAILED " << test.name << '\n';
}

inline int run(std::initializer_list<Test> tests) {
  for (const Test& test : tests) run_one(test);
  std::cout << tests.size() << " tests, " << tally().checks << " checks, " << tally().failures
            << " failures\n";
  return tally().failures == 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) \
  check::is_true(static_cast<bool>(condition), {__FILE__, __LINE__}, #condition)
#define CHECK_EQUAL(actual, expected) \
  check::is_equal(actual, expected, {__FILE__, __LINE__}, #actual)
#define CHECK_NEAR(actual, expected, tolerance) \
  check::is_near(actual, expected, tolerance, {__FILE__, __LINE__}, #actual)
#define CHECK_THROWS(Error, ...) \
  check::throws<Error>([&] { __VA_ARGS__; }, {__FILE__, __LINE__}, #__VA_ARGS__)
#define TEST(function) \
  check::Test { #function, function }
