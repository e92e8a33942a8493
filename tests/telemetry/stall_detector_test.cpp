#include <weft/telemetry/stall_detector.hpp>

#include <chrono>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/context.hpp>
#include <weft/core/pool.hpp>

#include "telemetry/stall_memory.hpp"

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The first report that it is told.
class first_report {
 public:
  std::function<void(const stall_report&)> listener() {
    return [this](const stall_report& r) {
      if (!told_) promise_.set_value(r);
      told_ = true;
    };
  }
  stall_report wait() { return future_.get(); }

 private:
  std::promise<stall_report> promise_;
  std::future<stall_report> future_ = promise_.get_future();
  bool told_ = false;  // by the one thread of the detector
};

TEST(StallDetector, NamesTheTaskAndTheWorkerThatItHolds) {
  std::latch go(1);
  trace t;
  pool p({.workers = 2, .name = "images"});
  const auto entry = t.add("main", p);
  t.start();
  first_report report;
  {
    const stall_detector detector(t, {.limit = 1ms, .on_stall = report.listener()});
    {
      const context_scope scope(context().part("resize"));
      p.spawn([&] { go.wait(); });
    }
    const stall_report found = report.wait();
    ASSERT_EQ(found.stalls.size(), 1U);
    EXPECT_EQ(found.stalls[0].task, "resize");
    EXPECT_EQ(found.stalls[0].scheduler, "main");
    EXPECT_LT(found.stalls[0].worker, 2U);
    EXPECT_GE(found.stalls[0].held, 1ms);
    EXPECT_THAT(found.text(), HasSubstr("weft: task \"resize\" has held worker "));
    EXPECT_THAT(found.dump, HasSubstr("pool \"images\": 2 workers"));
    EXPECT_THAT(found.dump, HasSubstr("running a job"));
  }
  go.count_down();
}

TEST(StallDetector, BlamesTheTaskOnTopNotTheOneThatWaitsForIt) {
  std::latch begun(1);
  std::latch go(1);
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  const context_scope outer(context().part("waits"));
  p.spawn([&] {
    const context_scope inner(context().part("stuck"));
    p.submit([&] {
       begun.count_down();
       go.wait();
     }).get();
  });
  begun.wait();
  const std::vector<stall> found = t.stalls(0ns);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].task, "waits");
  EXPECT_FALSE(found[0].is_on_top);
  EXPECT_EQ(found[1].task, "stuck");
  EXPECT_TRUE(found[1].is_on_top);
  go.count_down();
}

TEST(StallDetector, SaysNothingOfTasksThatEnd) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.submit([] {}).get();
  p.shutdown();
  EXPECT_TRUE(t.stalls(0ns).empty());
}

TEST(StallDetector, EndsAtOnceHoweverLongItsLimitIs) {
  trace t;
  const stall_detector detector(t, {.limit = std::chrono::milliseconds::max()});
}

TEST(StallDetector, RefusesALimitThatEveryTaskWouldPass) {
  const trace t;
  EXPECT_THROW(stall_detector(t, {.limit = 0ms}), std::invalid_argument);
  EXPECT_THROW(stall_detector(t, {.limit = -5ms}), std::invalid_argument);
}

// -- what is news ---------------------------------------------------------------------------------

stall held(std::chrono::nanoseconds time, std::uint64_t id = 1) {
  return {.scheduler = "main", .lane = {}, .task = "t", .held = time, .id = id};
}

TEST(StallMemory, TellsOfAStallAtTheLimitAndWheneverItHasDoubled) {
  telemetry::stall_memory memory(30s);
  std::vector<int> told;
  for (int second = 30; second <= 130; ++second) {
    std::vector<stall> found = {held(std::chrono::seconds(second))};
    memory.keep_news(found);
    if (!found.empty()) told.push_back(second);
  }
  EXPECT_EQ(told, (std::vector<int>{30, 60, 120}));
}

TEST(StallMemory, TellsOfALookThatCameLateOnce) {
  telemetry::stall_memory memory(1s);
  std::vector<stall> found = {held(100s)};
  memory.keep_news(found);
  EXPECT_EQ(found.size(), 1U);
  found = {held(101s)};
  memory.keep_news(found);
  EXPECT_TRUE(found.empty());
}

// While its worker helps, it is not the one that holds it; that does not make it a new one.
TEST(StallMemory, DoesNotForgetAStallWhoseWorkerHelpsForAMoment) {
  telemetry::stall_memory memory(1s);
  std::vector<stall> found = {held(1s)};
  memory.keep_news(found);
  EXPECT_EQ(found.size(), 1U);
  found = {held(1200ms)};
  found[0].is_on_top = false;
  memory.keep_news(found);
  EXPECT_TRUE(found.empty());
  found = {held(1300ms)};
  memory.keep_news(found);
  EXPECT_TRUE(found.empty());
}

TEST(StallMemory, TellsStallsOfOneWorkerApart) {
  telemetry::stall_memory memory(1s);
  std::vector<stall> found = {held(1s, 1)};
  memory.keep_news(found);
  EXPECT_EQ(found.size(), 1U);
  found = {held(1s, 2)};
  memory.keep_news(found);
  EXPECT_EQ(found.size(), 1U);
}

TEST(Stall, IsToldInWords) {
  stall s{.scheduler = "main", .lane = {}, .worker = 3, .task = "resize", .held = 30s};
  EXPECT_EQ(s.text(), "task \"resize\" has held worker 3 of \"main\" for 30 s");
  s.task.clear();
  s.held = 1500ms;
  EXPECT_EQ(s.text(), "a task without a name has held worker 3 of \"main\" for 1.5 s");
  s.lane = "io 0";
  s.held = 15ms;
  EXPECT_EQ(s.text(), "a task without a name has held thread io 0 of \"main\" for 15 ms");
  s.lane = "blocking";
  s.held = 30min;
  EXPECT_EQ(s.text(),
            "a task without a name has held thread 3 of the blocking lane of \"main\" for 30 min");
}

}  // namespace
}  // namespace weft
