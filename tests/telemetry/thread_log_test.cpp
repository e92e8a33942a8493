#include "telemetry/thread_log.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace weft::telemetry {
namespace {

constexpr trace_place here{.lane = 1, .worker = 2};
constexpr trace_place elsewhere{.lane = 1, .worker = 3};

class ThreadLog : public testing::Test {
 protected:
  void run_job(trace_place at) {
    log_.job_begins(at, this, pauses_are::told);
    log_.job_ends();
  }
  // A reading of the clock that is due shows as one that is later.
  void wait_for_a_tick() const {
    const std::uint64_t before = basics_->clock.now();
    while (basics_->clock.now() == before) {
    }
  }
  std::vector<trace_event> events() const {
    std::uint64_t first = 0;
    std::vector<trace_event> all;
    for (const trace_words& words : log_.ring().read(first)) {
      all.push_back(trace_event::unpack(words));
    }
    return all;
  }
  // Whether the second of two jobs begins when the first has ended, to the tick.
  bool follow_at_once() const {
    const auto all = events();
    EXPECT_EQ(all.size(), 2U);
    EXPECT_LE(all.at(0).second, all.at(1).first);
    return all.at(0).second == all.at(1).first;
  }

  const std::shared_ptr<log_basics> basics_ = std::make_shared<log_basics>();
  thread_log log_{16, basics_};
};

TEST_F(ThreadLog, AJobBeginsWhenTheOneBeforeHasEnded) {
  run_job(here);
  wait_for_a_tick();
  run_job(here);
  EXPECT_TRUE(follow_at_once());
}

TEST_F(ThreadLog, AJobAfterASearchBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  log_.searches();
  run_job(here);
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, AJobInAWaitBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  log_.helps();
  run_job(here);
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, AJobAtAnotherPlaceBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  run_job(elsewhere);
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, AJobInALaneThatDoesNotTellOfPausesBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  log_.job_begins(here, this, pauses_are::silent);
  log_.job_ends();
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, AJobOfTheNextRecordingBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  basics_->epoch.store(2);
  run_job(here);
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, TheFirstJobOfAnotherThreadBeginsByTheClock) {
  run_job(here);
  wait_for_a_tick();
  log_.changes_hands();
  run_job(here);
  EXPECT_FALSE(follow_at_once());
}

TEST_F(ThreadLog, AnotherThreadDoesNotWakeFromTheSleepOfTheOneBefore) {
  log_.falls_asleep(here);
  log_.changes_hands();
  log_.wakes();
  EXPECT_TRUE(events().empty());
}

TEST_F(ThreadLog, SleepIsToldWhereItBegan) {
  log_.falls_asleep(here);
  wait_for_a_tick();
  log_.wakes();
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].what, trace_event::kind::slept);
  EXPECT_EQ(events()[0].place, here);
  EXPECT_LT(events()[0].first, events()[0].second);
}

TEST_F(ThreadLog, WhatIsDeeperThanThereIsRoomForIsLeftOut) {
  constexpr std::size_t deep = 300;
  for (std::size_t i = 0; i < deep; ++i) log_.job_begins(here, this, pauses_are::told);
  const std::size_t recorded = log_.open().size();
  EXPECT_LT(recorded, deep);
  for (std::size_t i = 0; i < deep; ++i) log_.job_ends();
  EXPECT_TRUE(log_.open().empty());
  EXPECT_EQ(log_.ring().written(), recorded);
}

}  // namespace
}  // namespace weft::telemetry
