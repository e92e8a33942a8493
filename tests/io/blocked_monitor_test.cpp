#include <condition_variable>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/timer_queue.hpp>
#include <weft/io/hybrid.hpp>

#include <support/scale.hpp>

namespace {

using namespace std::chrono_literals;

// What was reported, in order.
class reports {
 public:
  void add(const weft::blocked_task& found) {
    const std::lock_guard lock(mutex_);
    all_.push_back(found);
    changed_.notify_all();
  }
  std::vector<weft::blocked_task> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return all_.size() >= count; });
    return all_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<weft::blocked_task> all_;
};

weft::hybrid_options one_worker(reports& found) {
  weft::hybrid_options options;
  options.cpu_workers = 1;
  options.on_blocked = [&found](const weft::blocked_task& t) { found.add(t); };
  return options;
}

TEST(BlockedMonitor, AddsAWorkerForATaskThatSleepsAndNamesIt) {
  reports found;
  weft::hybrid_scheduler hs(one_worker(found));
  std::latch other_ran(1);
  // The only worker sleeps until the task behind it has run.
  auto sleeper = hs.spawn_cpu([&] { other_ran.wait(); }, {.name = "sleeper"});
  auto other = hs.spawn_cpu([&] { other_ran.count_down(); });
  sleeper.get();
  other.get();
  const auto all = found.wait_for(1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "sleeper");
  EXPECT_TRUE(all[0].compensated);
}

TEST(BlockedMonitor, NamesATaskThatSleepsInAContextOfItsOwn) {
  reports found;
  weft::hybrid_scheduler hs(one_worker(found));
  std::latch other_ran(1);
  auto sleeper = hs.spawn_cpu(
      [&] {
        const weft::context_scope scope(weft::context::new_trace("request"));
        other_ran.wait();
      },
      {.name = "sleeper"});
  auto other = hs.spawn_cpu([&] { other_ran.count_down(); });
  sleeper.get();
  other.get();
  EXPECT_EQ(found.wait_for(1)[0].name, "sleeper");
}

// The monitor dozes while they wait, and nobody spawns anything afterwards.
TEST(BlockedMonitor, NoticesTasksThatGoOnAfterATimer) {
  reports found;
  weft::hybrid_scheduler hs(one_worker(found));
  std::latch both(2);
  auto wait_and_sleep = [](std::latch& all) -> weft::task<> {
    co_await weft::sleep_for(60ms);
    all.arrive_and_wait();
  };
  const weft::spawn_options in_cpu{.name = "sleeper", .lane = weft::lane_kind::cpu};
  auto one = hs.spawn(wait_and_sleep(both), in_cpu);
  auto other = hs.spawn(wait_and_sleep(both), in_cpu);
  one.get();
  other.get();
  EXPECT_EQ(found.wait_for(1)[0].name, "sleeper");
}

// What they wait for is done as soon as the added worker runs, and they end at once.
TEST(BlockedMonitor, NamesTasksThatEndWhenOthersRun) {
  reports found;
  weft::hybrid_options options = one_worker(found);
  options.blocked_after = 2ms;
  weft::hybrid_scheduler hs(options);
  const int rounds = weft::test::rounds(200);
  std::vector<std::string> names;
  for (int i = 0; i < rounds; ++i) {
    names.push_back("sleeper " + std::to_string(i));
    std::latch other_ran(1);
    auto sleeper = hs.spawn_cpu([&] { other_ran.wait(); }, {.name = names.back()});
    auto other = hs.spawn_cpu([&] { other_ran.count_down(); });
    sleeper.get();
    other.get();
  }
  for (const weft::blocked_task& t : found.wait_for(1))
    EXPECT_THAT(names, testing::Contains(t.name));
}

TEST(BlockedMonitor, ReportsANameOnce) {
  reports found;
  weft::hybrid_scheduler hs(one_worker(found));
  for (int i = 0; i < 3; ++i) {
    std::latch other_ran(1);
    auto sleeper = hs.spawn_cpu([&] { other_ran.wait(); }, {.name = "sleeper"});
    auto other = hs.spawn_cpu([&] { other_ran.count_down(); });
    sleeper.get();
    other.get();
  }
  EXPECT_EQ(found.count(), 1U);
}

TEST(BlockedMonitor, TakesTheAddedWorkerAway) {
  reports found;
  weft::hybrid_scheduler hs(one_worker(found));
  std::latch other_ran(1);
  auto sleeper = hs.spawn_cpu([&] { other_ran.wait(); }, {.name = "sleeper"});
  auto other = hs.spawn_cpu([&] { other_ran.count_down(); });
  sleeper.get();
  other.get();
  // The monitor looks again while there is work, and then sees that the job is done.
  while (hs.cpu_pool().stats().workers != 1) hs.spawn_cpu([] {}).get();
  EXPECT_EQ(hs.cpu_pool().workers(), 1U);
}

TEST(BlockedMonitor, LetsATaskSleepThatNobodyWaitsBehind) {
  reports found;
  weft::hybrid_options options = one_worker(found);
  options.blocked_after = 2ms;
  weft::hybrid_scheduler hs(options);
  // Sleeps for many looks of the monitor, with nothing queued.
  hs.spawn_cpu([] { std::this_thread::sleep_for(30ms); }, {.name = "alone"}).get();
  EXPECT_EQ(found.count(), 0U);
}

}  // namespace
