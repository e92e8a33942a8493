#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/rounds.hpp"

// Sorting in ascending order. A round sorts fresh copies of the input, which are made before the
// clock starts. The stable sorts use this too.
namespace sort {

enum class kind { random, sorted, few, strings };

struct instance {
  std::string_view name;
  kind of;
  std::size_t size;
  bench::time_unit unit;
  std::size_t copies;  // Sorted one after the other, so that a round is long enough to be timed.
};
inline constexpr std::array instances{
    instance{"random10^7", kind::random, 10'000'000, bench::milliseconds, 1},
    instance{"sorted10^7", kind::sorted, 10'000'000, bench::milliseconds, 1},
    instance{"few10^7", kind::few, 10'000'000, bench::milliseconds, 1},
    instance{"random10^5", kind::random, 100'000, bench::microseconds, 4},
    instance{"strings10^6", kind::strings, 1'000'000, bench::milliseconds, 1},
};

inline std::vector<std::int32_t> make_integers(kind of, std::size_t size) {
  std::vector<std::int32_t> values(size);
  if (of == kind::sorted) {
    std::iota(values.begin(), values.end(), 0);
  } else {
    std::mt19937 random(1);
    const std::uint32_t mask = of == kind::few ? 15 : ~0U;
    for (auto& value : values) value = static_cast<std::int32_t>(random() & mask);
  }
  return values;
}

// 4 to 27 letters: some within the string object, some on the heap.
inline std::vector<std::string> make_strings(std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::string> values(size);
  for (auto& value : values) {
    value.resize(4 + random() % 24);
    for (char& letter : value) letter = static_cast<char>('a' + random() % 26);
  }
  return values;
}

// Does not depend on the order.
template <class T>
std::size_t checksum(const std::vector<T>& values) {
  std::size_t sum = 0;
  for (const T& value : values) {
    const auto hash = std::hash<T>{}(value);
    sum += hash * (hash | 1);
  }
  return sum;
}

template <class T, class Solve>
std::vector<double> time_sorts(const bench::options& with, const instance& problem,
                               const std::vector<T>& input, Solve& solve) {
  const auto expected = checksum(input);
  std::vector<std::vector<T>> copies(problem.copies);
  const auto time_round = [&] {
    for (auto& copy : copies) copy = input;
    const auto begin = bench::now_ns();
    for (auto& copy : copies) solve(copy);
    const auto elapsed_ns = static_cast<double>(bench::now_ns() - begin);
    for (const auto& copy : copies) {
      if (!std::ranges::is_sorted(copy) || checksum(copy) != expected) {
        bench::fail("sort: wrong result");
      }
    }
    return elapsed_ns / static_cast<double>(copies.size());
  };

  const auto warm_until = bench::now_ns() + 30'000'000;
  const auto part = static_cast<std::ptrdiff_t>(std::min<std::size_t>(input.size(), 100'000));
  do {
    std::vector<T> some(input.begin(), input.begin() + part);
    solve(some);
  } while (bench::now_ns() < warm_until);
  return bench::repeat_rounds(with, time_round);
}

// `solve(values)` sorts a vector of 32 bit integers or of strings.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto problem = chosen_instance(with, instances);
  const std::size_t size = bench::scaled(with, problem.size);
  auto samples_ns = problem.of == kind::strings
                        ? time_sorts(with, problem, make_strings(size), solve)
                        : time_sorts(with, problem, make_integers(problem.of, size), solve);
  bench::emit_times("time", problem.unit, std::move(samples_ns));
}

}  // namespace sort
