#include <weft/io/hybrid.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/timer_queue.hpp>

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using weft::hybrid_scheduler;
using weft::lane_kind;
using weft::task;

task<std::string> greet(std::string who) { co_return "hello " + who; }

TEST(HybridScheduler, GivesTheResultsOfTasksAndFunctions) {
  hybrid_scheduler hs;
  EXPECT_EQ(hs.spawn(greet("you")).get(), "hello you");
  EXPECT_EQ(hs.spawn([] { return 7; }).get(), 7);
  EXPECT_EQ(hs.spawn_blocking([] { return 8; }).get(), 8);
}

TEST(HybridScheduler, RunsFunctionsInTheCpuLaneAndTasksInTheIoLaneUnlessTold) {
  hybrid_scheduler hs;
  const auto in_cpu_lane = [&hs] { return weft::pool::current() == &hs.cpu_pool(); };
  const auto as_task = [](auto f) -> task<bool> { co_return f(); };
  EXPECT_TRUE(hs.spawn(in_cpu_lane).get());
  EXPECT_FALSE(hs.spawn(as_task(in_cpu_lane)).get());
  EXPECT_TRUE(hs.spawn_cpu(as_task(in_cpu_lane)).get());
  EXPECT_FALSE(hs.spawn_io(in_cpu_lane).get());
  EXPECT_FALSE(hs.spawn(in_cpu_lane, {.lane = lane_kind::blocking}).get());
}

TEST(HybridScheduler, MovesATaskFromLaneToLane) {
  hybrid_scheduler hs;
  auto tour = [](hybrid_scheduler& h) -> task<std::string> {
    const auto here = [&] { return weft::pool::current() == &h.cpu_pool() ? "cpu " : "other "; };
    std::string lanes = here();
    co_await h.cpu();
    lanes += here();
    co_await h.blocking();
    lanes += here();
    co_await h.io();
    lanes += here();
    co_return lanes;
  };
  EXPECT_EQ(hs.spawn(tour(hs)).get(), "other cpu other other ");
}

TEST(HybridScheduler, RefusesTasksAfterShutdown) {
  hybrid_scheduler hs;
  hs.shutdown();
  EXPECT_THROW(hs.spawn([] {}), weft::pool_stopped);
}

TEST(HybridScheduler, ShutdownLetsTasksEndByThemselves) {
  hybrid_scheduler hs;
  auto slow = hs.spawn([]() -> task<int> {
    co_await weft::sleep_for(20ms);
    co_return 3;
  }());
  const auto report = hs.shutdown();
  EXPECT_FALSE(report.stopped_early);
  EXPECT_EQ(slow.get(), 3);
}

TEST(HybridScheduler, ShutdownStopsTasksThatWait) {
  hybrid_scheduler hs;
  auto endless = hs.spawn([]() -> task<> { co_await weft::sleep_for(1h); }(), {.name = "endless"});
  EXPECT_THAT(hs.dump(), HasSubstr("endless"));
  const auto report = hs.shutdown({.let_run = 0ms});
  EXPECT_TRUE(report.stopped_early);
  EXPECT_TRUE(report.unfinished.empty());
  EXPECT_THROW(endless.get(), weft::cancelled);
}

TEST(HybridScheduler, ShutdownNamesWhatDidNotStop) {
  hybrid_scheduler hs;
  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  std::latch begun(1);
  auto deaf = hs.spawn_cpu(
      [&] {
        begun.count_down();
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return released; });
      },
      {.name = "deaf"});
  begun.wait();
  const auto report = hs.shutdown({.let_run = 0ms, .then_stop = 1ms});
  ASSERT_EQ(report.unfinished.size(), 1U);
  EXPECT_EQ(report.unfinished[0].name, "deaf");
  EXPECT_EQ(report.unfinished[0].lane, lane_kind::cpu);
  {
    const std::lock_guard lock(mutex);
    released = true;
    changed.notify_all();
  }
  deaf.get();
}

TEST(HybridScheduler, ReportsWhatADroppedTaskThrows) {
  std::mutex mutex;
  std::condition_variable changed;
  bool reported = false;
  weft::hybrid_options options;
  options.on_unhandled = [&](const std::exception_ptr&) {
    const std::lock_guard lock(mutex);
    reported = true;
    changed.notify_all();
  };
  hybrid_scheduler hs(options);
  weft::async_semaphore gate(0);
  {
    auto dropped = hs.spawn([](weft::async_semaphore& g) -> task<> {
      auto permit = co_await g.acquire();
      throw std::runtime_error("nobody hears this");
    }(gate));
  }
  gate.set_limit(1);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return reported; });
}

class failing_classifier final : public weft::task_classifier {
 public:
  lane_kind classify(const weft::task_facts& /*facts*/) override {
    throw std::runtime_error("no idea");
  }
  std::string explain(std::string_view /*name*/) const override { return "no idea"; }
};

