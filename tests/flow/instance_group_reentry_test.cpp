// What belongs to the user and uses the group when nobody thinks of it: errors and results that go
// or move, items that hold tickets, stop callbacks, and a process that forks.

#include <weft/flow/instance_group.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/when.hpp>

#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using kind = outcome_kind;

void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

// Thrown, and calls something when the last copy goes.
struct error_with_a_last_word {
  explicit error_with_a_last_word(std::function<void()> word)
      : at_end(nullptr, [word = std::move(word)](void*) { word(); }) {}
  std::shared_ptr<void> at_end;
};

class InstanceGroupReentry : public ::testing::Test {
 protected:
  pool pool_{{.workers = 2}};
  test::watchdog watchdog_{60s, pool_};
};

TEST_F(InstanceGroupReentry, AnErrorThatIsNotTheOutcomeMayUseItWhenItGoes) {
  std::latch begun(1);
  group_progress seen;
  instance_group<int, int>* self = nullptr;
  instance_group<int, int> group(pool_, [&](const std::stop_token& stop, int) -> int {
    begun.count_down();
    wait_for_stop(stop);
    throw error_with_a_last_word([&] { seen = self->progress(); });
  });
  self = &group;
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  begun.wait();
  group.complete();
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::cancelled);
  EXPECT_EQ(seen.added, 1U);
}

TEST_F(InstanceGroupReentry, AnErrorOfAnAttemptThatIsRetriedMayUseItWhenItGoes) {
  int calls = 0;
  group_progress seen;
  instance_group<int, int>* self = nullptr;
  instance_group<int, int> group(pool_,
                                 [&](int x) {
                                   if (calls++ == 0)
                                     throw error_with_a_last_word([&] { seen = self->progress(); });
                                   return x;
                                 },
                                 {.retry = {.times = 1, .pause = 0ms}});
  self = &group;
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::value);
  EXPECT_EQ(seen.added, 1U);
}

TEST_F(InstanceGroupReentry, AnErrorThatIsNotTheOutcomeMayHoldATicket) {
  struct error_with_a_ticket {
    std::shared_ptr<instance_ticket<int>> ticket;
  };
  instance_group<int, int> group(
      pool_,
      [](const std::stop_token& stop, int, instance_ticket<int> more) -> int {
        wait_for_stop(stop);
        throw error_with_a_ticket{std::make_shared<instance_ticket<int>>(std::move(more))};
      },
      {.timeout = 1ms});
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::timed_out);
}

struct item_with_a_ticket {
  std::shared_ptr<instance_ticket<item_with_a_ticket>> ticket;
};

// It has retries left, and will not be begun again all the same.
TEST_F(InstanceGroupReentry, ATicketInTheItemOfACancelledInstanceIsClosed) {
  instance_group<item_with_a_ticket> group(
      pool_, [](const item_with_a_ticket&) { throw cancelled(); }, {.retry = {.times = 1}});
  {
    auto ticket = group.open();
    ticket.add({std::make_shared<instance_ticket<item_with_a_ticket>>(group.open())});
  }
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::cancelled);
}

TEST_F(InstanceGroupReentry, AResultMayUseItWhenItMoves) {
  struct result {
    explicit result(std::function<void()> m) : moved(std::move(m)) {}
    result(result&& other) noexcept : moved(other.moved) { moved(); }
    std::function<void()> moved;
  };
  instance_group<int, result>* self = nullptr;
  const auto look = [&] { static_cast<void>(self->progress()); };
  instance_group<int, result> group(pool_, [&](int) { return result(look); });
  self = &group;
  {
    auto ticket = group.open();
    ticket.add(1);
    ticket.add(2);
  }
  EXPECT_TRUE(sync_wait(group.next()).has_value());
  EXPECT_EQ(sync_wait(group.join()).size(), 1U);
}

TEST_F(InstanceGroupReentry, AnItemNeedsNoAssignment) {
  struct item {
    const int x;
  };
  instance_group<item, int> group(pool_, [](const item& i) { return i.x; },
                                  {.retry = {.times = 1}});
  {
    auto ticket = group.open();
    ticket.add({7});
  }
  EXPECT_EQ(sync_wait(group.join()).at(0).value(), 7);
}

// -- stop callbacks -------------------------------------------------------------------------------

