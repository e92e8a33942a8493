#include <weft/flow/instance_group.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

using kind = outcome_kind;

template <class T, class R>
void add_all(instance_group<T, R>& group, const std::vector<T>& items) {
  auto ticket = group.open();
  for (const T& item : items) EXPECT_TRUE(ticket.add(item));
}

template <class R>
std::vector<kind> kinds(const std::vector<outcome<R>>& outcomes) {
  std::vector<kind> all;
  for (const auto& o : outcomes) all.push_back(o.kind());
  return all;
}

template <class R>
std::vector<std::size_t> indices(const std::vector<outcome<R>>& outcomes) {
  std::vector<std::size_t> all;
  for (const auto& o : outcomes) all.push_back(o.index());
  return all;
}

// Sleeps until it is asked to stop.
void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

class InstanceGroup : public ::testing::Test {
 protected:
  pool pool_{{.workers = 2}};
  test::watchdog watchdog_{60s, pool_};
};

// -- what instances are ---------------------------------------------------------------------------

TEST_F(InstanceGroup, GivesAnOutcomeForEachInstanceInOrderOfAdding) {
  instance_group<int, int> group(pool_, [](int x) { return 10 * x; });
  add_all(group, {5, 6, 7});
  const auto outcomes = sync_wait(group.join());
  ASSERT_THAT(outcomes, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcomes[i].index(), i);
    EXPECT_EQ(outcomes[i].attempts(), 1U);
    EXPECT_EQ(outcomes[i].value(), static_cast<int>(50 + 10 * i));
  }
  EXPECT_EQ(group.ended_by(), group_end::all_ended);
  EXPECT_EQ(group.progress(), (group_progress{.added = 3, .values = 3}));
}

TEST_F(InstanceGroup, TakesBodiesOfEveryForm) {
  const auto join_one = [this](auto body) {
    instance_group<int, int> group(pool_, body);
    add_all(group, {1});
    return sync_wait(group.join()).front().value();
  };
  const auto twice = [](int x) -> task<int> { co_return 2 * x; };
  EXPECT_EQ(join_one([](int x) { return x; }), 1);
  EXPECT_EQ(join_one([](const int& x) { return x; }), 1);
  EXPECT_EQ(join_one([](std::stop_token stop, int x) { return stop.stop_requested() ? -1 : x; }),
            1);
  EXPECT_EQ(join_one([](int x, instance_ticket<int>) { return x; }), 1);
  EXPECT_EQ(join_one([](int x, auto /*more*/) { return x; }), 1);
  EXPECT_EQ(join_one([](std::stop_token, int x, instance_ticket<int>) { return x; }), 1);
  EXPECT_EQ(join_one(twice), 2);
  EXPECT_EQ(join_one([twice](std::stop_token, int x, instance_ticket<int>) { return twice(x); }),
            2);
}

TEST_F(InstanceGroup, ACoroutineMayTakeItsTokenAndItsTicketByReference) {
  instance_group<int, int> group(
      pool_, [](const std::stop_token& stop, int x, instance_ticket<int>&& more) -> task<int> {
        co_await yield();
        if (x > 0) more.add(0);
        co_return stop.stop_requested() || !stop.stop_possible() ? -1 : x;
      });
  add_all(group, {1});
  const auto outcomes = sync_wait(group.join());
  ASSERT_THAT(outcomes, SizeIs(2));
  EXPECT_EQ(outcomes[0].value(), 1);
  EXPECT_EQ(outcomes[1].value(), 0);
}

TEST_F(InstanceGroup, WithoutResultsGivesMonostates) {
  instance_group<int> functions(pool_, [](int) {});
  add_all(functions, {1});
  EXPECT_EQ(sync_wait(functions.join()).front().value(), std::monostate{});
  instance_group<int> coroutines(pool_, [](int) -> task<> { co_return; });
  add_all(coroutines, {1});
  EXPECT_EQ(sync_wait(coroutines.join()).front().value(), std::monostate{});
}

TEST_F(InstanceGroup, NeedsNoCopiesOfItemsAndResults) {
  using box = std::unique_ptr<int>;
  instance_group<box, box> group(pool_, [](box b) { return b; });
  {
    auto ticket = group.open();
    EXPECT_TRUE(ticket.add(std::make_unique<int>(3)));
  }
  auto outcomes = sync_wait(group.join());
  EXPECT_EQ(*std::move(outcomes.front()).value(), 3);
}

TEST(InstanceGroupInLanes, FunctionsComputeAndCoroutinesWaitUnlessOptionsSayOtherwise) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const auto where = [&hs](int) { return pool::current() == &hs.cpu_pool() ? "cpu" : "elsewhere"; };
  const auto where_coroutine = [&](int x) -> task<std::string> { co_return where(x); };
  const auto lane_of_one = [&](auto body, const instance_options& options) {
    instance_group<int, std::string> group(hs, body, options);
    add_all(group, {0});
    return sync_wait(group.join()).front().value();
  };
  EXPECT_EQ(lane_of_one(where, {}), "cpu");
  EXPECT_EQ(lane_of_one(where, {.lane = lane_kind::blocking}), "elsewhere");
  EXPECT_EQ(lane_of_one(where_coroutine, {}), "elsewhere");
  EXPECT_EQ(lane_of_one(where_coroutine, {.lane = lane_kind::cpu}), "cpu");
}

TEST(InstanceGroupInLanes, InstancesAreListedByTheirName) {
  hybrid_scheduler hs({.cpu_workers = 1});
  async_event begun;
  async_event end;
  instance_group<int> group(hs,
                            [&](int) -> task<> {
                              begun.set();
                              co_await end.wait();
                            },
                            {.name = "protein test"});
  add_all(group, {0});
  sync_wait([](async_event& e) -> task<> { co_await e.wait(); }(begun));
  EXPECT_THAT(hs.dump(), HasSubstr("protein test"));
  end.set();
  sync_wait(group.join());
}

TEST(InstanceGroupInLanes, ASchedulerThatIsShutDownStopsInstancesBegunAndNot) {
  hybrid_scheduler hs({.cpu_workers = 1});
  std::latch busy(2);
  std::latch free(1);
  hs.spawn_cpu([&] {
    busy.count_down();
    free.wait();
  });
  async_event never;
  instance_group<int> waits(hs, [&](int) -> task<> {
    busy.count_down();
    co_await never.wait();
  });
  add_all(waits, {0});
  busy.wait();
  instance_group<int> queued(hs, [](int) { FAIL() << "it was asked to stop before"; });
  add_all(queued, {1, 2});
  shutdown_report report;
  {
    const std::jthread shuts([&] { report = hs.shutdown({.let_run = 0ms, .then_stop = 1h}); });
    EXPECT_THAT(kinds(sync_wait(waits.join())), ElementsAre(kind::cancelled));
    EXPECT_THAT(kinds(sync_wait(queued.join())), ElementsAre(kind::cancelled, kind::cancelled));
    free.count_down();
  }
  EXPECT_TRUE(report.stopped_early);
  EXPECT_THAT(report.unfinished, IsEmpty());
}

