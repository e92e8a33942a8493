#include <weft/coro/this_task.hpp>

#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

namespace {

using weft::sync_wait;
using weft::task;
namespace this_task = weft::this_task;

task<std::string> my_name() { co_return std::string(co_await this_task::name()); }

TEST(ThisTask, HasTheNameThatSpawnWasGiven) {
  weft::pool pool({.workers = 1});
  EXPECT_EQ(weft::spawn(pool, my_name(), "fetch").get(), "fetch");
  EXPECT_EQ(weft::spawn(pool, my_name()).get(), "");
  EXPECT_EQ(sync_wait(my_name()), "sync_wait");
}

TEST(ThisTask, HasTheNameOfItsChainInChildrenAndBranches) {
  weft::pool pool({.workers = 1});
  auto asks = []() -> task<std::string> {
    auto nested = []() -> task<std::string> {
      auto [a, b] = co_await weft::when_all(my_name(), my_name());
      co_return a + b;
    };
    auto [a, b] = co_await weft::when_all(my_name(), nested());
    co_return a + b + co_await my_name();
  };
  EXPECT_EQ(weft::spawn(pool, asks(), "x").get(), "xxxx");
}

TEST(ThisTask, KnowsWhetherItWasAskedToStop) {
  std::stop_source stop;
  auto asks = [](std::stop_source& s) -> task<bool> {
    const auto token = co_await this_task::stop_token();
    if (co_await this_task::stop_requested() || token.stop_requested()) co_return false;
    s.request_stop();
    co_return co_await this_task::stop_requested() && token.stop_requested();
  };
  EXPECT_TRUE(sync_wait(asks(stop), stop.get_token()));
}

TEST(ThisTask, SharesTheTokenWithBranchesOfWhenAll) {
  std::stop_source stop;
  auto stops = [](std::stop_source& s) -> task<bool> {
    const auto token = co_await this_task::stop_token();
    s.request_stop();
    co_return token.stop_requested();
  };
  auto both = [](auto& make, std::stop_source& s) -> task<bool> {
    auto [a, b] = co_await weft::when_all(make(s), make(s));
    co_return a&& b;
  };
  EXPECT_TRUE(sync_wait(both(stops, stop), stop.get_token()));
}

TEST(ThisTask, KnowsItsLane) {
  weft::pool pool({.workers = 1});
  auto asks = [](weft::pool& p) -> task<bool> {
    weft::lane* const before = co_await this_task::lane();
    co_await weft::schedule_on(p);
    co_return co_await this_task::lane() == &weft::lane_of(p) && before != &weft::lane_of(p);
  };
  EXPECT_TRUE(sync_wait(asks(pool)));
}

}  // namespace