// Waits in one of two branches, and calls something when that is asked to stop.
task<> wait_and_tell(async_event& never, std::function<void()> told) {
  const auto branch = [](async_event& e, std::function<void()> tell) -> task<> {
    const std::stop_token stop = co_await this_task::stop_token();
    const std::stop_callback callback(stop, std::move(tell));
    co_await e.wait();
  };
  co_await when_any(branch(never, std::move(told)), branch(never, [] {}));
}

void wait_until_it_waits(const hybrid_scheduler& hs) {
  while (hs.dump().find("waits for") == std::string::npos) std::this_thread::yield();
}

TEST(InstanceGroupStopCallback, MayCancelTheGroupWhenItsSchedulerEnds) {
  const test::watchdog watchdog(60s);
  async_event never;
  hybrid_scheduler hs({.cpu_workers = 1});
  instance_group<int>* self = nullptr;
  instance_group<int> group(hs, [&](int) { return wait_and_tell(never, [&] { self->cancel(); }); });
  self = &group;
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  wait_until_it_waits(hs);
  hs.shutdown({.let_run = 0ms, .then_stop = 1h});
  EXPECT_THROW(sync_wait(group.join()), cancelled);
}

TEST(InstanceGroupStopCallback, MayAskWhatTheSchedulerDoes) {
  const test::watchdog watchdog(60s);
  std::string seen;
  async_event never;
  hybrid_scheduler hs({.cpu_workers = 1});
  instance_group<int> group(
      hs, [&](int) { return wait_and_tell(never, [&] { seen = hs.dump(); }); }, {.name = "asked"});
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  wait_until_it_waits(hs);
  group.complete();
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::cancelled);
  EXPECT_THAT(seen, testing::HasSubstr("asked"));
}

// -- a forked child -------------------------------------------------------------------------------

TEST_F(InstanceGroupReentry, ATicketInAForkedChildWaitsForNobody) {
  std::latch inside(1);
  std::latch go(1);
  instance_group<int, int> group(pool_, [](int x) { return x; },
                                 {.join = until([in = &inside, out = &go](const group_progress&) {
                                    in->count_down();
                                    out->wait();
                                    return false;
                                  })});
  auto ticket = group.open();
  ticket.add(1);
  inside.wait();  // a thread has the lock of the group
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    bool was_refused = false;
    try {
      ticket.add(2);
    } catch (const used_after_fork&) {
      was_refused = true;
    }
    const auto another = ticket.another();
    ticket.close();
    ::_exit(was_refused ? 7 : 8);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  go.count_down();
  ticket.close();
  EXPECT_EQ(sync_wait(group.join()).size(), 1U);
}

TEST_F(InstanceGroupReentry, WhatAnAttemptThrewIsGoneWhenAnotherIsToFollow) {
  std::atomic<bool> is_gone{false};
  instance_group<int>* self = nullptr;
  instance_group<int> group(pool_,
                            [&](int) {
                              throw error_with_a_last_word([&] {
                                static_cast<void>(self->progress());
                                is_gone = true;
                              });
                            },
                            {.retry = {.times = 1, .pause = 1h}});
  self = &group;
  {
    auto ticket = group.open();
    ticket.add(1);
  }
  while (group.progress().running > 0) std::this_thread::yield();
  EXPECT_TRUE(is_gone);
  group.complete();
  EXPECT_EQ(sync_wait(group.join()).at(0).kind(), kind::cancelled);
}

// Moving it throws once, when it is asked to.
struct reluctant {
  explicit reluctant(int n) : number(n) {}
  reluctant(reluctant&& other) : number(other.number) {  // NOLINT(performance-noexcept-move*)
    if (refuses && number == 1) throw std::runtime_error("not me");
  }
  int number;
  static inline bool refuses = false;
};

TEST_F(InstanceGroupReentry, AResultThatCannotBeMovedDoesNotTakeThoseBehindItAway) {
  reluctant::refuses = false;
  instance_group<int, reluctant> group(pool_, [](int x) { return reluctant(x); });
  {
    auto ticket = group.open();
    for (int i = 0; i < 4; ++i) ticket.add(i);
  }
  sync_wait(group.drain());
  reluctant::refuses = true;
  EXPECT_THROW(sync_wait(group.join()), std::runtime_error);
  const auto outcomes = sync_wait(group.join());
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].value().number, 2);
  EXPECT_EQ(outcomes[1].value().number, 3);
}

}  // namespace
}  // namespace weft