// One ends, and the next begins: there is no moment in between at which all seem to have ended.
TEST(InstanceGroupInLanes, ASchedulerThatIsShutDownLetsAllOfALimitedGroupRun) {
  for (const unsigned retries : {0U, 1U}) {
    SCOPED_TRACE(retries);
    std::latch go(1);
    std::vector<unsigned> attempts(50);
    hybrid_scheduler hs({.cpu_workers = 1});
    instance_group<std::size_t> group(
        hs,
        [&](std::size_t x) {
          go.wait();
          if (attempts[x]++ < retries) throw std::runtime_error("no");
        },
        {.max_running = 1, .retry = {.times = retries, .pause = 0ms}});
    {
      auto ticket = group.open();
      for (std::size_t i = 0; i < attempts.size(); ++i) ticket.add(i);
    }
    shutdown_report report;
    {
      const std::jthread shuts([&] { report = hs.shutdown({.let_run = 1h}); });
      const auto is_shut = [&] {
        try {
          static_cast<void>(hs.spawn([]() -> task<> { co_return; }()));
          return false;
        } catch (const pool_stopped&) {
          return true;
        }
      };
      while (!is_shut()) std::this_thread::yield();
      go.count_down();
    }
    EXPECT_FALSE(report.stopped_early);
    EXPECT_THAT(attempts, Each(retries + 1)) << "when shutdown() returned";
    EXPECT_THAT(kinds(sync_wait(group.join())), Each(kind::value));
  }
}

// Whatever it throws on its way out, and it is not begun again.
TEST(InstanceGroupInLanes, OneThatItsSchedulerAsksToStopIsCancelled) {
  for (const unsigned retries : {0U, 2U}) {
    SCOPED_TRACE(retries);
    hybrid_scheduler hs({.cpu_workers = 1});
    std::latch begun(1);
    instance_group<int> group(hs,
                              [&](const std::stop_token& stop, int) {
                                begun.count_down();
                                wait_for_stop(stop);
                                throw std::runtime_error("on its way out");
                              },
                              {.retry = {.times = retries, .pause = 0ms}});
    add_all(group, {1});
    begun.wait();
    hs.shutdown({.let_run = 0ms, .then_stop = 1h});
    const auto outcomes = sync_wait(group.join());
    EXPECT_THAT(kinds(outcomes), ElementsAre(kind::cancelled));
    EXPECT_EQ(outcomes.front().attempts(), 1U);
  }
}

// Returns when the pool takes nothing from outside any more.
void wait_until_shut(pool& p) {
  try {
    for (;; std::this_thread::yield()) p.spawn([] {});
  } catch (const pool_stopped&) {
  }
}

TEST(InstanceGroupOnAPool, ThatDrainsRunsAllThatWasTaken) {
  pool drains({.workers = 2});
  const test::watchdog watchdog(60s, drains);
  std::latch begun(2);
  std::latch go(1);
  const auto wait_at_first = [&](int x) {
    if (x != 0) return;
    begun.count_down();
    go.wait();
  };
  instance_group<int, int> limited(drains,
                                   [&](int x) {
                                     wait_at_first(x);
                                     return x;
                                   },
                                   {.max_running = 1});
  instance_group<int, int> grows(drains, [&](int x, auto more) {
    wait_at_first(x);
    if (x < 5) more.add(x + 1);
    return x;
  });
  add_all(limited, {0, 1, 2, 3, 4});
  add_all(grows, {0});
  begun.wait();
  {
    const std::jthread shuts([&] { drains.shutdown(shutdown_mode::drain); });
    wait_until_shut(drains);
    go.count_down();
  }
  EXPECT_THAT(kinds(sync_wait(limited.join())), AllOf(SizeIs(5), Each(kind::value)));
  EXPECT_THAT(kinds(sync_wait(grows.join())), AllOf(SizeIs(6), Each(kind::value)));
}

TEST(InstanceGroupOnAPool, ThatIsCancelledBeginsNoOthers) {
  pool ends({.workers = 1});
  const test::watchdog watchdog(60s, ends);
  std::latch begun(1);
  std::latch go(1);
  int calls = 0;
  instance_group<int> group(ends,
                            [&](int) {
                              ++calls;
                              begun.count_down();
                              go.wait();
                            },
                            {.max_running = 1});
  add_all(group, {0, 1, 2, 3});
  begun.wait();
  {
    const std::jthread shuts([&] { ends.shutdown(shutdown_mode::cancel); });
    wait_until_shut(ends);
    go.count_down();
  }
  EXPECT_THAT(kinds(sync_wait(group.join())),
              ElementsAre(kind::value, kind::cancelled, kind::cancelled, kind::cancelled));
  EXPECT_EQ(calls, 1);
}

TEST(InstanceGroupInLanes, ItsSchedulerHasNoTasksWhenAllAreJoined) {
  hybrid_scheduler hs({.cpu_workers = 2});
  const int rounds = test::rounds(1000);
  for (int i = 0; i < rounds; ++i) {
    instance_group<int> group(hs, [](int) {}, {.max_running = 2});
    add_all(group, {1, 2, 3});
    sync_wait(group.join());
    const hybrid_stats stats = hs.stats();
    ASSERT_EQ(stats.live, 0U);
    ASSERT_EQ(stats.completed, stats.spawned);
  }
}

// As it says of any task.
TEST(InstanceGroupInLanes, OneThatSleepsInTheCpuLaneIsReportedByItsName) {
  std::latch reported(1);
  std::string name;
  hybrid_scheduler hs({.cpu_workers = 1, .blocked_after = 1ms, .on_blocked = [&](const auto& b) {
                         name = b.name;
                         reported.count_down();
                       }});
  instance_group<int> group(hs,
                            [&](int x) {
                              if (x == 0) reported.wait();
                            },
                            {.name = "sleeper"});
  add_all(group, {0, 1, 1});
  sync_wait(group.join());
  EXPECT_EQ(name, "sleeper");
}

// Else the thread would wait for what only it can end.
TEST(InstanceGroupInLanesDeathTest, DestroyedOnTheIoThreadThatItsInstancesNeedSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto die = [] {
    hybrid_scheduler hs({.cpu_workers = 1});
    async_event never;
    hs.spawn_io([](hybrid_scheduler& s, async_event& e) -> task<> {
        instance_group<int> group(s, [&e](int) -> task<> { co_await e.wait(); });
        add_all(group, {1});
        co_await yield();  // it begins
      }(hs, never))
        .get();
  };
  EXPECT_DEATH(die(), "co_await join\\(\\) or drain\\(\\) before");
}

// -- 15: instances are added while others run -----------------------------------------------------

TEST_F(InstanceGroup, IsNotCompleteWhileSomebodyMayAdd) {
  instance_group<int, int> group(pool_, [](int x) { return x; });
  auto ticket = group.open();
  ticket.add(1);
  ASSERT_EQ(sync_wait(group.next())->value(), 1);
  EXPECT_EQ(group.ended_by(), group_end::not_yet);
  auto other = ticket.another();
  ticket.close();
  EXPECT_FALSE(ticket.add(9)) << "it was closed";
  EXPECT_TRUE(other.add(2));
  ASSERT_EQ(sync_wait(group.next())->value(), 2);
  EXPECT_EQ(group.ended_by(), group_end::not_yet);
  other = std::move(ticket);
  EXPECT_EQ(group.ended_by(), group_end::all_ended);
  EXPECT_FALSE(group.open().add(3));
}

