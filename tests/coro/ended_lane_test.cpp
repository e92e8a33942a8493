// Tasks whose pool was shut down while they waited: they go on in whoever ends their wait.

#include <thread>

#include <gtest/gtest.h>

#include <weft/core/pool.hpp>
#include <weft/coro/async_event.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>

#include <support/scale.hpp>

namespace weft {
namespace {

constexpr int often = 300'000;  // more than any stack has room for

task<int> yield_often(async_event& begin) {
  co_await begin.wait();
  int count = 0;
  for (; count < often; ++count) co_await yield();
  co_return count;
}

task<int> hop_often(async_event& begin, pool& there, pool& back) {
  co_await begin.wait();
  int count = 0;
  for (; count < often; ++count) {
    co_await schedule_on(there);
    co_await schedule_on(back);
  }
  co_return count;
}

TEST(EndedLane, TasksYieldAndHopInItWithoutTakingStack) {
  pool first({.workers = 1});
  pool second({.workers = 1});
  async_event begin;
  auto yields = spawn(first, yield_often(begin));
  auto hops = spawn(first, hop_often(begin, first, second));
  first.submit([] {}).get();
  first.shutdown(shutdown_mode::drain);
  second.shutdown(shutdown_mode::drain);
  begin.set();
  EXPECT_EQ(yields.get(), often);
  EXPECT_EQ(hops.get(), often);
}

TEST(EndedLane, PoolMayGoWhileThePostOfItsLastTaskReturns) {
  for (int round = 0; round < test::rounds(200); ++round) {
    async_event begin;
    std::jthread setter;
    pool p({.workers = 1});
    auto last = spawn(p, [](async_event& e) -> task<> { co_await e.wait(); }(begin));
    p.submit([] {}).get();
    setter = std::jthread([&begin] { begin.set(); });
    last.get();
  }
}

}  // namespace
}  // namespace weft
