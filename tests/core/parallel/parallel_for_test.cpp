#include <weft/core/parallel/for.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/parallel/transform.hpp>
#include <weft/core/task_group.hpp>

#include "everywhere.hpp"

namespace weft {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The global pool of this program has two workers on every machine.
const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

TEST(ParallelFor, CallsTheBodyOnceForEveryIndex) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::size_t grain : {0U, 1U, 7U, 100000U}) {
        std::vector<std::atomic<int>> calls(n);
        parallel_for(0, n, [&](std::size_t i) { ++calls[i]; }, {.grain = grain});
        for (const auto& c : calls) ASSERT_EQ(c, 1) << n << " elements, grain " << grain;
      }
    }
  });
}

TEST(ParallelFor, HandsWholeBlocksToABodyOfTwoParameters) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      std::vector<std::atomic<int>> calls(n);
      parallel_for(std::size_t{0}, n, [&](std::size_t first, std::size_t last) {
        EXPECT_LT(first, last);
        for (std::size_t i = first; i < last; ++i) ++calls[i];
      });
      for (const auto& c : calls) ASSERT_EQ(c, 1) << n;
    }
  });
}

TEST(ParallelFor, CountsInTheTypeThatBothBoundsFitIn) {
  std::vector<std::atomic<int>> calls(20);
  parallel_for(-10, 10, [&](int i) { ++calls[static_cast<std::size_t>(i + 10)]; });
  for (const auto& c : calls) EXPECT_EQ(c, 1);

  std::atomic<int> bytes{0};
  parallel_for(std::int8_t{-128}, std::int8_t{127}, [&](int) { ++bytes; });
  EXPECT_EQ(bytes, 255);

  std::atomic<std::uint64_t> sum{0};
  constexpr auto top = std::numeric_limits<std::uint64_t>::max();
  parallel_for(top - 3, top, [&](std::uint64_t i) { sum += top - i; });
  EXPECT_EQ(sum, 3U + 2 + 1);
}

TEST(ParallelFor, DoesNothingWhenTheFirstIsNotBelowTheLast) {
  parallel_for(3, 3, [](int) { ADD_FAILURE(); });
  parallel_for(3, -3, [](int) { ADD_FAILURE(); });
  parallel_for(-1, 0U, [](unsigned) { ADD_FAILURE() << "as an unsigned number -1 is large"; },
               {.grain = 1});
}

TEST(ParallelFor, SharesAFewExpensiveIterations) {
  // Each of the four waits until another thread runs one too: alone this would never end.
  pool p({.workers = 2});
  p.run([] {
    std::latch together(2);
    std::atomic<int> waited{0};
    parallel_for(0, 4, [&](int i) {
      test::work_for(std::chrono::milliseconds(1));
      if (i == 1 || i == 3) {
        together.arrive_and_wait();
        ++waited;
      }
    });
    EXPECT_EQ(waited, 2);
  });
}

TEST(ParallelFor, ThrowsWhatTheSerialLoopWouldHaveMetFirst) {
  test::everywhere([] {
    for (const std::size_t grain : {0U, 1U, 3U}) {
      try {
        parallel_for(0, 1000,
                     [](int i) {
                       if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
                     },
                     {.grain = grain});
        FAIL();
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "37");
      }
    }
  });
}

TEST(ParallelFor, RunsEveryIterationBeforeTheOneThatThrows) {
  test::everywhere([] {
    std::vector<std::atomic<int>> calls(1000);
    EXPECT_THROW(parallel_for(0, 1000,
                              [&](int i) {
                                ++calls[static_cast<std::size_t>(i)];
                                if (i >= 500) throw std::runtime_error("late");
                              },
                              {.grain = 1}),
                 std::runtime_error);
    for (std::size_t i = 0; i <= 500; ++i) ASSERT_EQ(calls[i], 1) << i;
  });
}