TEST_F(InstanceGroup, InstancesAddOthers) {
  instance_group<int, int> group(pool_, [](int depth, auto more) {
    if (depth > 0) {
      EXPECT_TRUE(more.add(depth - 1));
      EXPECT_TRUE(more.add(depth - 1));
    }
    return depth;
  });
  add_all(group, {9});
  EXPECT_THAT(sync_wait(group.join()), SizeIs(1023));
}

TEST_F(InstanceGroup, ToWhichNobodyCameIsCompleteWhenJoined) {
  instance_group<int> group(pool_, [](int) {});
  EXPECT_EQ(group.progress(), group_progress());
  EXPECT_EQ(group.ended_by(), group_end::not_yet) << "also when somebody asks";
  EXPECT_THAT(sync_wait(group.join()), IsEmpty());
  EXPECT_FALSE(group.open().add(1));
}

TEST_F(InstanceGroup, LosesNothingWhenTheLastEndsWhileOneMoreArrives) {
  for (int round = 0; round < test::rounds(2000); ++round) {
    instance_group<int, int> group(pool_, [](int x) { return x; });
    std::size_t added = 0;
    {
      // The first is added while the second may be the last: either it counts or it is refused.
      auto first = group.open();
      added += first.add(1) ? 1 : 0;
      std::jthread other([ticket = first.another(), &added]() mutable {
        added += ticket.add(2) ? 1 : 0;
        ticket.close();
      });
      first.close();
    }
    EXPECT_EQ(added, 2U) << "a ticket was open";
    auto late = group.open();
    const bool in_time = late.add(3);
    late.close();
    const auto outcomes = sync_wait(group.join());
    EXPECT_EQ(outcomes.size(), added + (in_time ? 1 : 0));
  }
}

TEST_F(InstanceGroup, CancelledWhileOthersAddEndsAllThatWereAdded) {
  for (int round = 0; round < test::rounds(500); ++round) {
    instance_group<int, int> group(pool_, [](int x) { return x; });
    std::size_t added = 0;
    const auto open = group.open();  // so that it is not complete before
    {
      std::jthread adder([&, ticket = group.open()]() mutable {
        while (added < 100 && ticket.add(0)) ++added;
      });
      group.cancel();
    }
    EXPECT_THROW(sync_wait(group.join()), cancelled);
    const group_progress p = group.progress();
    EXPECT_EQ(p.added, added);
    EXPECT_EQ(p.ended(), added);
    EXPECT_EQ(p.errors + p.timed_out + p.running, 0U);
  }
}

TEST_F(InstanceGroup, TicketsOutliveIt) {
  std::optional<instance_ticket<std::shared_ptr<int>>> ticket;
  auto item = std::make_shared<int>(1);
  {
    instance_group<std::shared_ptr<int>> group(pool_, [](const std::shared_ptr<int>&) {});
    ticket.emplace(group.open());
    EXPECT_TRUE(ticket->add(item));
  }
  EXPECT_EQ(item.use_count(), 1) << "the group keeps nothing for its tickets";
  EXPECT_FALSE(ticket->add(item));
  auto another = ticket->another();
  EXPECT_FALSE(another.add(item));
}

struct item_with_ticket {
  std::shared_ptr<instance_ticket<item_with_ticket>> more;
};

TEST_F(InstanceGroup, TicketsInItemsAreClosedWhenTheirInstancesHaveEnded) {
  instance_group<item_with_ticket> group(pool_, [](const item_with_ticket&) {});
  auto more = std::make_shared<instance_ticket<item_with_ticket>>(group.open());
  group.open().add({std::move(more)});
  EXPECT_THAT(sync_wait(group.join()), SizeIs(1));
}

TEST_F(InstanceGroup, TicketsInItemsThatNeverBeganAreClosedWithTheGroup) {
  std::latch begun(1);
  instance_group<item_with_ticket> group(pool_,
                                         [&](const std::stop_token& stop, const item_with_ticket&) {
                                           begun.count_down();
                                           wait_for_stop(stop);
                                         },
                                         {.max_running = 1});
  group.open().add({});
  begun.wait();
  auto more = std::make_shared<instance_ticket<item_with_ticket>>(group.open());
  group.open().add({std::move(more)});
}

// -- 26 and 27: forced ends -----------------------------------------------------------------------

// Three instances: one that has ended, one that runs until it is asked to stop, one that waits.
struct forced_end {
  explicit forced_end(pool& p)
      : group(p,
              [this](const std::stop_token& stop, int x) {
                if (x == 0) return;
                begun.count_down();
                wait_for_stop(stop);
                throw std::runtime_error("stopped in the middle of it");
              },
              {.max_running = 1}) {
    add_all(group, {0, 1, 2});
    begun.wait();
  }
  std::latch begun{1};
  instance_group<int> group;
};

TEST_F(InstanceGroup, CancelWithdrawsWhatHasNotEndedAndJoinThrows) {
  forced_end e(pool_);
  auto ticket = e.group.open();
  e.group.cancel();
  EXPECT_FALSE(ticket.add(3));
  EXPECT_THROW(sync_wait(e.group.join()), cancelled);
  EXPECT_EQ(e.group.ended_by(), group_end::cancelled);
  EXPECT_EQ(e.group.progress(), (group_progress{.added = 3, .values = 1, .cancelled = 2}));
}

TEST_F(InstanceGroup, CompleteWithdrawsWhatHasNotEndedAndJoinGivesWhatThereIs) {
  forced_end e(pool_);
  e.group.complete();
  const auto outcomes = sync_wait(e.group.join());
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::cancelled, kind::cancelled));
  EXPECT_EQ(outcomes[1].attempts(), 1U);
  EXPECT_EQ(outcomes[2].attempts(), 0U) << "it never began";
  EXPECT_EQ(e.group.ended_by(), group_end::completed);
}

// Of ends that nobody had asked about before.
TEST_F(InstanceGroup, CompletedItKeepsTheValuesThatThereWere) {
  async_event never;
  instance_group<int, int> group(pool_, [&](int x) -> task<int> {
    if (x == 1) co_await never.wait();
    co_return x;
  });
  add_all(group, {0, 1, 2});
  while (group.progress().values < 2) std::this_thread::yield();
  group.complete();
  EXPECT_THAT(kinds(sync_wait(group.join())),
              ElementsAre(kind::value, kind::cancelled, kind::value));
}

TEST_F(InstanceGroup, CancelCallsCoroutinesAwayFromWhatTheyWaitFor) {
  async_event never;
  instance_group<int> group(pool_, [&](int) -> task<> { co_await never.wait(); });
  add_all(group, {1, 2, 3});
  group.complete();
  EXPECT_THAT(kinds(sync_wait(group.join())),
              ElementsAre(kind::cancelled, kind::cancelled, kind::cancelled));
}

