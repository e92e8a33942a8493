#include <weft/telemetry/trace.hpp>

#include <chrono>
#include <cstddef>
#include <future>
#include <latch>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/in_context.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/telemetry/schema.hpp>
#include <weft/telemetry/stall_detector.hpp>

#include <support/drawn_trace.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using test::drawn_trace;
using ::testing::HasSubstr;

std::string current_name() { return std::string(context::current().name()); }

TEST(HybridTrace, DrawsTheTasksOfEveryLane) {
  trace t;
  hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
  const auto entry = t.add("server", hs);
  t.start();
  hs.spawn_cpu([] {}, {.name = "computes"}).get();
  hs.spawn_io([]() -> task<> { co_return; }(), {.name = "talks"}).get();
  hs.spawn_blocking([] {}, {.name = "reads"}).get();
  hs.shutdown();
  const drawn_trace drawn(t.json());
  ASSERT_NE(drawn.find("computes"), nullptr);
  ASSERT_NE(drawn.find("talks"), nullptr);
  ASSERT_NE(drawn.find("reads"), nullptr);
  EXPECT_EQ(drawn.find("computes")->track, "cpu 0");
  EXPECT_EQ(drawn.find("talks")->track, "io 0");
  EXPECT_EQ(drawn.find("reads")->track, "blocking 0");
  for (const auto& s : drawn.slices) {
    if (s.category == "task") {
      EXPECT_EQ(s.scheduler, "server");
    }
  }
}

// Between two stretches the task waits, and holds no thread.
TEST(HybridTrace, DrawsATaskWhereverItGoesOn) {
  trace t;
  hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
  const auto entry = t.add("server", hs);
  t.start();
  hs.spawn_io(
        [](hybrid_scheduler& s) -> task<> {
          co_await s.cpu();
          co_await s.blocking();
          co_await s.io();
          co_await sleep_for(1ms);
        }(hs),
        {.name = "traveller"})
      .get();
  hs.shutdown();
  const drawn_trace drawn(t.json());
  std::set<std::string> tracks;
  for (const auto& s : drawn.slices) {
    if (s.name == "traveller") tracks.insert(s.track);
  }
  EXPECT_EQ(tracks, (std::set<std::string>{"cpu 0", "io 0", "blocking 0"}));
  EXPECT_GE(drawn.count_named("traveller"), 5U);
}

