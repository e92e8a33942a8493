#include <weft/core/parallel/reduce.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everywhere.hpp"

namespace weft {
namespace {

const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

TEST(ParallelReduce, GivesWhatAccumulateGives) {
  test::everywhere([] {
    std::mt19937 random(1);
    for (const std::size_t n : test::sizes) {
      std::vector<int> v(n);
      std::ranges::generate(v, [&] { return static_cast<int>(random() % 1000); });
      const long expected = std::accumulate(v.begin(), v.end(), 7L);
      EXPECT_EQ(parallel_reduce(v, 7L), expected);
      EXPECT_EQ(parallel_reduce(v, 7L, std::plus<>{}, {}, {.grain = 1}), expected);
      EXPECT_EQ(parallel_reduce(v, 7L, std::plus<>{}, {}, {.reproducible = true}), expected);
      EXPECT_EQ(parallel_reduce(v.begin(), v.end(), 7L), expected);
    }
  });
}

TEST(ParallelReduce, KeepsTheOrderOfAnOperationThatDoesNotCommute) {
  test::everywhere([] {
    std::string expected = "start";
    for (int i = 0; i < 300; ++i) expected += std::to_string(i);
    for (const bool reproducible : {false, true}) {
      const auto joined = parallel_reduce(std::views::iota(0, 300), std::string("start"),
                                          std::plus<>{}, [](int i) { return std::to_string(i); },
                                          {.grain = 1, .reproducible = reproducible});
      EXPECT_EQ(joined, expected);
    }
  });
}

TEST(ParallelReduce, ProjectsElements) {
  struct item {
    std::string name;
    int cost;
  };
  const std::vector<item> items{{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_EQ(parallel_reduce(items, 0, std::plus<>{}, &item::cost), 6);
  EXPECT_EQ(parallel_reduce(items, std::string(), std::plus<>{}, &item::name), "abc");
}

TEST(ParallelReduce, HandlesResultsThatCanOnlyMove) {
  struct total {
    explicit total(int x) : value(std::make_unique<int>(x)) {}
    std::unique_ptr<int> value;
  };
  const auto add = [](total a, total b) {
    *a.value += *b.value;
    return a;
  };
  const auto sum = parallel_reduce(std::views::iota(0, 100), total(0), add,
                                   [](int x) { return total(x); }, {.grain = 1});
  EXPECT_EQ(*sum.value, 4950);
}

TEST(ParallelReduce, UsesTheInitialValueOnce) {
  test::everywhere([] {
    const std::vector<int> v(1000, 0);
    EXPECT_EQ(parallel_reduce(v, 5, std::plus<>{}, {}, {.grain = 1}), 5);
  });
}

TEST(ParallelReduce, OfNothingIsTheInitialValue) {
  EXPECT_EQ(parallel_reduce(std::vector<int>(), 5), 5);
  EXPECT_EQ(parallel_reduce(std::vector<int>(), 5, std::plus<>{}, {}, {.reproducible = true}), 5);
}

TEST(ParallelReduce, IsTheSameToTheLastBitForAnyNumberOfWorkersWhenAskedToBe) {
  const std::uint64_t seed = test::announced_seed();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1e6, 1e6);
  for (const std::size_t n : {10U, 1000U, 100'003U}) {
    std::vector<double> v(n);
    std::ranges::generate(v, [&] { return number(random) * number(random); });
    pool one({.workers = 1});
    const double expected =
        one.run([&] { return parallel_reduce(v, 0.0, std::plus<>{}, {}, {.reproducible = true}); });
    test::everywhere([&] {
      EXPECT_EQ(parallel_reduce(v, 0.0, std::plus<>{}, {}, {.reproducible = true}), expected);
    });
  }
}

TEST(ParallelReduce, ThrowsWhatTheSerialLoopWouldHaveMetFirst) {
  test::everywhere([] {
    for (const bool reproducible : {false, true}) {
      try {
        parallel_reduce(std::views::iota(0, 1000), 0, std::plus<>{},
                        [](int i) -> int {
                          if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
                          return i;
                        },
                        {.grain = 1, .reproducible = reproducible});
        FAIL();
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "37");
      }
    }
  });
}

TEST(ParallelReduce, PassesOnWhatTheOperationThrows) {
  test::everywhere([] {
    EXPECT_THROW(parallel_reduce(std::views::iota(0, 1000), 0,
                                 [](int, int) -> int { throw std::runtime_error("op"); }),
                 std::runtime_error);
  });
}

TEST(ParallelReduce, StopsWhenAskedTo) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(parallel_reduce(std::views::iota(0, 1000), 0, std::plus<>{}, {},
                               {.stop = source.get_token()}),
               cancelled);
  EXPECT_THROW(parallel_reduce(std::views::iota(0, 1000), 0, std::plus<>{}, {},
                               {.stop = source.get_token(), .reproducible = true}),
               cancelled);
}

TEST(ParallelReduce, DoesNotMakeAResultOutOfAnElementExplicitly) {
  // std::vector<int>(n) is not a vector that holds n.
  const auto reducible = []<class T>(T) {
    return requires(std::vector<int>& v) {
      parallel_reduce(v, T(), [](T a, const auto&) { return a; });
    };
  };
  EXPECT_FALSE(reducible(std::vector<int>()));
  EXPECT_TRUE(reducible(0L));
}

}  // namespace
}  // namespace weft
