#include <weft/coro/async_semaphore.hpp>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include <coro/small_stack.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using weft::async_mutex;
using weft::async_semaphore;
using weft::sync_wait;
using weft::task;

class AsyncSemaphore : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
};
using AsyncMutex = AsyncSemaphore;

TEST_F(AsyncSemaphore, GivesAPermitThatIsFreeAtOnce) {
  async_semaphore s(1);
  auto t = [](async_semaphore& x) -> task<std::size_t> {
    const auto permit = co_await x.acquire();
    EXPECT_FALSE(x.try_acquire());
    co_return x.limits().in_use();
  };
  EXPECT_EQ(sync_wait(t(s)), 1U);
  EXPECT_EQ(s.limits().in_use(), 0U);
  EXPECT_TRUE(s.try_acquire());
}

TEST_F(AsyncSemaphore, LetsNoMoreInThanItSays) {
  weft::pool pool({.workers = 4});
  async_semaphore s(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  auto t = [](async_semaphore& x, std::atomic<int>& in, std::atomic<int>& top) -> task<> {
    for (int i = 0; i < 50; ++i) {
      const auto permit = co_await x.acquire();
      const int now = in.fetch_add(1) + 1;
      int seen = top.load();
      while (seen < now && !top.compare_exchange_weak(seen, now)) {
      }
      co_await weft::yield();
      in.fetch_sub(1);
    }
  };
  auto all = [](auto& make, auto&... args) -> task<> {
    std::vector<task<>> tasks;
    for (int i = 0; i < 40; ++i) tasks.push_back(make(args...));
    co_await weft::when_all(std::move(tasks));
  };
  sync_wait(pool, all(t, s, inside, most));
  EXPECT_EQ(most, 3);
  EXPECT_EQ(s.limits().in_use(), 0U);
}

task<> writes(async_semaphore& s, std::string& text, char c) {
  const auto permit = co_await s.acquire();
  text += c;
}

TEST_F(AsyncSemaphore, ServesInTheOrderOfAsking) {
  async_semaphore s(0);
  std::string text;
  auto opens = [](async_semaphore& x) -> task<> {
    x.set_limit(1);
    co_return;
  };
  auto t = [](async_semaphore& x, std::string& to, auto& open) -> task<> {
    co_await weft::when_all(writes(x, to, 'a'), writes(x, to, 'b'), writes(x, to, 'c'), open(x));
  };
  sync_wait(t(s, text, opens));
  EXPECT_EQ(text, "abc");
}

TEST_F(AsyncSemaphore, AThreadMayGiveAndTakePermitsToo) {
  weft::pool pool({.workers = 1});
  async_semaphore s(1);
  std::string text;
  auto held = s.limits().acquire();
  auto f = weft::spawn(pool, writes(s, text, 'a'));
  EXPECT_FALSE(f.ready());
  held = {};
  f.get();
  held = s.limits().acquire();
  EXPECT_EQ(text, "a");
}

TEST_F(AsyncSemaphore, OneThatIsCalledAwayMakesRoomForTheNext) {
  weft::pool pool({.workers = 1});
  async_semaphore s(1);
  for (const int leaver : {0, 1, 2}) {
    std::string text;
    auto held = s.limits().acquire();
    std::vector<weft::future<void>> futures;
    for (const char c : {'a', 'b', 'c'}) futures.push_back(weft::spawn(pool, writes(s, text, c)));
    while (s.limits().waiting() < 3) std::this_thread::yield();
    const auto at = static_cast<std::size_t>(leaver);
    futures[at].request_stop();
    EXPECT_THROW(futures[at].get(), weft::cancelled);
    EXPECT_EQ(s.limits().waiting(), 2U);
    held = {};
    for (std::size_t i = 0; i < 3; ++i) {
      if (i != at) futures[i].get();
    }
    std::string expected = "abc";
    expected.erase(at, 1);
    EXPECT_EQ(text, expected);
  }
}

TEST_F(AsyncSemaphore, AskedToStopThrowsWhenThereIsNoPermit) {
  async_semaphore s(0);
  std::stop_source stop;
  stop.request_stop();
  std::string text;
  EXPECT_THROW(sync_wait(writes(s, text, 'a'), stop.get_token()), weft::cancelled);
  EXPECT_EQ(s.limits().waiting(), 0U);
}

// Each grant resumes the next one; none on top of another.
TEST_F(AsyncSemaphore, AHundredThousandInARowNeedNoMoreStackThanOne) {
  const int count = weft::test::rounds(100'000);
  weft::test::on_a_small_stack([count] {
    async_semaphore s(0);
    long sum = 0;
    auto adds = [](async_semaphore& x, long& to) -> task<> {
      const auto permit = co_await x.acquire();
      ++to;
    };
    auto all = [](auto& make, async_semaphore& x, long& to, int n) -> task<> {
      auto opens = [](async_semaphore& y) -> task<> {
        y.set_limit(1);
        co_return;
      };
      std::vector<task<>> tasks;
      for (int i = 0; i < n; ++i) tasks.push_back(make(x, to));
      tasks.push_back(opens(x));
      co_await weft::when_all(std::move(tasks));
    };
    sync_wait(all(adds, s, sum, count));
    EXPECT_EQ(sum, count);
  });
}

TEST_F(AsyncMutex, LetsOneTaskInAtATime) {
  weft::pool pool({.workers = 4});
  async_mutex m;
  long guarded = 0;  // a race here is what the sanitizers look for
  auto t = [](async_mutex& x, long& n) -> task<> {
    for (int i = 0; i < 200; ++i) {
      const auto lock = co_await x.lock();
      const long before = n;
      if (i % 8 == 0) co_await weft::yield();
      n = before + 1;
    }
  };
  auto all = [](auto& make, async_mutex& x, long& n) -> task<> {
    std::vector<task<>> tasks;
    for (int i = 0; i < 20; ++i) tasks.push_back(make(x, n));
    co_await weft::when_all(std::move(tasks));
  };
  sync_wait(pool, all(t, m, guarded));
  EXPECT_EQ(guarded, 4000);
  EXPECT_TRUE(m.try_lock());
}

// Stops and grants race at every moment; nothing may be lost.
TEST_F(AsyncMutex, LosesNoLockToTasksThatAreCalledAway) {
  weft::pool pool({.workers = 2});
  async_mutex m;
  long guarded = 0;
  auto t = [](async_mutex& x, long& n) -> task<> {
    const auto lock = co_await x.lock();
    ++n;
    co_await weft::yield();
  };
  const int rounds = weft::test::rounds(3000);
  long ended = 0;
  for (int i = 0; i < rounds; ++i) {
    std::vector<weft::future<void>> futures;
    for (int k = 0; k < 6; ++k) futures.push_back(weft::spawn(pool, t(m, guarded)));
    for (std::size_t k = 0; k < 6; k += 2) futures[k].request_stop();
    for (auto& f : futures) {
      try {
        f.get();
      } catch (const weft::cancelled&) {
      }
      ++ended;
    }
    ASSERT_TRUE(m.try_lock()) << "round " << i;
  }
  EXPECT_EQ(ended, 6L * rounds);
}

}  // namespace