// A task that waits holds no thread, and nothing is drawn meanwhile.
TEST(HybridTrace, LeavesOutTheTimeInWhichATaskWaits) {
  trace t;
  hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
  const auto entry = t.add("server", hs);
  t.start();
  constexpr int waits = 20;
  hs.spawn_io(
        []() -> task<> {
          for (int i = 0; i < waits; ++i) co_await sleep_for(20ms);
        }(),
        {.name = "sleeper"})
      .get();
  hs.shutdown();
  const drawn_trace drawn(t.json());
  double end = 0;
  int long_gaps = 0;
  for (const auto& s : drawn.slices) {
    if (s.name != "sleeper") continue;
    if (end > 0 && s.begin - end > 10'000) ++long_gaps;  // microseconds
    end = s.end;
  }
  EXPECT_GE(drawn.count_named("sleeper"), std::size_t{waits} + 1);
  // On a busy machine a wait may be over before the thread has gone on to say that it began.
  EXPECT_GT(long_gaps, 0);
}

TEST(HybridTrace, MakesSpansOfARequestThroughAllLanes) {
  trace t;
  t.start();
  const context request = context::new_trace("request");
  {
    hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
    const auto entry = t.add("server", hs);
    hs.spawn_io(
          [](hybrid_scheduler& s) -> task<> {
            co_await s.spawn_cpu([] {}, {.name = "resize"});
            co_await s.spawn_blocking([] {}, {.name = "store"});
          }(hs),
          {.name = "serve", .context = &request})
        .get();
  }  // whoever waits for a task may go on before its thread has told of the end
  std::set<std::string> contexts;
  std::set<std::string> types;
  for (const telemetry::span& s : t.take_spans()) {
    EXPECT_EQ(s.trace, request.trace());
    EXPECT_TRUE(s.parent);
    if (s.name != telemetry::span_name::scheduler_task_execute) {
      contexts.insert(s.name);
      continue;
    }
    for (const auto& a : s.attributes) {
      if (a.name == telemetry::attribute::scheduler_task_type) {
        types.insert(std::get<std::string>(a.value));
      }
    }
  }
  EXPECT_EQ(contexts, (std::set<std::string>{"serve", "resize", "store"}));
  EXPECT_EQ(types, (std::set<std::string>{"cpu_bound", "io_bound", "blocking"}));
}

TEST(HybridContext, TravelsWithATaskFromLaneToLane) {
  hybrid_scheduler hs({.cpu_workers = 2, .io_threads = 1});
  const context_scope scope(context::new_trace("request"));
  EXPECT_EQ(hs.spawn([](hybrid_scheduler& s) -> task<std::string> {
                std::string seen = current_name();
                co_await s.cpu();
                seen += " " + current_name();
                co_await s.blocking();
                seen += " " + current_name();
                co_await s.io();
                seen += " " + current_name();
                seen += " " + co_await s.spawn_cpu(current_name);
                seen += " " + co_await s.spawn_blocking(current_name);
                seen += " " + co_await s.spawn_io([]() -> task<std::string> {
                  co_await sleep_for(1ms);
                  co_return current_name();
                }());
                co_return seen;
              }(hs))
                .get(),
            "request request request request request request request");
}

TEST(HybridContext, OfOneTaskIsNotThatOfTheNext) {
  hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
  {
    const context_scope scope(context::new_trace("request"));
    hs.spawn_cpu([] {}).get();
    hs.spawn_io([]() -> task<> { co_return; }()).get();
    hs.spawn_blocking([] {}).get();
  }
  EXPECT_EQ(hs.spawn_cpu(current_name).get(), "");
  EXPECT_EQ(hs.spawn_io([]() -> task<std::string> { co_return current_name(); }()).get(), "");
  EXPECT_EQ(hs.spawn_blocking(current_name).get(), "");
}

TEST(HybridStalls, AreSeenInTheIoLaneAndListTheTasks) {
  trace t;
  hybrid_scheduler hs({.cpu_workers = 1, .io_threads = 1});
  const auto entry = t.add("server", hs);
  t.start();
  std::latch begun(2);
  std::latch go(1);
  auto stuck = hs.spawn_io(
      [](std::latch& b, std::latch& g) -> task<> {
        b.count_down();
        g.wait();
        co_return;
      }(begun, go),
      {.name = "parse"});
  auto blocking = hs.spawn_blocking(
      [&] {
        begun.count_down();
        go.wait();
      },
      {.name = "fsync"});
  begun.wait();
  std::promise<stall_report> told;
  {
    bool first = true;
    const stall_detector detector(t, {.limit = 1ms, .on_stall = [&](const stall_report& r) {
                                        if (std::exchange(first, false)) told.set_value(r);
                                      }});
    const stall_report report = told.get_future().get();
    ASSERT_EQ(report.stalls.size(), 1U) << "the blocking lane is there to be held";
    EXPECT_THAT(report.text(), HasSubstr("task \"parse\" has held thread io 0 of \"server\""));
    EXPECT_THAT(report.dump, HasSubstr("fsync, begun in the blocking lane"));
  }
  std::set<std::string> held;
  for (const stall& s : t.stalls(0ns)) {
    if (s.is_on_top) held.insert(s.task);
  }
  EXPECT_EQ(held, (std::set<std::string>{"parse", "fsync"}));
  go.count_down();
  stuck.get();
  blocking.get();
}

}  // namespace
}  // namespace weft
