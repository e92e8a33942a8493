// The code of docs/guide/coroutines.md.

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>

using namespace std::chrono_literals;

namespace {

// [coroutines-task]
weft::task<int> length_of(std::string text) {
  co_await weft::sleep_for(1ms);  // anything that waits
  co_return static_cast<int>(text.size());
}

weft::task<int> sum() { co_return co_await length_of("warp") + co_await length_of("weft"); }
// [/coroutines-task]

TEST(CoroutinesGuide, ATaskAwaitsOthers) {
  // [coroutines-start]
  int here = weft::sync_wait(sum());  // in this thread
  weft::pool pool;
  int there = weft::sync_wait(pool, sum());  // in the pool
  weft::future<int> later = weft::spawn(pool, sum());
  // [/coroutines-start]
  EXPECT_EQ(here, 8);
  EXPECT_EQ(there, 8);
  EXPECT_EQ(later.get(), 8);
}

weft::task<int> side_by_side() {
  // [coroutines-when]
  auto [a, b] = co_await weft::when_all(length_of("warp"), length_of("weft"));

  std::vector<weft::task<int>> many;
  for (int i = 0; i < 100; ++i) many.push_back(length_of(std::to_string(i)));
  std::vector<int> lengths = co_await weft::when_all(std::move(many));

  auto first = co_await weft::when_any(length_of("fast"), length_of("slow"));
  // [/coroutines-when]
  co_return a + b + static_cast<int>(lengths.size()) + std::visit([](int n) { return n; }, first);
}

TEST(CoroutinesGuide, TasksRunSideBySide) { EXPECT_EQ(weft::sync_wait(side_by_side()), 112); }

// [coroutines-timeout]
weft::task<int> within(std::chrono::milliseconds limit, weft::task<int> work) {
  auto timer = [](std::chrono::milliseconds time) -> weft::task<> {
    co_await weft::sleep_for(time);
  };
  auto first = co_await weft::when_any(std::move(work), timer(limit));
  if (first.index() == 1) throw std::runtime_error("too slow");
  co_return std::get<0>(first);
}
// [/coroutines-timeout]

TEST(CoroutinesGuide, AWaitHasALimit) {
  auto endless = []() -> weft::task<int> {
    co_await weft::sleep_for(1h);
    co_return 0;
  };
  EXPECT_EQ(weft::sync_wait(within(1h, length_of("warp"))), 4);
  EXPECT_THROW(weft::sync_wait(within(1ms, endless())), std::runtime_error);
}

// [coroutines-semaphore]
weft::task<int> polite(weft::async_semaphore& at_most, int page) {
  auto permit = co_await at_most.acquire();  // until it goes out of scope
  co_return co_await length_of(std::to_string(page));
}
// [/coroutines-semaphore]

TEST(CoroutinesGuide, ASemaphoreLimits) {
  weft::async_semaphore at_most(2);
  auto all = [](weft::async_semaphore& s) -> weft::task<std::size_t> {
    std::vector<weft::task<int>> pages;
    for (int i = 0; i < 10; ++i) pages.push_back(polite(s, i));
    auto lengths = co_await weft::when_all(std::move(pages));
    co_return lengths.size();
  };
  EXPECT_EQ(weft::sync_wait(all(at_most)), 10U);
}

}  // namespace