TEST(ParallelFor, LeavesOutIterationsAfterTheOneThatThrew) {
  pool p({.workers = 1});
  std::atomic<int> ran{0};
  EXPECT_THROW(p.run([&] {
    parallel_for(0, 1'000'000, [&](int i) {
      ++ran;
      if (i == 3) throw std::runtime_error("early");
    });
  }),
               std::runtime_error);
  EXPECT_LT(ran, 1000);
}

TEST(ParallelFor, StopsWhenAskedTo) {
  test::everywhere([] {
    std::stop_source source;
    std::atomic<int> ran{0};
    EXPECT_THROW(parallel_for(0, 1'000'000,
                              [&](int) {
                                if (++ran == 10) source.request_stop();
                              },
                              {.grain = 1, .stop = source.get_token()}),
                 cancelled);
    EXPECT_LT(ran, 1'000'000);
  });
}

TEST(ParallelFor, WhoseStopWasRequestedBeforeRunsNothing) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(parallel_for(0, 10, [](int) { ADD_FAILURE(); }, {.stop = source.get_token()}),
               cancelled);
}

TEST(ParallelFor, ThatIsEmptyIsDoneAlsoWhenAskedToStop) {
  std::stop_source source;
  source.request_stop();
  EXPECT_NO_THROW(parallel_for(0, 0, [](int) {}, {.stop = source.get_token()}));
}

TEST(ParallelFor, CanBeNested) {
  test::everywhere([] {
    std::vector<std::atomic<int>> calls(40 * 50);
    parallel_for(std::size_t{0}, std::size_t{40},
                 [&](std::size_t i) {
                   parallel_for(std::size_t{0}, std::size_t{50},
                                [&](std::size_t j) { ++calls[i * 50 + j]; }, {.grain = 3});
                 },
                 {.grain = 2});
    for (const auto& c : calls) ASSERT_EQ(c, 1);
  });
}

TEST(ParallelFor, CanBeCalledBySeveralThreadsAtOnce) {
  std::vector<std::jthread> threads;
  std::atomic<int> calls{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < test::rounds(200); ++round) {
        parallel_for(0, 1000, [&](int) { ++calls; }, {.grain = 10});
      }
    });
  }
  threads.clear();
  EXPECT_EQ(calls, 4 * 1000 * test::rounds(200));
}

TEST(ParallelFor, RunsInThePoolThatRunChose) {
  pool p({.workers = 2});
  p.run([&] { parallel_for(0, 1000, [&](int) { EXPECT_EQ(pool::current(), &p); }, {.grain = 1}); });
}

TEST(ParallelFor, CallsACallableThatCannotBeCopied) {
  const auto one = std::make_unique<int>(1);
  std::atomic<int> sum{0};
  parallel_for(0, 10, [&sum, p = std::make_unique<int>(2)](int) { sum += *p; });
  EXPECT_EQ(sum, 20);
}

TEST(ParallelForEach, ReachesEveryElementOfRangesOfManyKinds) {
  test::everywhere([] {
    const auto twice = [](auto& x) { x *= 2; };
    std::vector<int> vector(100, 1);
    parallel_for_each(vector, twice, {.grain = 1});
    EXPECT_THAT(vector, Each(2));
    std::deque<int> deque(100, 1);
    parallel_for_each(deque, twice, {.grain = 1});
    EXPECT_THAT(deque, Each(2));
    std::array<int, 3> array{1, 2, 3};
    parallel_for_each(array, twice);
    EXPECT_THAT(array, ElementsAre(2, 4, 6));
    int plain[]{1, 2, 3};
    parallel_for_each(plain, twice);
    EXPECT_THAT(plain, ElementsAre(2, 4, 6));
    parallel_for_each(std::span(vector).first(50), twice);
    EXPECT_EQ(std::accumulate(vector.begin(), vector.end(), 0), 50 * 4 + 50 * 2);
    parallel_for_each(vector.begin(), vector.begin() + 50, [](int& x) { x /= 2; });
    EXPECT_THAT(vector, Each(2));
    parallel_for_each(vector | std::views::drop(98), twice);
    EXPECT_EQ(vector.back(), 4);
    std::atomic<int> sum{0};
    parallel_for_each(std::views::iota(1, 101), [&](int x) { sum += x; }, {.grain = 1});
    EXPECT_EQ(sum, 5050);
    parallel_for_each(vector | std::views::transform([](int x) { return x + 1; }),
                      [&](int x) { sum += x; });
    EXPECT_EQ(sum, 5050 + 98 * 3 + 2 * 5);
  });
}