TEST(HybridScheduler, UsesTheLaneOfTheKindWhereTheClassifierThrows) {
  weft::hybrid_options options;
  options.classifier = std::make_shared<failing_classifier>();
  hybrid_scheduler hs(options);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(hs.spawn([&] { return weft::pool::current() == &hs.cpu_pool(); }).get());
  EXPECT_TRUE(hs.spawn([&] { return weft::pool::current() == &hs.cpu_pool(); }).get());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("the task_classifier threw"));
  EXPECT_EQ(said.find("threw"), said.rfind("threw")) << "it is said once";
}

TEST(HybridScheduler, RefusesWhatTheBlockingLaneCannotTake) {
  weft::hybrid_options options;
  options.blocking.max_threads = 1;
  options.blocking.max_waiting = 1;
  hybrid_scheduler hs(options);
  weft::async_semaphore gate(0);
  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return released; });
  };
  auto running = hs.spawn_blocking(wait);
  auto queued = hs.spawn_blocking(wait);
  EXPECT_THROW(hs.spawn_blocking([] {}), weft::queue_full);
  auto hop = hs.spawn([](hybrid_scheduler& h) -> task<> { co_await h.blocking(); }(hs));
  EXPECT_THROW(hop.get(), weft::queue_full);
  {
    const std::lock_guard lock(mutex);
    released = true;
    changed.notify_all();
  }
  running.get();
  queued.get();
  EXPECT_EQ(hs.stats().live, 0U);
}

TEST(HybridScheduler, RunsInAPoolThatItWasGiven) {
  weft::pool pool({.workers = 2});
  hybrid_scheduler hs({.cpu_pool = &pool});
  EXPECT_TRUE(hs.spawn([&] { return weft::pool::current() == &pool; }).get());
}

TEST(HybridScheduler, RefusesNegativeLimits) {
  hybrid_scheduler hs;
  EXPECT_THROW(hs.shutdown({.let_run = -1ms}), std::invalid_argument);
}

TEST(HybridScheduler, DoesNotShutDownFromATask) {
  hybrid_scheduler hs;
  EXPECT_THROW(hs.spawn([&] { hs.shutdown(); }).get(), std::logic_error);
}

TEST(HybridScheduler, TasksMaySpawnWhileItShutsDown) {
  hybrid_scheduler hs;
  auto parent = hs.spawn([](hybrid_scheduler& h) -> task<int> {
    co_await weft::sleep_for(5ms);
    co_return co_await h.spawn([] { return 4; });
  }(hs));
  hs.shutdown();
  EXPECT_EQ(parent.get(), 4);
}

TEST(HybridScheduler, EndsWithTasksInEveryState) {
  for (int round = 0; round < 20; ++round) {
    weft::async_semaphore gate(0);
    hybrid_scheduler hs({.io_threads = 2});
    for (int i = 0; i < 50; ++i) {
      hs.spawn([]() -> task<> { co_await weft::sleep_for(1h); }());
      hs.spawn([](weft::async_semaphore& g) -> task<> { auto p = co_await g.acquire(); }(gate));
      hs.spawn([](hybrid_scheduler& h) -> task<> {
        for (;;) {
          co_await h.cpu();
          co_await weft::yield();
          co_await h.io();
        }
      }(hs));
      hs.spawn([] {});
    }
  }
}

// F36: a completion and a submission at the same moment, one worker.
TEST(HybridScheduler, ACompletionAndASubmissionAtOnceLeaveNothingAsleep) {
  hybrid_scheduler hs({.cpu_workers = 1});
  for (int i = 0; i < 2000; ++i) {
    auto hop = hs.spawn([](hybrid_scheduler& h) -> task<> {
      co_await h.cpu();
      co_await h.io();
    }(hs));
    auto plain = hs.spawn_cpu([] {});
    hop.get();
    plain.get();
  }
}

TEST(HybridScheduler, DroppedTaskThatStopsWhenAskedIsNoError) {
  std::mutex mutex;
  int reported = 0;
  weft::hybrid_options options;
  options.on_unhandled = [&](const std::exception_ptr&) {
    const std::lock_guard lock(mutex);
    ++reported;
  };
  {
    hybrid_scheduler hs(options);
    for (int i = 0; i < 100; ++i) {
      hs.spawn([]() -> task<> { co_await weft::sleep_for(1h); }());
      hs.spawn_cpu([]() -> task<> { co_await weft::sleep_for(1h); }());
    }
    hs.shutdown({.let_run = 0ms});
  }
  EXPECT_EQ(reported, 0);
}

