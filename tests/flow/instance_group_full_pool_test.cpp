// A group on a pool that has no more room: whoever adds an instance waits, is refused or runs it,
// as pool_options say. What the group begins itself was taken before, and waits its turn.

#include <weft/flow/instance_group.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// A pool whose worker is busy and whose queue is full.
class full_pool {
 public:
  explicit full_pool(when_full overflow)
      : pool_({.workers = 1, .max_pending = 1, .overflow = overflow}) {
    std::latch busy(1);
    pool_.spawn([&] {
      busy.count_down();
      free_.wait();
    });
    busy.wait();
    pool_.spawn([] {});
  }
  ~full_pool() { let_go(); }
  full_pool(const full_pool&) = delete;
  full_pool& operator=(const full_pool&) = delete;

  pool& get() { return pool_; }
  void let_go() {
    if (!free_.try_wait()) free_.count_down();
  }

 private:
  std::latch free_{1};
  pool pool_;
};

// One that is added runs in the thread that adds it; meanwhile others are added, which wait.
TEST(InstanceGroupOnAFullPool, DoesNotRunTheNextOnesInsideTheOneThatRanInItsCaller) {
  const test::watchdog watchdog(60s);
  const int count = test::rounds(100'000);
  full_pool full(when_full::run_in_caller);
  std::latch in_first(1);
  std::latch others_added(1);
  instance_group<int, int> group(full.get(),
                                 [&](int x) {
                                   if (x == 0) {
                                     in_first.count_down();
                                     others_added.wait();
                                   }
                                   return x;
                                 },
                                 {.max_running = 1});
  auto ticket = group.open();
  {
    const std::jthread first([another = group.open()]() mutable { another.add(0); });
    in_first.wait();
    for (int i = 1; i < count; ++i) ticket.add(i);
    others_added.count_down();
  }
  ticket.close();
  full.let_go();
  EXPECT_EQ(sync_wait(group.join()).size(), static_cast<std::size_t>(count));
}

void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

TEST(InstanceGroupOnAFullPool, StopsWhatTakesTooLongWhoeverEndedBefore) {
  const test::watchdog watchdog(60s);
  full_pool full(when_full::run_in_caller);
  std::latch in_first(1);
  std::latch other_added(1);
  instance_group<int> group(full.get(),
                            [&](const std::stop_token& stop, int x) {
                              if (x == 1) wait_for_stop(stop);
                              if (x == 0) {
                                in_first.count_down();
                                other_added.wait();
                              }
                              throw std::runtime_error("not this time");
                            },
                            {.max_running = 1, .timeout = 10ms});
  auto ticket = group.open();
  {
    const std::jthread first([another = group.open()]() mutable { another.add(0); });
    in_first.wait();
    ticket.add(1);
    other_added.count_down();
  }
  ticket.close();
  full.let_go();
  const auto outcomes = sync_wait(group.join());
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[1].kind(), outcome_kind::timed_out);
}

// The scheduler is there still, and its pool is not: nothing may run where the last one has ended.
TEST(InstanceGroupOnAPoolThatHasEnded, RefusesTheNextOnesInsteadOfNestingThem) {
  const test::watchdog watchdog(60s);
  const int count = test::rounds(100'000);
  pool ends({.workers = 1});
  hybrid_scheduler hs({.cpu_pool = &ends});
  std::latch waits(1);
  async_event go;
  instance_group<int, int> group(hs,
                                 [&](int x) -> task<int> {
                                   co_await hs.io();
                                   if (x == 0) waits.count_down();
                                   co_await go.wait();
                                   co_return x;
                                 },
                                 {.max_running = 1, .lane = lane_kind::cpu});
  {
    auto ticket = group.open();
    for (int i = 0; i < count; ++i) ticket.add(i);
  }
  waits.wait();
  ends.shutdown();
  go.set();
  const auto outcomes = sync_wait(group.join());
  ASSERT_EQ(outcomes.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(outcomes.front().kind(), outcome_kind::value);
  EXPECT_EQ(outcomes.back().kind(), outcome_kind::error);
}

// Timers have one thread for the whole program.
TEST(InstanceGroupOnAFullPool, RetriesWithoutKeepingTheTimersOfOthers) {
  const test::watchdog watchdog(60s);
  pool other({.workers = 1});
  std::latch slept(1);
  std::latch added(1);
  std::latch filled(1);
  int calls = 0;
  pool full({.workers = 1, .max_pending = 1, .overflow = when_full::block});
  instance_group<int, int> group(full,
                                 [&](int x) {
                                   if (calls++ > 0) return x;
                                   added.count_down();
                                   filled.wait();
                                   throw std::runtime_error("once more");
                                 },
                                 {.retry = {.times = 1, .pause = 20ms, .jitter = 0}});
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  added.wait();
  full.spawn([&] { slept.wait(); });                     // the worker takes it next,
  const std::jthread fills([&] { full.spawn([] {}); });  // and then there is no room again
  filled.count_down();
  auto timer = spawn(other, [](std::latch& l) -> task<> {
    co_await sleep_for(100ms);
    l.count_down();
  }(slept));
  EXPECT_EQ(sync_wait(group.join()).at(0).value(), 1);
  timer.get();
}

}  // namespace
}  // namespace weft