TEST(ParallelForEach, TakesMembersAndMoveOnlyElements) {
  struct particle {
    int steps = 0;
    void move() { ++steps; }
  };
  std::vector<particle> particles(50);
  parallel_for_each(particles, &particle::move);
  for (const particle& p : particles) EXPECT_EQ(p.steps, 1);

  std::vector<std::unique_ptr<int>> owners(50);
  parallel_for_each(owners, [](std::unique_ptr<int>& o) { o = std::make_unique<int>(3); });
  for (const auto& o : owners) EXPECT_EQ(*o, 3);
}

TEST(ParallelForEach, ReadsPackedBitsButDoesNotWriteThem) {
  const std::vector<bool> bits(100, true);
  std::atomic<int> set{0};
  parallel_for_each(bits, [&](bool b) { set += b ? 1 : 0; }, {.grain = 1});
  EXPECT_EQ(set, 100);
  static_assert(parallel_range<const std::vector<bool>&>);
  static_assert(!parallel_range<std::vector<bool>&>, "neighbours share a byte");
}

TEST(ParallelTransform, WritesEveryResultInItsPlace) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      std::vector<std::size_t> in(n);
      std::iota(in.begin(), in.end(), 0);
      std::vector<std::string> out(n);
      const auto end =
          parallel_transform(in, out.begin(), [](std::size_t x) { return std::to_string(x); });
      EXPECT_EQ(end, out.end());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], std::to_string(i));
    }
  });
}

TEST(ParallelTransform, MayWriteOntoItsInput) {
  std::vector<int> v(1000, 2);
  parallel_transform(v, v.begin(), [](int x) { return x * x; }, {.grain = 1});
  EXPECT_THAT(v, Each(4));
  parallel_transform(v.begin(), v.end(), v.begin(), [](int x) { return x + 1; });
  EXPECT_THAT(v, Each(5));
}

TEST(ParallelTransform, OfTwoInputsEndsWithTheShorterOne) {
  const std::vector<int> a{1, 2, 3, 4};
  const std::vector<int> b{10, 20, 30};
  std::vector<int> sum(4);
  EXPECT_EQ(parallel_transform(a, b, sum.begin(), std::plus<>{}), sum.begin() + 3);
  EXPECT_THAT(sum, ElementsAre(11, 22, 33, 0));
}

TEST(ParallelTransform, StoresResultsThatCanOnlyMove) {
  std::vector<std::unique_ptr<int>> out(100);
  parallel_transform(std::views::iota(0, 100), out.begin(),
                     [](int x) { return std::make_unique<int>(x); }, {.grain = 1});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*out[static_cast<std::size_t>(i)], i);
}

TEST(ParallelFor, RefusesAnEmptyFunction) {
  EXPECT_THROW(parallel_for(0, 3, std::function<void(int)>()), std::invalid_argument);
  std::vector<int> v(3);
  EXPECT_THROW(parallel_for_each(v, std::function<void(int)>()), std::invalid_argument);
  EXPECT_THROW(parallel_transform(v, v.begin(), std::function<int(int)>()), std::invalid_argument);
}

TEST(ParallelTransform, IntoARangeRefusesOneThatIsTooShort) {
  const std::vector<int> in{1, 2, 3};
  std::vector<int> out(3);
  EXPECT_EQ(parallel_transform(in, out, std::negate<>{}), out.end());
  EXPECT_THAT(out, ElementsAre(-1, -2, -3));
  out.resize(2);
  EXPECT_THROW(parallel_transform(in, out, std::negate<>{}), std::invalid_argument);
}

}  // namespace
}  // namespace weft