TEST_F(InstanceGroup, AnInstanceThatGivesAValueAlthoughItWasAskedToStopKeepsIt) {
  std::latch begun(1);
  instance_group<int, int> group(pool_, [&](const std::stop_token& stop, int x) {
    begun.count_down();
    wait_for_stop(stop);
    return x;
  });
  add_all(group, {4});
  begun.wait();
  group.complete();
  EXPECT_EQ(sync_wait(group.join()).front().value(), 4);
}

TEST_F(InstanceGroup, DestructorCancelsAndWaits) {
  std::latch begun(1);
  bool ended = false;
  {
    instance_group<int> group(pool_, [&](const std::stop_token& stop, int) {
      begun.count_down();
      wait_for_stop(stop);
      ended = true;
    });
    add_all(group, {1});
    begun.wait();
  }
  EXPECT_TRUE(ended);
}

// The predicate is asked under the lock, which is then held for ever in the child.
TEST_F(InstanceGroup, DestroyedInAForkedChildWaitsForNothing) {
  std::latch asked(1);
  std::latch go_on(1);
  const auto enough = [&](const group_progress&) {
    asked.count_down();
    go_on.wait();
    return true;
  };
  auto group = std::make_unique<instance_group<int>>(
      pool_, [](int) {}, instance_options{.join = until(enough)});
  {
    auto ticket = group->open();
    ticket.add(1);
    asked.wait();
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // a child that hangs is killed
      group.reset();
      ::_exit(7);
    }
    go_on.count_down();
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  EXPECT_THAT(sync_wait(group->join()), SizeIs(1));
}

// The coroutine belongs to a thread of the parent, and may be in the middle of anything.
TEST_F(InstanceGroup, DestroyedInAForkedChildDestroysNoInstance) {
  static bool is_child = false;
  struct held_by_the_instance {
    ~held_by_the_instance() {
      if (is_child) ::_exit(8);
    }
  };
  std::latch begun(1);
  async_event go_on;
  auto group = std::make_unique<instance_group<int>>(pool_, [&](int) -> task<> {
    const held_by_the_instance held;
    begun.count_down();
    co_await go_on.wait();
  });
  add_all(*group, {1});
  begun.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    is_child = true;
    group.reset();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  go_on.set();
  EXPECT_THAT(sync_wait(group->join()), SizeIs(1));
}

TEST_F(InstanceGroup, DestroyedByAJobOfItsOwnPoolLetsItHelp) {
  pool one({.workers = 1});
  int ran = 0;
  one.run([&] {
    instance_group<int> group(one, [&](int) { ++ran; }, {.join = n_of(2, rest::let_finish)});
    add_all(group, {1, 2});
    // The destructor cancels: what has not begun never does, and nobody waits for ever.
  });
  EXPECT_EQ(ran, 0);
}

// -- 34, 35, 36: partial joins --------------------------------------------------------------------

TEST_F(InstanceGroup, StaticPartialJoinGoesOnWhileTheRestRuns) {
  std::latch gate(1);
  bool slow_ended = false;
  instance_group<int, int> group(pool_,
                                 [&](int x) {
                                   if (x < 0) {
                                     gate.wait();
                                     slow_ended = true;
                                   }
                                   return x;
                                 },
                                 {.join = n_of(2, rest::let_finish)});
  add_all(group, {-1, 1, 2});
  const auto outcomes = sync_wait(group.join());
  EXPECT_THAT(indices(outcomes), ElementsAre(1, 2));
  EXPECT_EQ(group.progress().running, 1U);
  gate.count_down();
  sync_wait(group.drain());
  EXPECT_TRUE(slow_ended);
  EXPECT_EQ(group.progress().values, 3U);
  EXPECT_EQ(group.ended_by(), group_end::enough);
}

TEST_F(InstanceGroup, DestructorDoesNotCancelWhatTheRuleLetsFinish) {
  std::latch gate(1);
  bool was_stopped = true;
  {
    instance_group<int> group(pool_,
                              [&](const std::stop_token& stop, int x) {
                                if (x > 0) return;
                                gate.wait();
                                was_stopped = stop.stop_requested();
                              },
                              {.join = n_of(1, rest::let_finish)});
    add_all(group, {0, 1});
    sync_wait(group.join());
    gate.count_down();
  }
  EXPECT_FALSE(was_stopped);
}

TEST_F(InstanceGroup, CancellingPartialJoinStopsTheRestAndWaitsForIt) {
  instance_group<int, int> group(pool_,
                                 [](const std::stop_token& stop, int x) {
                                   if (x < 0) wait_for_stop(stop);
                                   if (x < 0) throw std::runtime_error("no use");
                                   return x;
                                 },
                                 {.join = n_of(2, rest::cancel)});
  auto ticket = group.open();
  for (const int x : {-1, 1, 2}) EXPECT_TRUE(ticket.add(x));
  const auto outcomes = sync_wait(group.join());
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::cancelled, kind::value, kind::value));
  EXPECT_FALSE(ticket.add(3)) << "the group is complete";
}

TEST_F(InstanceGroup, DynamicPartialJoinAsksItsPredicateAfterEachCompletion) {
  std::vector<std::size_t> seen;
  instance_group<int, int> group(pool_, [](int x) { return x; },
                                 {.join = until([&seen](const group_progress& p) {
                                    seen.push_back(p.ended());
                                    return p.values == 3;
                                  }),
                                  .max_running = 1});
  auto ticket = group.open();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ticket.add(i));
  EXPECT_THAT(sync_wait(group.join()), SizeIs(3));
  EXPECT_FALSE(ticket.add(3));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(InstanceGroup, APredicateThatThrowsCancelsTheRestAndJoinThrowsThat) {
  std::latch begun(1);
  instance_group<int> group(pool_,
                            [&](const std::stop_token& stop, int x) {
                              if (x == 0) {
                                begun.count_down();
                                wait_for_stop(stop);
                              } else {
                                begun.wait();
                              }
                            },
                            {.join = until([](const group_progress&) -> bool {
                               throw std::runtime_error("cannot tell");
                             })});
  add_all(group, {0, 1});
  EXPECT_THAT([&] { sync_wait(group.join()); }, ThrowsMessage<std::runtime_error>("cannot tell"));
  EXPECT_EQ(group.ended_by(), group_end::bad_rule);
  EXPECT_EQ(group.progress().running, 0U);
}

TEST_F(InstanceGroup, NOfZeroIsCompleteFromTheStart) {
  instance_group<int> group(pool_, [](int) {}, {.join = n_of(0)});
  EXPECT_EQ(group.ended_by(), group_end::enough);
  EXPECT_FALSE(group.open().add(1));
  EXPECT_THAT(sync_wait(group.join()), IsEmpty());
}

TEST_F(InstanceGroup, AThresholdThatIsNeverReachedIsNoReasonToWait) {
  instance_group<int, int> group(pool_, [](int x) { return x; }, {.join = n_of(400)});
  add_all(group, {1, 2});
  EXPECT_THAT(sync_wait(group.join()), SizeIs(2));
  EXPECT_EQ(group.ended_by(), group_end::all_ended);
}