TEST(HybridScheduler, AFunctionThatReturnsATaskIsThatTask) {
  hybrid_scheduler hs;
  auto kept = std::make_unique<int>(7);
  EXPECT_EQ(hs.spawn([kept = std::move(kept)]() -> task<int> {
                co_await weft::sleep_for(1ms);
                co_return *kept;
              }).get(),
            7);
  auto endless = hs.spawn([](std::stop_token stop) -> task<bool> {
    while (!stop.stop_requested()) co_await weft::schedule_on(weft::pool::global());
    co_return true;
  });
  endless.request_stop();
  try {
    EXPECT_TRUE(endless.get());
  } catch (const weft::cancelled&) {  // it had not begun
  }
}

TEST(HybridScheduler, TasksCanBeListedWhileOthersAreSpawned) {
  hybrid_scheduler hs;
  std::jthread lister([&hs](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(hs.dump());
  });
  for (int i = 0; i < 2000; ++i) hs.spawn([] {}, {.name = "short"}).get();
}

// Holds up whoever spawns a task named "late".
class slow_classifier final : public weft::task_classifier {
 public:
  lane_kind classify(const weft::task_facts& facts) override {
    if (facts.name == "late") {
      entered.count_down();
      leave.wait();
    }
    return lane_of(facts.kind);
  }
  std::string explain(std::string_view /*name*/) const override { return "slow"; }

  std::latch entered{1};
  std::latch leave{1};
};

TEST(HybridScheduler, TaskThatIsBeingSpawnedAtTheShutdownIsRefused) {
  auto classifier = std::make_shared<slow_classifier>();
  weft::hybrid_options options;
  options.classifier = classifier;
  hybrid_scheduler hs(options);
  auto parent = hs.spawn_cpu(
      [&hs] { hs.spawn([]() -> task<> { co_await weft::sleep_for(1h); }(), {.name = "late"}); });
  classifier->entered.wait();
  EXPECT_EQ(hs.shutdown({.let_run = 0ms, .then_stop = 0ms}).unfinished.size(), 1U);
  classifier->leave.count_down();
  EXPECT_THROW(parent.get(), weft::pool_stopped);
}

TEST(HybridScheduler, TaskThatIsStoppedAndThenRefusedLeavesOnce) {
  weft::pool full({.workers = 1, .max_pending = 1});
  std::latch running(1);
  std::latch release(1);
  full.spawn([&] {
    running.count_down();
    release.wait();
  });
  running.wait();
  full.spawn([] {});
  weft::hybrid_options options;
  options.cpu_pool = &full;
  hybrid_scheduler hs(options);
  std::jthread spawner([&hs] {  // waits for room in the queue
    EXPECT_THROW(hs.spawn_cpu([] {}), weft::pool_stopped);
  });
  while (hs.stats().live == 0) std::this_thread::yield();
  EXPECT_TRUE(hs.shutdown({.let_run = 0ms}).unfinished.empty());
  std::jthread closer([&full] { full.shutdown(weft::shutdown_mode::drain); });
  spawner.join();
  release.count_down();
  EXPECT_EQ(hs.stats().live, 0U);
}

TEST(HybridScheduler, CallsInBlockingAreNotReportedAsBlocked) {
  std::mutex mutex;
  std::vector<std::string> reported;
  weft::hybrid_options options;
  options.cpu_workers = 1;
  options.blocked_after = 2ms;
  options.on_blocked = [&](const weft::blocked_task& found) {
    const std::lock_guard lock(mutex);
    reported.push_back(found.name);
  };
  hybrid_scheduler hs(options);
  // Work is queued all the time, so the monitor looks all the time.
  std::stop_source enough;
  std::vector<weft::spawned<void>> busy;
  for (int i = 0; i < 3; ++i) {
    busy.push_back(hs.spawn_cpu([](std::stop_token stop) -> task<> {
      while (!stop.stop_requested()) co_await weft::yield();
    }(enough.get_token())));
  }
  hs.spawn_cpu([] { weft::blocking([] { std::this_thread::sleep_for(100ms); }); },
               {.name = "says so"})
      .get();
  enough.request_stop();
  for (auto& b : busy) b.get();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(reported, testing::Not(testing::Contains("says so")));
}

TEST(HybridScheduler, ForkedChildCanDestroyItAndIsToldWhatItCannotDo) {
  auto hs = std::make_unique<hybrid_scheduler>();
  hs->spawn([] {}).get();
  hs->spawn_io([] {}).get();
  auto waits = hs->spawn([]() -> task<> { co_await weft::sleep_for(1h); }());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    try {
      hs->spawn([] {});
    } catch (const weft::used_after_fork&) {
      hs->shutdown();
      hs.reset();
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  waits.request_stop();
  EXPECT_THROW(waits.get(), weft::cancelled);
}

TEST(HybridScheduler, SaysWhichOptionIsWrong) {
  try {
    hybrid_scheduler hs({.io_threads = 0});
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("io_threads is 0; give 1 to 64"));
  }
}

}  // namespace
