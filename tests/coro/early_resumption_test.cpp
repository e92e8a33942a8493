// Whoever resumes a task may be done with it before the call that handed it over has returned: then
// the frame is gone, and nobody may touch it. Here that always happens.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weft/core/lane.hpp>
#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/await_future.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using weft::sync_wait;
using weft::task;

// Runs each job on a thread of its own, to its end, before post() returns.
class fast_lane final : public weft::lane {
 public:
  void post(weft::detail::queued_job& job) noexcept override {
    std::jthread([&] { job.call(job, weft::detail::job_fate::run); }).join();
  }
  [[nodiscard]] bool is_here() const noexcept override { return false; }
};

class EarlyResumption : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
  fast_lane lane;
};

// Fills memory that was a frame with something else, when there is no sanitizer to watch it.
task<int> value(fast_lane& lane, int n) {
  co_await weft::schedule_on(lane);
  const std::string text(200, 'x');
  co_return n + static_cast<int>(text.size()) - 200;
}

TEST_F(EarlyResumption, OfAHop) {
  for (int i = 0; i < weft::test::rounds(500); ++i) ASSERT_EQ(sync_wait(value(lane, i)), i);
}

TEST_F(EarlyResumption, OfAYield) {
  auto t = [](fast_lane& l) -> task<int> {
    co_await weft::schedule_on(l);
    for (int i = 0; i < 20; ++i) co_await weft::yield();
    co_return 1;
  };
  for (int i = 0; i < weft::test::rounds(50); ++i) ASSERT_EQ(sync_wait(t(lane)), 1);
}

TEST_F(EarlyResumption, OfAParentWhoseChildHasMoved) {
  auto t = [](fast_lane& l) -> task<int> {
    co_await weft::schedule_on(l);
    int sum = 0;
    auto elsewhere = [](fast_lane& home) -> task<int> {
      fast_lane other;
      co_await weft::schedule_on(other);
      co_await weft::schedule_on(home);
      co_return 1;
    };
    for (int i = 0; i < 10; ++i) sum += co_await elsewhere(l);
    co_return sum;
  };
  for (int i = 0; i < weft::test::rounds(50); ++i) ASSERT_EQ(sync_wait(t(lane)), 10);
}

TEST_F(EarlyResumption, OfBranches) {
  auto t = [](fast_lane& l) -> task<int> {
    co_await weft::schedule_on(l);
    auto [a, b, c] = co_await weft::when_all(value(l, 1), value(l, 2), value(l, 3));
    auto got = co_await weft::when_any(value(l, 4), value(l, 4));
    co_return a + b + c + (got.index() == 0 ? std::get<0>(got) : std::get<1>(got));
  };
  for (int i = 0; i < weft::test::rounds(50); ++i) ASSERT_EQ(sync_wait(t(lane)), 10);
}

task<int> takes(fast_lane& lane, weft::async_semaphore& s) {
  co_await weft::schedule_on(lane);
  const auto permit = co_await s.acquire();
  co_return 1;
}

TEST_F(EarlyResumption, OfAPermit) {
  weft::pool pool({.workers = 1});
  for (int i = 0; i < weft::test::rounds(100); ++i) {
    weft::async_semaphore s(0);
    auto a = weft::spawn(pool, takes(lane, s));
    auto b = weft::spawn(pool, takes(lane, s));
    while (s.limits().waiting() < 2) std::this_thread::yield();
    s.set_limit(1);
    ASSERT_EQ(a.get() + b.get(), 2);
  }
}

TEST_F(EarlyResumption, OfAChannel) {
  auto sends = [](fast_lane& l, weft::channel<int>& c) -> task<int> {
    co_await weft::schedule_on(l);
    for (int i = 0; i < 5; ++i) co_await c.send(1);
    c.close();
    co_return 0;
  };
  auto receives = [](fast_lane& l, weft::channel<int>& c) -> task<int> {
    co_await weft::schedule_on(l);
    int sum = 0;
    while (const auto v = co_await c.receive()) sum += *v;
    co_return sum;
  };
  weft::pool pool({.workers = 2});
  for (int i = 0; i < weft::test::rounds(50); ++i) {
    weft::channel<int> c(static_cast<std::size_t>(i % 3));
    auto a = weft::spawn(pool, receives(lane, c));
    auto b = weft::spawn(pool, sends(lane, c));
    b.get();
    ASSERT_EQ(a.get(), 5);
  }
}

TEST_F(EarlyResumption, OfATimer) {
  auto t = [](fast_lane& l) -> task<int> {
    co_await weft::schedule_on(l);
    for (int i = 0; i < 3; ++i) co_await weft::sleep_for(0s);
    co_return 1;
  };
  for (int i = 0; i < weft::test::rounds(50); ++i) ASSERT_EQ(sync_wait(t(lane)), 1);
}

TEST_F(EarlyResumption, OfAFuture) {
  weft::pool pool({.workers = 1});
  auto t = [](fast_lane& l, weft::pool& p) -> task<int> {
    co_await weft::schedule_on(l);
    int sum = 0;
    for (int i = 0; i < 5; ++i) sum += co_await p.submit([] { return 1; });
    co_return sum;
  };
  for (int i = 0; i < weft::test::rounds(100); ++i) ASSERT_EQ(sync_wait(t(lane, pool)), 5);
}

TEST_F(EarlyResumption, OfATaskThatIsCalledAway) {
  weft::pool pool({.workers = 1});
  weft::async_semaphore s(0);
  auto many = [](fast_lane& l, weft::async_semaphore& x) -> task<> {
    co_await weft::schedule_on(l);
    co_await weft::when_all(takes(l, x), takes(l, x));
  };
  for (int i = 0; i < weft::test::rounds(100); ++i) {
    auto f = weft::spawn(pool, many(lane, s));
    while (s.limits().waiting() < 2) std::this_thread::yield();
    f.request_stop();
    ASSERT_THROW(f.get(), weft::cancelled);
    ASSERT_EQ(s.limits().waiting(), 0U);
  }
}

}  // namespace