// -- errors, retries, tolerance -------------------------------------------------------------------

TEST_F(InstanceGroup, AnInstanceThatThrowsStopsNobody) {
  instance_group<int, int> group(pool_, [](int x) {
    if (x == 1) throw std::runtime_error("spilled");
    return x;
  });
  add_all(group, {0, 1, 2});
  const auto outcomes = sync_wait(group.join());
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::error, kind::value));
  EXPECT_THAT([&] { static_cast<void>(outcomes[1].value()); },
              ThrowsMessage<std::runtime_error>("spilled"));
}

TEST_F(InstanceGroup, AnInstanceThatThrowsCancelledWasCancelled) {
  instance_group<int> group(pool_, [](int) { throw cancelled(); }, {.retry = {.times = 3}});
  add_all(group, {0});
  const auto outcomes = sync_wait(group.join());
  EXPECT_EQ(outcomes.front().kind(), kind::cancelled);
  EXPECT_EQ(outcomes.front().attempts(), 1U) << "that is no failure";
}

TEST_F(InstanceGroup, RetriesKeepTheIndexAndTheItem) {
  for (const auto pause : {0ns, std::chrono::nanoseconds(1ms)}) {
    std::mutex mutex;
    std::vector<int> left{0, 2, 9};  // how often each fails
    instance_group<std::vector<int>, int> group(
        pool_,
        [&](std::vector<int> item) {
          const int id = item.at(0);
          item.clear();  // the next attempt gets a whole one
          const std::lock_guard lock(mutex);
          if (left[static_cast<std::size_t>(id)]-- > 0) {
            throw std::runtime_error("attempt of " + std::to_string(id));
          }
          return id;
        },
        {.retry = {.times = 2, .pause = pause}});
    add_all(group, {{0}, {1}, {2}});
    const auto outcomes = sync_wait(group.join());
    EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::value, kind::error));
    EXPECT_EQ(outcomes[0].attempts(), 1U);
    EXPECT_EQ(outcomes[1].attempts(), 3U);
    EXPECT_EQ(outcomes[1].value(), 1);
    EXPECT_EQ(outcomes[2].attempts(), 3U);
    EXPECT_THAT([&] { static_cast<void>(outcomes[2].value()); },
                ThrowsMessage<std::runtime_error>("attempt of 2"));
  }
}

TEST_F(InstanceGroup, OneThatRestsBeforeARetryIsWithdrawnWithTheOthers) {
  instance_group<int, int> group(pool_,
                                 [](int x) {
                                   if (x == 0) throw std::runtime_error("not now");
                                   return x;
                                 },
                                 {.max_running = 1, .retry = {.times = 1, .pause = 1h}});
  auto ticket = group.open();
  ticket.add(0);
  ticket.add(1);
  EXPECT_EQ(sync_wait(group.next())->value(), 1) << "its place was free";
  group.complete();
  const auto rest = sync_wait(group.join());
  ASSERT_THAT(kinds(rest), ElementsAre(kind::cancelled));
  EXPECT_EQ(rest.front().attempts(), 1U);
}

TEST_F(InstanceGroup, JoinThrowsTheLowestErrorWhenMoreFailThanAreTolerated) {
  std::latch both(2);
  instance_group<int> group(pool_,
                            [&](int x) {
                              if (x == 0) return;
                              both.arrive_and_wait();
                              throw std::runtime_error("error " + std::to_string(x));
                            },
                            {.tolerated = failure_tolerance{.count = 1}});
  add_all(group, {0, 1, 2});
  EXPECT_THAT([&] { sync_wait(group.join()); }, ThrowsMessage<std::runtime_error>("error 1"));
  EXPECT_EQ(group.ended_by(), group_end::failures);
}

TEST_F(InstanceGroup, ToleratedFailuresAreOutcomes) {
  instance_group<int> group(pool_,
                            [](int x) {
                              if (x < 2) throw std::runtime_error("x");
                            },
                            {.tolerated = failure_tolerance{.percent = 50}});
  add_all(group, {0, 1, 2, 3});
  EXPECT_THAT(kinds(sync_wait(group.join())),
              ElementsAre(kind::error, kind::error, kind::value, kind::value));
}

TEST(InstanceGroupPlaces, ThatTakeNoMoreMakeInstancesFail) {
  pool stopped({.workers = 1});
  stopped.shutdown();
  for (const std::size_t max_running : {std::size_t{0}, std::size_t{1}}) {
    instance_group<int> group(stopped, [](int) {}, {.max_running = max_running});
    add_all(group, {1, 2, 3});
    const auto outcomes = sync_wait(group.join());
    ASSERT_THAT(outcomes, SizeIs(3));
    EXPECT_THROW(static_cast<void>(outcomes[2].value()), pool_stopped);
  }
}

TEST(InstanceGroupPlaces, ThatTakeNoMoreAreNotAskedAgain) {
  pool p({.workers = 1});
  p.shutdown();
  instance_group<int> group(p, [](int) {}, {.retry = {.times = 5, .pause = 1h}});
  add_all(group, {1});
  const auto outcomes = sync_wait(group.join());
  ASSERT_THAT(kinds(outcomes), ElementsAre(kind::error));
  EXPECT_EQ(outcomes[0].attempts(), 1U);
  EXPECT_THROW(std::rethrow_exception(outcomes[0].error()), pool_stopped);
}

// The newest task is asked to stop first, so when the oldest ends all have been asked.
TEST(InstanceGroupInLanes, OneThatTookTooLongAndIsThenStoppedByItsSchedulerHasTimedOut) {
  hybrid_scheduler hs({.cpu_workers = 1});
  async_event never;
  std::latch all_were_asked(1);
  std::latch is_late(1);
  auto oldest = hs.spawn_io([](async_event& e, std::latch& asked) -> task<> {
    try {
      co_await e.wait();
    } catch (const cancelled&) {
      asked.count_down();
    }
  }(never, all_were_asked));
  instance_group<item_with_ticket> group(
      hs,
      [&](const std::stop_token& stop, const item_with_ticket&) {
        wait_for_stop(stop);
        is_late.count_down();
        all_were_asked.wait();
        throw cancelled();
      },
      {.retry = {.times = 1}, .timeout = 0s, .lane = lane_kind::blocking});
  auto more = std::make_shared<instance_ticket<item_with_ticket>>(group.open());
  group.open().add({std::move(more)});  // is closed when the instance has ended for good
  is_late.wait();
  std::jthread ends([&] { hs.shutdown({.let_run = 0ms}); });
  const auto outcomes = sync_wait(group.join());
  ASSERT_THAT(kinds(outcomes), ElementsAre(kind::timed_out));
  EXPECT_EQ(outcomes[0].attempts(), 1U);
}

