#include <weft/core/parallel/sort.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/parallel/stable_sort.hpp>

#include "everywhere.hpp"

namespace weft {
namespace {

const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

// What kills quicksorts and merge sorts.
std::vector<std::pair<std::string, std::vector<int>>> inputs(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto number = [&] { return static_cast<int>(random()); };
  std::vector<int> up(n);
  std::iota(up.begin(), up.end(), -static_cast<int>(n / 2));
  std::vector<std::pair<std::string, std::vector<int>>> all;
  const auto add = [&](const char* name, auto fill) {
    std::vector<int> v = up;
    fill(v);
    all.emplace_back(name, std::move(v));
  };
  add("sorted", [](auto&) {});
  add("reverse", [](auto& v) { std::ranges::reverse(v); });
  add("random", [&](auto& v) { std::ranges::generate(v, number); });
  add("shuffled", [&](auto& v) { std::ranges::shuffle(v, random); });
  add("all equal", [](auto& v) { std::ranges::fill(v, 3); });
  add("two values", [&](auto& v) { std::ranges::generate(v, [&] { return number() % 2; }); });
  add("few values", [&](auto& v) { std::ranges::generate(v, [&] { return number() % 16; }); });
  add("organ pipe", [](auto& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = static_cast<int>(std::min(i, v.size() - i));
    }
  });
  add("sawtooth", [](auto& v) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int>(i % 37);
  });
  add("sorted but for the last", [](auto& v) {
    if (!v.empty()) v.back() = -1'000'000;
  });
  add("sorted but for the first", [](auto& v) {
    if (!v.empty()) v.front() = 1'000'000;
  });
  add("two sorted halves", [](auto& v) {
    std::ranges::rotate(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  });
  add("extremes", [&](auto& v) {
    std::ranges::generate(v, [&] { return number() % 2 == 0 ? INT32_MIN : INT32_MAX; });
  });
  return all;
}

const std::vector<std::size_t> sort_sizes{0,  1,  2,  3,   15,  16,   17,   20,   21,
                                          31, 32, 33, 127, 128, 1000, 1501, 5000, 20'001};

TEST(ParallelSort, SortsEveryPatternOfEverySize) {
  const std::uint64_t seed = test::announced_seed();
  test::everywhere([seed] {
    for (const std::size_t n : sort_sizes) {
      for (const auto& [name, input] : inputs(n, seed)) {
        std::vector<int> expected = input;
        std::ranges::sort(expected);
        std::vector<int> v = input;
        EXPECT_EQ(parallel_sort(v), v.end());
        ASSERT_EQ(v, expected) << name << ", " << n;
        v = input;
        parallel_sort(v.begin(), v.end(), std::greater<>{});
        std::ranges::reverse(expected);
        ASSERT_EQ(v, expected) << name << " descending, " << n;
      }
    }
  });
}

TEST(ParallelSort, IsQuickOnLargeInputsOfEveryPattern) {
  // By comparisons, not by the clock: at most 3 n log2 n.
  pool p({.workers = 2});
  constexpr std::size_t n = test::under_sanitizer ? 30'000 : 300'000;
  for (const auto& [name, input] : inputs(n, 1)) {
    for (const bool stable : {false, true}) {
      std::vector<int> v = input;
      std::atomic<std::uint64_t> comparisons{0};
      const auto less = [&](int a, int b) {
        comparisons.fetch_add(1, std::memory_order_relaxed);
        return a < b;
      };
      p.run([&] {
        if (stable) {
          parallel_stable_sort(v, less);
        } else {
          parallel_sort(v, less);
        }
      });
      EXPECT_TRUE(std::ranges::is_sorted(v)) << name;
      const double bound = 3.0 * static_cast<double>(n) * std::log2(static_cast<double>(n));
      EXPECT_LT(static_cast<double>(comparisons), bound) << name << (stable ? ", stable" : "");
    }
  }
}

TEST(ParallelSort, SortsObjectsThatOnlyMove) {
  test::everywhere([] {
    std::mt19937 random(1);
    std::vector<std::unique_ptr<int>> v(5000);
    for (auto& x : v) x = std::make_unique<int>(static_cast<int>(random() % 1000));
    const auto by_value = [](const std::unique_ptr<int>& p) { return *p; };
    parallel_sort(v, {}, by_value);
    EXPECT_TRUE(std::ranges::is_sorted(v, {}, by_value));
    parallel_stable_sort(v, std::greater<>{}, by_value);
    EXPECT_TRUE(std::ranges::is_sorted(v, std::greater<>{}, by_value));
  });
}

TEST(ParallelSort, SortsStringsDequesAndParts) {
  test::everywhere([] {
    std::mt19937 random(1);
    std::deque<std::string> deque(5000);
    for (auto& s : deque) s = std::to_string(random()) + std::string(random() % 40, 'x');
    parallel_sort(deque);
    EXPECT_TRUE(std::ranges::is_sorted(deque));
    std::ranges::shuffle(deque, random);
    parallel_stable_sort(deque, {}, &std::string::size);
    EXPECT_TRUE(std::ranges::is_sorted(deque, {}, &std::string::size));
    std::vector<int> v{9, 3, 2, 1, 0};
    parallel_sort(std::span(v).subspan(1, 3));
    EXPECT_EQ(v, (std::vector<int>{9, 1, 2, 3, 0}));
  });
}

// A comparison that throws at its n-th call, for n over the whole length of the sort: the elements
// must all be there afterwards.
template <class T, class Make, class Sort>
void expect_nothing_lost(Make make, Sort sort) {
  constexpr std::size_t n = 3000;
  std::mt19937 random(1);
  for (std::int64_t fails_at : {1, 2, 10, 100, 1000, 3001, 5000, 10'000, 20'000, 30'000, 36'000}) {
    std::vector<T> v(n);
    for (auto& x : v) x = make(static_cast<int>(random() % 700));
    std::vector<T> before = v;
    std::atomic<std::int64_t> left{fails_at};
    bool threw = false;
    try {
      sort(v, [&](const T& a, const T& b) {
        if (left.fetch_sub(1, std::memory_order_relaxed) == 1) throw std::runtime_error("compare");
        return a < b;
      });
    } catch (const std::runtime_error&) {
      threw = true;
    }
    EXPECT_EQ(threw, left <= 0);
    std::ranges::sort(before);
    std::ranges::sort(v);
    ASSERT_EQ(v, before) << "comparison " << fails_at;
  }
}

TEST(ParallelSort, LosesNoElementWhenTheComparisonThrows) {
  const auto number = [](int x) { return x; };
  const auto text = [](int x) {
    return std::string(static_cast<std::size_t>(x % 50), 'a') + std::to_string(x);
  };
  const auto unstable = [](auto& v, auto less) { parallel_sort(v, less); };
  const auto stable = [](auto& v, auto less) { parallel_stable_sort(v, less); };
  test::everywhere([&] {
    expect_nothing_lost<int>(number, unstable);
    expect_nothing_lost<std::string>(text, unstable);
    expect_nothing_lost<int>(number, stable);
    expect_nothing_lost<std::string>(text, stable);
  });
}

TEST(ParallelSort, SurvivesAComparisonThatIsNoOrder) {
  // What comes out is not sorted, but it is the same elements, and nothing is read outside.
  test::everywhere([] {
    std::mt19937 random(1);
    std::vector<int> v(5000);
    std::iota(v.begin(), v.end(), 0);
    const auto nonsense = [&v](int a, int b) { return (a * 7 + b * 13) % 3 == 0 || v.empty(); };
    parallel_sort(v, nonsense);
    std::vector<int> all = v;
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int>(i));
    parallel_stable_sort(v, [](int, int) { return true; });
    std::ranges::sort(v);
    EXPECT_EQ(v, all);
  });
}

TEST(ParallelStableSort, GivesExactlyWhatStableSortGives) {
  const std::uint64_t seed = test::announced_seed();
  test::everywhere([seed] {
    for (const std::size_t n : sort_sizes) {
      for (const auto& [name, input] : inputs(n, seed)) {
        std::vector<std::pair<int, std::size_t>> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = {input[i] % 100, i};
        auto expected = v;
        std::ranges::stable_sort(expected, {}, &std::pair<int, std::size_t>::first);
        EXPECT_EQ(parallel_stable_sort(v, {}, &std::pair<int, std::size_t>::first), v.end());
        ASSERT_EQ(v, expected) << name << ", " << n;
      }
    }
  });
}

TEST(ParallelStableSort, MergesLargeRunsTogether) {
  pool p({.workers = 4});
  constexpr std::size_t n = test::under_sanitizer ? 100'000 : 1'000'000;
  std::mt19937 random(1);
  std::vector<std::pair<int, int>> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = {static_cast<int>(random() % 1000), static_cast<int>(i)};
  p.run([&] { parallel_stable_sort(v, {}, &std::pair<int, int>::first); });
  EXPECT_TRUE(std::ranges::is_sorted(v));
}

TEST(ParallelSort, TakesComparisonsAndProjectionsOfElementsThatAreNotConst) {
  std::vector<int> v{3, 1, 2};
  parallel_sort(v, [](int& a, int& b) { return a < b; });
  EXPECT_EQ(v, (std::vector<int>{1, 2, 3}));
  parallel_stable_sort(v, std::greater<>{}, [](int& x) -> int& { return x; });
  EXPECT_EQ(v, (std::vector<int>{3, 2, 1}));
}

TEST(ParallelSort, StaysInsideTheRangeWhenTheComparisonSaysNowThisNowThat) {
  std::mt19937 random(1);
  std::vector<std::string> v(3000);
  for (auto& s : v) s = std::to_string(random() % 1000);
  pool p({.workers = 1});
  p.run([&] { parallel_sort(v, [&](const auto&, const auto&) { return random() % 2 == 0; }); });
  EXPECT_EQ(v.size(), 3000U);
}

TEST(ParallelSort, SortsPlainValuesThatOnlyMove) {
  struct handle {
    explicit handle(int f) : fd(f) {}
    handle(handle&&) = default;
    handle& operator=(handle&&) = default;
    int fd;
  };
  std::mt19937 random(1);
  std::vector<handle> v;
  for (int i = 0; i < 3000; ++i) v.emplace_back(static_cast<int>(random() % 1000));
  parallel_sort(v, {}, &handle::fd);
  EXPECT_TRUE(std::ranges::is_sorted(v, {}, &handle::fd));
  parallel_stable_sort(v, std::greater<>{}, &handle::fd);
  EXPECT_TRUE(std::ranges::is_sorted(v, std::greater<>{}, &handle::fd));
}

TEST(ParallelSort, PassesOnWhatAMoveThrows) {
  struct fragile {
    explicit fragile(int v) : value(v) {}
    fragile(fragile&& other)
        : value(other.value) {}            // NOLINT(performance-noexcept-move-constructor)
    fragile& operator=(fragile&& other) {  // NOLINT(performance-noexcept-move-constructor)
      if (other.value == 7) throw std::runtime_error("seven");
      value = other.value;
      return *this;
    }
    int value;
  };
  std::vector<fragile> v;
  for (int i = 0; i < 10; ++i) v.emplace_back((i * 7) % 10);
  EXPECT_THROW(parallel_sort(v, {}, &fragile::value), std::runtime_error);
}

}  // namespace
}  // namespace weft
