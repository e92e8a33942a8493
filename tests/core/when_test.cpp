#include <tuple>
#include <weft/core/when.hpp>

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include <support/scale.hpp>

namespace weft {
namespace {

TEST(WhenAll, GivesTheValuesInTheOrderOfTheArguments) {
  pool p({.workers = 2});
  auto all = when_all(p.submit([] { return 1; }), p.submit([] {}),
                      p.submit([] { return std::string("three"); }));
  const auto [one, nothing, three] = all.get();
  EXPECT_EQ(one, 1);
  EXPECT_EQ(nothing, std::monostate{});
  EXPECT_EQ(three, "three");
}

TEST(WhenAll, OfAVectorKeepsTheOrder) {
  pool p({.workers = 2});
  std::vector<future<int>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(p.submit([i] { return i * i; }));
  const std::vector<int> values = when_all(std::move(futures)).get();
  ASSERT_EQ(values.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i * i);
}

TEST(WhenAll, OfNothingIsReady) { EXPECT_TRUE(when_all(std::vector<future<int>>{}).get().empty()); }

TEST(WhenAll, ThrowsTheFirstErrorByPositionEvenIfALaterOneCameFirst) {
  pool p({.workers = 2});
  std::latch later_failed(1);
  auto first = p.submit([&]() -> int {
    later_failed.wait();
    throw std::runtime_error("first");
  });
  auto second = p.submit([&]() -> int {
    struct on_exit {
      std::latch& l;
      ~on_exit() { l.count_down(); }
    } tell{later_failed};
    throw std::runtime_error("second");
  });
  auto all = when_all(std::move(first), std::move(second));
  try {
    static_cast<void>(all.get());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
}

TEST(WhenAny, GivesTheFirstOneDoneAndTheOthersBack) {
  pool p({.workers = 2});
  std::latch release(1);
  std::vector<future<int>> futures;
  futures.push_back(p.submit([&] {
    release.wait();
    return 10;
  }));
  futures.push_back(p.submit([] { return 20; }));
  auto any = when_any(std::move(futures)).get();
  EXPECT_EQ(any.index, 1U);
  EXPECT_EQ(any.value, 20);
  release.count_down();
  ASSERT_EQ(any.others.size(), 2U);
  EXPECT_EQ(any.others[0].get(), 10);
  EXPECT_FALSE(any.others[1].valid());
}

TEST(WhenAny, OfNothingIsRefused) {
  EXPECT_THROW(static_cast<void>(when_any(std::vector<future<int>>{})), std::invalid_argument);
}

TEST(When, UsedUpFuturesAreRefused) {
  pool p({.workers = 1});
  auto f = p.submit([] { return 1; });
  static_cast<void>(f.get());
  EXPECT_THROW(static_cast<void>(when_all(std::move(f))), std::logic_error);
}

TEST(When, WaitsOnTheOnlyWorkerAlsoAtTheNestingLimit) {
  pool p({.workers = 1, .nesting_limit = 1});
  const int sum = p.run([&] {
    auto outer = p.submit([&] {
      auto [a, b] = when_all(p.submit([] { return 1; }), p.submit([] { return 2; })).get();
      return a + b;
    });
    return outer.get();
  });
  EXPECT_EQ(sum, 3);
}

TEST(When, ThePoolOfTheFirstMayGoBeforeTheOthersAreDone) {
  pool slow({.workers = 1});
  for (int round = 0; round < test::rounds(2000); ++round) {
    std::latch out(1);
    future<std::tuple<int, int>> both;
    {
      pool quick({.workers = 1});
      both = when_all(quick.submit([] { return 1; }), slow.submit([&] {
        out.wait();
        return 2;
      }));
    }
    out.count_down();
    EXPECT_EQ(both.get(), std::tuple(1, 2));
  }
}

}  // namespace
}  // namespace weft