TEST(InstanceGroupPlaces, ThatAreCancelledDropWhatHasNotBegun) {
  pool p({.workers = 1});
  std::latch begun(1);
  instance_group<int> group(p, [&](const std::stop_token&, int x) {
    if (x > 0) return;
    begun.count_down();
    wait_for_stop(pool::current()->stop_token());
  });
  add_all(group, {0, 1, 2});
  begun.wait();
  p.shutdown(shutdown_mode::cancel);
  const auto outcomes = sync_wait(group.join());
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::cancelled, kind::cancelled));
}

// -- limits ---------------------------------------------------------------------------------------

TEST_F(InstanceGroup, RunsNoMoreAtOnceThanItMay) {
  pool wide({.workers = 4});
  std::mutex mutex;
  int running = 0;
  int most = 0;
  instance_group<int> group(wide,
                            [&](int) -> task<> {
                              {
                                const std::lock_guard lock(mutex);
                                most = std::max(most, ++running);
                              }
                              co_await yield();
                              const std::lock_guard lock(mutex);
                              --running;
                            },
                            {.max_running = 3});
  add_all(group, std::vector<int>(1000));
  EXPECT_THAT(sync_wait(group.join()), SizeIs(1000));
  EXPECT_LE(most, 3);
}

TEST_F(InstanceGroup, AnAttemptThatTakesTooLongIsStoppedEvenWhenEveryWorkerIsBusy) {
  pool one({.workers = 1});
  instance_group<int, int> group(one,
                                 [](const std::stop_token& stop, int x) {
                                   if (x < 0) wait_for_stop(stop);
                                   if (x < 0) throw std::runtime_error("in the middle of it");
                                   return x;
                                 },
                                 {.timeout = 1ms});
  add_all(group, {-1});
  const auto outcomes = sync_wait(group.join());
  EXPECT_EQ(outcomes.front().kind(), kind::timed_out);
  EXPECT_EQ(group.ended_by(), group_end::all_ended) << "the group has not timed out";
}

TEST_F(InstanceGroup, ATimeoutCountsFromTheStartOfTheAttempt) {
  std::latch free(1);
  pool busy({.workers = 1});
  busy.spawn([&] { free.wait(); });
  instance_group<int, int> waits(busy, [](int x) { return x; }, {.timeout = 1ms});
  add_all(waits, {1});
  // One that has begun after it was added, and has had more time.
  instance_group<int> begun(pool_, [](const std::stop_token& stop, int) { wait_for_stop(stop); },
                            {.timeout = 2ms});
  add_all(begun, {0});
  sync_wait(begun.join());
  free.count_down();
  EXPECT_THAT(kinds(sync_wait(waits.join())), ElementsAre(kind::value))
      << "it has waited for its turn longer than it may take";
}

TEST_F(InstanceGroup, AnAttemptThatTimedOutIsRetried) {
  async_event never;
  int attempts = 0;
  instance_group<int, int> group(pool_,
                                 [&](int x) -> task<int> {
                                   if (++attempts < 3) co_await never.wait();
                                   co_return x;
                                 },
                                 {.retry = {.times = 2}, .timeout = 1ms});
  add_all(group, {7});
  const auto outcomes = sync_wait(group.join());
  EXPECT_EQ(outcomes.front().value(), 7);
  EXPECT_EQ(outcomes.front().attempts(), 3U);
}

TEST_F(InstanceGroup, WhenTheTimeOfAllIsOverTheRestTimedOut) {
  async_event never;
  instance_group<int, int> group(pool_,
                                 [&](int x) -> task<int> {
                                   if (x != 0) co_await never.wait();
                                   co_return x;
                                 },
                                 {.max_running = 1, .total_timeout = 500ms});
  const auto ticket = [&] {
    auto t = group.open();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(t.add(i));
    return t;
  }();
  const auto outcomes = sync_wait(group.join());
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::timed_out, kind::timed_out));
  EXPECT_EQ(outcomes[2].attempts(), 0U);
  EXPECT_EQ(group.ended_by(), group_end::timed_out);
}

TEST_F(InstanceGroup, CancellingStopsAlsoWhatTheJoinRuleLetFinish) {
  async_event never;
  instance_group<int, int> group(pool_,
                                 [&](int x) -> task<int> {
                                   if (x != 0) co_await never.wait();
                                   co_return x;
                                 },
                                 {.join = n_of(1, rest::let_finish)});
  add_all(group, {1, 0});
  EXPECT_EQ(sync_wait(group.join()).size(), 1U);
  group.cancel();
  sync_wait(group.drain());
}

TEST_F(InstanceGroup, TheTimeOfAllIsOverAlsoForWhatTheJoinRuleLetFinish) {
  async_event never;
  instance_group<int, int> group(pool_,
                                 [&](int x) -> task<int> {
                                   if (x != 0) co_await never.wait();
                                   co_return x;
                                 },
                                 {.join = n_of(1, rest::let_finish), .total_timeout = 50ms});
  add_all(group, {1, 0});
  sync_wait(group.drain());
}

TEST_F(InstanceGroup, ATicketThatWasMovedFromAddsNothing) {
  instance_group<int> group(pool_, [](int) {});
  auto ticket = group.open();
  const auto taken = std::move(ticket);
  EXPECT_FALSE(ticket.add(1));            // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(ticket.another().add(1));  // NOLINT(bugprone-use-after-move)
}

// Who starts an instance hands it to the pool without the lock; the group waits for that.
TEST_F(InstanceGroup, MayEndWithItsPoolWhileATicketAdds) {
  const int rounds = test::rounds(500);
  for (int i = 0; i < rounds; ++i) {
    std::optional<pool> place(std::in_place, pool_options{.workers = 1});
    std::optional<instance_group<int>> group(std::in_place, *place, [](int) {});
    std::latch both(2);
    std::jthread adder([&both, ticket = group->open()]() mutable {
      both.arrive_and_wait();
      while (ticket.add(1)) {
      }
    });
    both.arrive_and_wait();
    group.reset();
    place.reset();
  }
}

// A launch lasts as long as the pool has no room, and the owner may be the one to make it.
TEST_F(InstanceGroup, ItsOwnerHelpsWhileALaunchWaitsForRoom) {
  pool small({.workers = 1, .max_pending = 1, .overflow = when_full::block});
  const test::watchdog watchdog(60s, small);
  std::latch made(1);
  std::latch destroy(1);
  std::optional<instance_ticket<int>> ticket;
  instance_group<int>* seen = nullptr;
  auto owner = small.submit([&] {
    instance_group<int> group(small, [](int) {});
    seen = &group;
    ticket = group.open();
    made.count_down();
    destroy.wait();
  });
  made.wait();
  small.spawn([] {});  // there is no more room
  const std::jthread adder([&] { ticket->add(1); });
  while (seen->progress().added == 0) std::this_thread::yield();
  destroy.count_down();
  owner.get();
}

TEST_F(InstanceGroup, ItsOwnerHelpsWhileAnInstanceRunsInTheThreadThatAddedIt) {
  pool small({.workers = 1, .max_pending = 1, .overflow = when_full::run_in_caller});
  const test::watchdog watchdog(60s, small);
  std::latch made(1);
  std::latch runs(1);
  std::latch others_ran(1);
  std::optional<instance_ticket<int>> ticket;
  auto owner = small.submit([&] {
    instance_group<int> group(small, [&](int) {
      runs.count_down();
      others_ran.wait();
    });
    ticket = group.open();
    made.count_down();
    runs.wait();
  });
  made.wait();
  small.spawn([&] { others_ran.count_down(); });  // there is no more room
  const std::jthread adder([&] { ticket->add(1); });
  owner.get();
}

