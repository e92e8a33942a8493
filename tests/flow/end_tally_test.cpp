#include <weft/flow/end_tally.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft::flow {
namespace {

// Index + 1 of those that were left, the last first.
std::vector<std::uint32_t> walk_back(const end_tally& tally,
                                     const std::vector<std::uint32_t>& left_before) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = tally.newest(); n != 0; n = left_before[n - 1]) order.push_back(n);
  return order;
}

TEST(EndTally, HasNobodyAtFirst) {
  const end_tally tally;
  EXPECT_EQ(tally.left(), 0U);
  EXPECT_EQ(tally.newest(), 0U);
  EXPECT_FALSE(tally.is_closed());
}

TEST(EndTally, KnowsHowManyWereLeftAndInWhichOrder) {
  end_tally tally;
  std::vector<std::uint32_t> left_before(3);
  for (const std::size_t index : {2U, 0U, 1U}) {
    EXPECT_TRUE(tally.leave(index, left_before[index]));
  }
  EXPECT_EQ(tally.left(), 3U);
  EXPECT_EQ(walk_back(tally, left_before), (std::vector<std::uint32_t>{2, 1, 3}));
}

TEST(EndTally, TheLastOneIsLeftOnlyWithTheLock) {
  end_tally tally;
  std::vector<std::uint32_t> left_before(2);
  EXPECT_EQ(tally.seal(2), 2U);
  EXPECT_TRUE(tally.leave(0, left_before[0]));
  EXPECT_FALSE(tally.leave(1, left_before[1]));
  EXPECT_EQ(tally.left(), 1U);
  EXPECT_TRUE(tally.leave_with_lock(1, left_before[1]));
  EXPECT_EQ(tally.left(), 2U);
  EXPECT_EQ(walk_back(tally, left_before), (std::vector<std::uint32_t>{2, 1}));
}

TEST(EndTally, NoneIsTheLastBeforeItIsSealed) {
  end_tally tally;
  std::uint32_t before = 0;
  for (std::size_t index = 0; index < 1000; ++index) ASSERT_TRUE(tally.leave(index, before));
  EXPECT_EQ(tally.left(), 1000U);
  EXPECT_EQ(tally.seal(1000), 0U);
  EXPECT_EQ(tally.left(), 1000U);
}

TEST(EndTally, SealingSaysHowManyAreToCome) {
  end_tally tally;
  std::uint32_t before = 0;
  EXPECT_TRUE(tally.leave(0, before));
  EXPECT_EQ(tally.seal(3), 2U);
  EXPECT_EQ(tally.left(), 1U);
}

TEST(EndTally, ClosedItTakesNobodyAndForgetsNobody) {
  end_tally tally;
  std::vector<std::uint32_t> left_before(3);
  EXPECT_TRUE(tally.leave(1, left_before[1]));
  tally.close();
  tally.close();
  EXPECT_TRUE(tally.is_closed());
  EXPECT_FALSE(tally.leave(0, left_before[0]));
  EXPECT_FALSE(tally.leave_with_lock(2, left_before[2]));
  EXPECT_EQ(tally.left(), 1U);
  EXPECT_EQ(walk_back(tally, left_before), (std::vector<std::uint32_t>{2}));
}

TEST(EndTally, TakesTheHighestIndexThatFits) {
  end_tally tally;
  std::uint32_t before = 0;
  EXPECT_TRUE(tally.leave(end_tally::capacity - 1, before));
  EXPECT_EQ(tally.newest(), end_tally::capacity);
  EXPECT_EQ(tally.left(), 1U);
  EXPECT_EQ(tally.seal(end_tally::capacity), end_tally::capacity - 1);
  EXPECT_EQ(tally.left(), 1U);
}

TEST(EndTally, OfThreadsThatEndAtOnceEachIsLeftOnceAndOneIsTheLast) {
  constexpr std::size_t each = 20'000;
  constexpr std::size_t threads = 4;
  end_tally tally;
  std::vector<std::uint32_t> left_before(each * threads);
  std::array<std::size_t, threads> refused{};
  tally.seal(each * threads);
  {
    std::vector<std::jthread> enders;
    for (std::size_t t = 0; t < threads; ++t) {
      enders.emplace_back([&, t] {
        for (std::size_t k = 0; k < each; ++k) {
          const std::size_t index = k * threads + t;
          if (!tally.leave(index, left_before[index])) {
            ++refused[t];
            EXPECT_TRUE(tally.leave_with_lock(index, left_before[index]));
          }
        }
      });
    }
  }
  std::size_t last_ones = 0;
  for (const std::size_t r : refused) last_ones += r;
  EXPECT_EQ(last_ones, 1U);
  EXPECT_EQ(tally.left(), each * threads);
  std::vector<bool> found(each * threads);
  for (const std::uint32_t n : walk_back(tally, left_before)) {
    EXPECT_FALSE(found[n - 1]);
    found[n - 1] = true;
  }
  EXPECT_EQ(walk_back(tally, left_before).size(), each * threads);
}

}  // namespace
}  // namespace weft::flow
