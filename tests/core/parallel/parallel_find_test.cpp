#include <weft/core/parallel/find.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everywhere.hpp"

namespace weft {
namespace {

const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

TEST(ParallelFind, GivesTheFirstMatch) {
  const std::uint64_t seed = test::announced_seed();
  test::everywhere([seed] {
    std::mt19937_64 random(seed);
    for (const std::size_t n : test::sizes) {
      for (const std::size_t grain : {0U, 1U, 5U}) {
        std::vector<int> v(n, 0);
        for (std::size_t i = 0; i < n / 50 + 1 && n > 0; ++i) v[random() % n] = 1;
        if (random() % 4 == 0) std::ranges::fill(v, 0);
        const auto is_one = [](int x) { return x == 1; };
        const auto expected = std::ranges::find_if(v, is_one);
        EXPECT_EQ(parallel_find_if(v, is_one, {}, {.grain = grain}), expected);
        EXPECT_EQ(parallel_find_if(v.begin(), v.end(), is_one), expected);
        EXPECT_EQ(parallel_any_of(v, is_one, {}, {.grain = grain}), expected != v.end());
        EXPECT_EQ(parallel_none_of(v, is_one), expected == v.end());
        EXPECT_EQ(parallel_all_of(v, is_one), std::ranges::all_of(v, is_one));
      }
    }
  });
}

TEST(ParallelFind, LooksAtEveryElementBeforeTheMatchAndAtNoneTwice) {
  test::everywhere([] {
    std::vector<std::atomic<int>> looked(2000);
    const auto found = parallel_find_if(std::views::iota(0, 2000),
                                        [&](int i) {
                                          ++looked[static_cast<std::size_t>(i)];
                                          return i >= 1000;
                                        },
                                        {}, {.grain = 1});
    EXPECT_EQ(*found, 1000);
    for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(looked[i], i <= 1000 ? 1 : looked[i].load());
    for (const auto& times : looked) ASSERT_LE(times, 1);
  });
}

TEST(ParallelFind, EndsEarly) {
  pool p({.workers = 2});
  std::atomic<int> looked{0};
  p.run([&] {
    parallel_find_if(std::views::iota(0, 100'000'000), [&](int i) {
      ++looked;
      return i == 1000;
    });
  });
  EXPECT_LT(looked, 1'000'000);
}

TEST(ParallelFind, MeetsMatchOrExceptionWhicheverTheSerialSearchWouldMeetFirst) {
  test::everywhere([] {
    const auto search = [](int match, int thrown) {
      return *parallel_find_if(std::views::iota(0, 1000),
                               [=](int i) {
                                 if (i >= thrown) throw std::runtime_error(std::to_string(i));
                                 return i >= match;
                               },
                               {}, {.grain = 1});
    };
    EXPECT_EQ(search(300, 301), 300);
    EXPECT_EQ(search(300, 700), 300);
    try {
      search(301, 300);
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "300");
    }
  });
}

TEST(ParallelFind, ProjectsElements) {
  const std::vector<std::string> words{"a", "bb", "ccc", "dd"};
  EXPECT_EQ(
      *parallel_find_if(words, [](std::size_t n) { return n > 1; }, &std::string::size), "bb");
  EXPECT_TRUE(parallel_all_of(words, [](std::size_t n) { return n > 0; }, &std::string::size));
  EXPECT_FALSE(parallel_none_of(words, [](std::size_t n) { return n == 3; }, &std::string::size));
}

TEST(ParallelFind, OfATemporaryHandsOutNoDanglingIterator) {
  static_assert(
      std::same_as<decltype(parallel_find_if(std::vector<int>(), [](int) { return true; })),
                   std::ranges::dangling>);
}

TEST(ParallelFind, StopsWhenAskedTo) {
  test::everywhere([] {
    std::stop_source source;
    EXPECT_THROW(parallel_find_if(std::views::iota(0, 1'000'000),
                                  [&](int i) {
                                    if (i == 100) source.request_stop();
                                    return false;
                                  },
                                  {}, {.grain = 1, .stop = source.get_token()}),
                 cancelled);
  });
}

TEST(ParallelFind, TakesIterators) {
  const std::vector<int> v{1, 2, 3};
  const auto is_two = [](int x) { return x == 2; };
  EXPECT_TRUE(parallel_any_of(v.begin(), v.end(), is_two));
  EXPECT_FALSE(parallel_all_of(v.begin(), v.end(), is_two));
  EXPECT_FALSE(parallel_none_of(v.begin(), v.end(), is_two));
}

// While a predicate waits its worker takes other jobs, and must not take part in this very search:
// it would search to the end before the predicate could say yes.
TEST(ParallelFind, EndsEarlyAlsoWhenThePredicateWaits) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    pool p({.workers = 2, .deterministic_seed = seed});
    int looked = 0;
    p.run([&] {
      const auto found = parallel_find_if(std::views::iota(0, 5000), [&](int i) {
        ++looked;
        return i == 10 && p.submit([] { return true; }).get();
      });
      EXPECT_EQ(*found, 10);
    });
    EXPECT_LT(looked, 5000);
  }
}

TEST(ParallelFind, NestsNoDeeperThanItsWorkersInADeterministicPool) {
  pool p({.deterministic_seed = 1});
  p.run([] {
    EXPECT_FALSE(parallel_any_of(std::views::iota(0, 200'000), [](int) { return false; }));
  });
}

}  // namespace
}  // namespace weft