// Most instances leave their ends for others to count; whoever asks, and whenever, sees all.
TEST_F(InstanceGroup, CountsEveryEndOnceWhoeverAsks) {
  const int rounds = test::rounds(400);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    instance_group<int, int> group(pool_, [](int x) { return x; });
    std::size_t added = 0;
    std::jthread adder([&, ticket = group.open()]() mutable {
      for (int i = 0; i < 50; ++i) added += ticket.add(i) ? 1 : 0;
      ticket.close();
      ticket = group.open();  // unless all have ended
      for (int i = 0; i < 10; ++i) added += ticket.add(i) ? 1 : 0;
    });
    std::size_t given = 0;
    switch (round % 4) {
      case 0:
        given = sync_wait(group.join()).size();
        break;
      case 1:
        while (sync_wait(group.next())) ++given;
        break;
      case 2:
        while (group.ended_by() == group_end::not_yet) {
          const group_progress p = group.progress();
          EXPECT_LE(p.ended() + p.running, p.added);
        }
        given = sync_wait(group.join()).size();
        break;
      default:
        group.complete();
        given = sync_wait(group.join()).size();
    }
    adder.join();
    EXPECT_EQ(given, added);
    EXPECT_EQ(group.progress().ended(), added);
    EXPECT_EQ(group.progress().running, 0U);
  }
}

TEST_F(InstanceGroup, CountsEveryEndAsWhatItIsWhoeverAsks) {
  const int rounds = test::rounds(200);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const bool reads = round % 2 == 0;
    instance_group<int, int> group(
        pool_,
        [](int x) {
          if (x % 5 == 3) throw std::runtime_error("three");
          if (x % 5 == 4) throw cancelled();
          return x;
        },
        {.order = round % 3 == 0 ? result_order::by_completion : result_order::by_index});
    std::jthread adder([ticket = group.open()]() mutable {
      for (int i = 0; i < 50; ++i) ticket.add(i);
    });
    std::vector<outcome<int>> outcomes;
    if (reads) {
      while (auto o = sync_wait(group.next())) outcomes.push_back(std::move(*o));
    } else {
      outcomes = sync_wait(group.join());
    }
    EXPECT_EQ(group.progress(),
              (group_progress{.added = 50, .values = 30, .errors = 10, .cancelled = 10}));
    ASSERT_THAT(outcomes, SizeIs(50));
    for (const auto& o : outcomes) {
      const std::size_t rest = o.index() % 5;
      EXPECT_EQ(o.kind(), rest == 3 ? kind::error : rest == 4 ? kind::cancelled : kind::value);
    }
  }
}

// It goes on in complete() when the owner has gone with the group.
TEST_F(InstanceGroup, WhoCompletesItMayBeOvertakenByItsOwner) {
  const int rounds = test::rounds(2000);
  for (int i = 0; i < rounds; ++i) {
    async_event never;
    std::optional<instance_group<int>> group(std::in_place, pool_,
                                             [&](int) -> task<> { co_await never.wait(); });
    add_all(*group, {1});
    const std::jthread completes([&g = *group] { g.complete(); });
    sync_wait(group->join());
    group.reset();
  }
}

TEST_F(InstanceGroup, TicketsInItemsThatCouldNotStartAreClosed) {
  pool closed({.workers = 1});
  instance_group<item_with_ticket> group(closed, [](const item_with_ticket&) {});
  closed.shutdown();
  {
    auto ticket = group.open();
    ticket.add({std::make_shared<instance_ticket<item_with_ticket>>(group.open())});
  }
  EXPECT_THAT(kinds(sync_wait(group.join())), ElementsAre(kind::error));
}

TEST_F(InstanceGroup, TicketsInItemsThatTheirSchedulerWithdrewAreClosed) {
  std::latch busy(1);
  std::latch free(1);
  hybrid_scheduler hs({.cpu_workers = 1});
  hs.cpu_pool().spawn([&] {
    busy.count_down();
    free.wait();
  });
  busy.wait();
  instance_group<item_with_ticket> group(hs, [](const item_with_ticket&) {});
  {
    auto ticket = group.open();
    ticket.add({std::make_shared<instance_ticket<item_with_ticket>>(group.open())});
  }
  hs.shutdown({.let_run = 0ms, .then_stop = 1h});
  EXPECT_THAT(kinds(sync_wait(group.join())), ElementsAre(kind::cancelled));
  free.count_down();
}

// What was asked to stop before it began has ended, and its lane has it still.
TEST_F(InstanceGroup, EndsBeforeItsLaneHasSeenWhatWasWithdrawn) {
  std::latch free(1);
  pool busy({.workers = 1});
  busy.spawn([&] { free.wait(); });
  const auto held = std::make_shared<int>();
  {
    instance_group<std::shared_ptr<int>> group(
        busy, [held](const std::shared_ptr<int>&) { FAIL() << "it was withdrawn"; });
    add_all(group, {held, held});
    group.complete();
    EXPECT_THAT(kinds(sync_wait(group.join())), ElementsAre(kind::cancelled, kind::cancelled));
  }
  EXPECT_EQ(held.use_count(), 1) << "neither body nor items are kept for the lane";
  free.count_down();
}

