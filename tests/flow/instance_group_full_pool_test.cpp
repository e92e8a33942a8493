// A group on a pool that has no more room: whoever adds an instance waits, is refused or runs it,
// as pool_options say. What the group begins itself was taken before, and waits its turn.

#include <weft/flow/instance_group.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/io/classifier.hpp>
#include <weft/io/hybrid.hpp>

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

// Lets the test look on while somebody chooses a lane, which is asked of it without the lock.
class watched_classifier final : public task_classifier {
 public:
  explicit watched_classifier(std::function<void()> when_asked) : when_(std::move(when_asked)) {}
  lane_kind classify(const task_facts& /*facts*/) override {
    when_();
    return lane_kind::cpu;
  }
  std::string explain(std::string_view /*name*/) const override { return "to the cores"; }

 private:
  std::function<void()> when_;
};

// Two retries are due at once, and while the first is handed to its lane somebody adds one more.
TEST(InstanceGroupOnAFullPool, RefusesNoRetryBecauseSomebodyAdds) {
  const test::watchdog watchdog(60s);
  // Retries begin on the thread of all timers. It is kept busy until both are due.
  std::latch timers_are_kept(1);
  std::latch both_are_due(1);
  int placed = 0;
  hybrid_scheduler keeps({.cpu_workers = 1, .classifier = std::make_shared<watched_classifier>([&] {
                                              if (++placed != 2) return;
                                              timers_are_kept.count_down();
                                              both_are_due.wait();
                                            })});
  const auto fail_once = [](std::atomic<int>& calls, int x) {
    if (calls.fetch_add(1) < x) throw std::runtime_error("not this time");
    return x;
  };
  std::atomic<int> calls_of_keeper{0};
  instance_group<int, int> keeper(keeps, [&](int x) { return fail_once(calls_of_keeper, x); },
                                  {.retry = {.times = 1, .pause = 1ms, .jitter = 0}});

  pool full({.workers = 1, .max_pending = 1, .overflow = when_full::reject});
  std::atomic<bool> retrying{false};
  std::latch one_is_placed(1);
  std::latch added(1);
  hybrid_scheduler hs({.cpu_pool = &full, .classifier = std::make_shared<watched_classifier>([&] {
                                            if (!retrying.exchange(false)) return;
                                            one_is_placed.count_down();
                                            added.wait();
                                          })});
  std::atomic<int> calls{0};
  constexpr auto pause = 1ms;
  instance_group<int, int> group(hs, [&](int x) { return fail_once(calls, x); },
                                 {.retry = {.times = 1, .pause = pause, .jitter = 0}});
  {
    auto ticket = keeper.open();
    ticket.add(1);
  }
  timers_are_kept.wait();
  auto ticket = group.open();
  for (int i = 0; i < 2; ++i) {
    ticket.add(2);
    while (group.progress().running > 0) std::this_thread::yield();
  }
  const auto due = std::chrono::steady_clock::now() + pause;
  while (std::chrono::steady_clock::now() < due) std::this_thread::yield();

  std::latch busy(1);
  std::latch let_go(1);
  full.spawn([&] {
    busy.count_down();
    let_go.wait();
  });
  busy.wait();
  full.spawn([] {});  // there is no more room
  retrying = true;
  both_are_due.count_down();
  one_is_placed.wait();
  EXPECT_TRUE(ticket.add(0));
  added.count_down();
  ticket.close();
  let_go.count_down();
  for (const auto& o : sync_wait(group.join())) {
    EXPECT_TRUE(o.has_value()) << o.index() << " after " << o.attempts() << " attempts";
  }
  EXPECT_EQ(sync_wait(keeper.join()).at(0).value(), 1);
}

// The one before has ended on a thread that is none of the scheduler's.
TEST(InstanceGroupOnAFullPool, GoesOnDuringAShutdownThatLetsTasksRun) {
  const test::watchdog watchdog(60s);
  constexpr int count = 20;
  full_pool full(when_full::run_in_caller);
  hybrid_scheduler hs({.cpu_pool = &full.get()});
  std::latch in_first(1);
  std::latch go_on(1);
  instance_group<int, int> group(hs,
                                 [&](int x) {
                                   if (x == 0) {
                                     in_first.count_down();
                                     go_on.wait();
                                   }
                                   return x;
                                 },
                                 {.max_running = 1});
  auto ticket = group.open();
  shutdown_report report;
  {
    const std::jthread first([another = group.open()]() mutable { another.add(0); });
    in_first.wait();
    for (int i = 1; i < count; ++i) ticket.add(i);
    ticket.close();
    const std::jthread shuts([&] { report = hs.shutdown({.let_run = 1h}); });
    const auto is_open = [&] {
      try {
        hs.spawn_io([] {}).get();
        return true;
      } catch (const pool_stopped&) {
        return false;
      }
    };
    while (is_open()) std::this_thread::yield();
    go_on.count_down();
    full.let_go();
  }
  EXPECT_FALSE(report.stopped_early);
  const auto outcomes = sync_wait(group.join());
  EXPECT_EQ(std::ranges::count_if(outcomes, &outcome<int>::has_value), count);
}

}  // namespace
}  // namespace weft