TEST_F(InstanceGroup, ItsBodyGoesWithItAlthoughTicketsAreLeft) {
  const auto held = std::make_shared<int>();
  std::optional<instance_ticket<int>> ticket;
  {
    instance_group<int> group(pool_, [held](int) {});
    ticket = group.open();
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(ticket->add(1));
}

// Retries begin while the one before is asked to stop: the new attempt is not the one that was
// meant.
TEST_F(InstanceGroup, AStopReachesTheAttemptThatTookTooLongAndNotTheNext) {
  const int rounds = test::rounds(2000);
  instance_group<int, int> group(
      pool_,
      [attempts = std::make_shared<std::vector<int>>(rounds)](const std::stop_token& stop, int x) {
        const auto number = ++(*attempts)[static_cast<std::size_t>(x)];
        if (number == 1) wait_for_stop(stop);
        if (number == 1) throw std::runtime_error("the first");
        return number;
      },
      {.retry = {.times = 1}, .timeout = 100us});
  {
    auto ticket = group.open();
    for (int i = 0; i < rounds; ++i) ticket.add(i);
  }
  for (const auto& o : sync_wait(group.join())) {
    ASSERT_EQ(o.kind(), kind::value) << o.index();
    EXPECT_EQ(o.attempts(), 2U);
  }
}

TEST_F(InstanceGroup, ATotalTimeoutOfAnEmptyGroupEndsIt) {
  instance_group<int> group(pool_, [](int) {}, {.total_timeout = 0ns});
  const auto ticket = group.open();
  EXPECT_THAT(sync_wait(group.join()), IsEmpty());
  EXPECT_EQ(group.ended_by(), group_end::timed_out);
}

TEST_F(InstanceGroup, TimeoutsThatAreNotReachedLeaveNothingBehind) {
  for (int round = 0; round < test::rounds(200); ++round) {
    instance_group<int, int> group(pool_, [](int x) { return x; },
                                   {.retry = {.times = 1, .pause = 1h},
                                    .timeout = std::chrono::hours(1),
                                    .total_timeout = std::chrono::nanoseconds::max()});
    add_all(group, {1, 2, 3});
    EXPECT_THAT(sync_wait(group.join()), SizeIs(3));
  }
}

TEST_F(InstanceGroup, RefusesBadOptionsAndBodies) {
  using group = instance_group<int>;
  EXPECT_THAT([&] { group(pool_, [](int) {}, {.timeout = -1s}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("weft: instance_group: ")));
  void (*const empty)(int) = nullptr;
  EXPECT_THAT([&] { group(pool_, empty); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("empty function")));
  EXPECT_THAT(
      [&] {
        instance_group<std::unique_ptr<int>>(pool_, [](const std::unique_ptr<int>&) {},
                                             {.retry = {.times = 1}});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("needs items that can be copied")));
}

// -- results --------------------------------------------------------------------------------------

TEST(InstanceGroupResults, AreInOrderOfCompletionIfAsked) {
  pool p({.deterministic_seed = 1});
  async_event second_ends;
  instance_group<int, int> group(p,
                                 [&](int x) -> task<int> {
                                   if (x == 0) co_await second_ends.wait();
                                   second_ends.set();
                                   co_return x;
                                 },
                                 {.order = result_order::by_completion});
  add_all(group, {0, 1});
  EXPECT_THAT(indices(sync_wait(p, group.join())), ElementsAre(1, 0));
}

// The one behind ends first, and the one in the middle throws.
class InstanceGroupThatEndsBackwards : public ::testing::Test {
 protected:
  task<int> end_after_the_next(int x) {
    if (x < 2) co_await ended_[x + 1].wait();
    ended_[x].set();
    if (x == 1) throw std::runtime_error("one");
    co_return x;
  }

  pool pool_{{.deterministic_seed = 1}};
  async_event ended_[3];
};

TEST_F(InstanceGroupThatEndsBackwards, HasFailuresInOrderOfCompletionToo) {
  instance_group<int, int> group(pool_, [this](int x) { return end_after_the_next(x); },
                                 {.order = result_order::by_completion});
  add_all(group, {0, 1, 2});
  const auto outcomes = sync_wait(pool_, group.join());
  EXPECT_THAT(indices(outcomes), ElementsAre(2, 1, 0));
  EXPECT_THAT(kinds(outcomes), ElementsAre(kind::value, kind::error, kind::value));
}

TEST_F(InstanceGroupThatEndsBackwards, TellsTheOrderAlsoToWhoBeginsToReadWhenAllHaveEnded) {
  instance_group<int, int> group(pool_, [this](int x) { return end_after_the_next(x); });
  add_all(group, {0, 1, 2});
  sync_wait(pool_, group.drain());
  std::vector<std::size_t> order;
  while (auto o = sync_wait(pool_, group.next())) order.push_back(o->index());
  EXPECT_THAT(order, ElementsAre(2, 1, 0));
  EXPECT_THAT(sync_wait(pool_, group.join()), IsEmpty()) << "each is given once";
}

TEST_F(InstanceGroupThatEndsBackwards, GivesWhatWasNotReadByIndex) {
  instance_group<int, int> group(pool_, [this](int x) { return end_after_the_next(x); });
  add_all(group, {0, 1, 2});
  EXPECT_EQ(sync_wait(pool_, group.next())->index(), 2U);
  EXPECT_THAT(indices(sync_wait(pool_, group.join())), ElementsAre(0, 1));
}

task<std::vector<int>> read_all(instance_group<int, int>& group) {
  std::vector<int> values;
  while (auto o = co_await group.next()) values.push_back(o->value());
  co_return values;
}

TEST_F(InstanceGroup, StreamsOutcomesAsTheyComeAndEndsWithTheGroup) {
  instance_group<int, int> group(pool_, [](int x) { return x; }, {.max_running = 1});
  add_all(group, {3, 1, 2});
  EXPECT_THAT(sync_wait(read_all(group)), ElementsAre(3, 1, 2));
  EXPECT_THAT(sync_wait(group.join()), IsEmpty()) << "each is given once";
}

TEST_F(InstanceGroup, AReaderCompletesItWhenItHasSeenEnough) {
  async_event never;
  instance_group<int, int> group(pool_, [&](int x) -> task<int> {
    if (x > 2) co_await never.wait();
    co_return x;
  });
  add_all(group, {1, 2, 3, 4});
  const auto read = [](instance_group<int, int>& g) -> task<int> {
    int sum = 0;
    while (auto o = co_await g.next()) {
      if (!*o) continue;
      sum += o->value();
      if (sum == 3) g.complete();
    }
    co_return sum;
  };
  EXPECT_EQ(sync_wait(read(group)), 3);
}

TEST_F(InstanceGroup, TheStreamOfACancelledGroupEndsWithCancelled) {
  instance_group<int, int> group(pool_, [](int x) { return x; });
  add_all(group, {1});
  sync_wait(group.drain());
  EXPECT_THAT(sync_wait(read_all(group)), ElementsAre(1));
  instance_group<int, int> other(pool_, [](int x) { return x; });
  other.cancel();
  EXPECT_THROW(sync_wait(read_all(other)), cancelled);
}

// -- the task that waits is asked to stop ---------------------------------------------------------

TEST_F(InstanceGroup, CancelsWhenTheTaskThatJoinsIsAskedToStopAndIsWaitedFor) {
  for (const bool before : {false, true}) {
    std::stop_source stop;
    std::latch begun(2);
    int ended = 0;
    std::mutex mutex;
    instance_group<int> group(pool_, [&](const std::stop_token& s, int) {
      begun.count_down();
      wait_for_stop(s);
      const std::lock_guard lock(mutex);
      ++ended;
    });
    add_all(group, {1, 2});
    begun.wait();
    std::jthread stopper;
    if (before) {
      stop.request_stop();
    } else {
      stopper = std::jthread([&] { stop.request_stop(); });
    }
    EXPECT_THROW(sync_wait(group.join(), stop.get_token()), cancelled);
    EXPECT_EQ(ended, 2);
    EXPECT_EQ(group.ended_by(), group_end::cancelled);
  }
}

TEST_F(InstanceGroup, IsJoinedInALaneThatHasEnded) {
  async_event never;
  auto ended = std::make_unique<pool>(pool_options{.workers = 1});
  instance_group<int> group(pool_, [&](int) -> task<> { co_await never.wait(); });
  add_all(group, {1});
  auto joined = spawn(*ended, group.join());
  ended->shutdown();
  joined.request_stop();
  EXPECT_THROW(joined.get(), cancelled);
}

}  // namespace
}  // namespace weft
