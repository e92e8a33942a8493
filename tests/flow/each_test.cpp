#include <weft/flow/each.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <latch>
#include <list>
#include <memory>
#include <mutex>
#include <ranges>
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
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/io/hybrid.hpp>

#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

// What each() does must not depend on whether options make it use a group.
const std::vector<instance_options> plain_and_grouped = {{}, {.max_running = 100}};

// Sleeps until it is asked to stop.
void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

class Each : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const instance_options& options() const { return plain_and_grouped[GetParam()]; }

  pool pool_{{.workers = 2}};
  test::watchdog watchdog_{60s, pool_};
};

INSTANTIATE_TEST_SUITE_P(, Each, ::testing::Values(0U, 1U),
                         [](const auto& which) { return which.param == 0 ? "Plain" : "InAGroup"; });

TEST_P(Each, GivesValuesInTheOrderOfItems) {
  const std::vector<int> items{3, 1, 2};
  EXPECT_THAT(sync_wait(each(
                  pool_, items, [](int x) { return 10 * x; }, options())),
              ElementsAre(30, 10, 20));
  const auto coroutine = [](int x) -> task<int> { co_return 10 * x; };
  EXPECT_THAT(sync_wait(each(pool_, items, coroutine, options())), ElementsAre(30, 10, 20));
}

TEST_P(Each, OfNothingGivesNothing) {
  EXPECT_THAT(
      sync_wait(each(pool_, std::vector<int>(), [](int x) { return x; }, options())), IsEmpty());
}

TEST_P(Each, TakesRangesThatAreNoVectorsAndKeepsRvalues) {
  EXPECT_THAT(sync_wait(each(
                  pool_, std::list<std::string>{"a", "b"},
                  [](const std::string& s) { return s + s; }, options())),
              ElementsAre("aa", "bb"));
  EXPECT_THAT(sync_wait(each(
                  pool_, std::views::iota(0, 3), [](int x) { return x; }, options())),
              ElementsAre(0, 1, 2));
}

TEST_P(Each, GivesReferencesToItems) {
  std::vector<int> items{1, 2, 3};
  const auto nothing = sync_wait(each(pool_, items, [](int& x) { x = -x; }, options()));
  EXPECT_THAT(items, ElementsAre(-1, -2, -3));
  EXPECT_EQ(nothing, std::vector<std::monostate>(3));
}

TEST_P(Each, KeepsItemsThatARangeMakesOnTheWayUntilTheirInstancesHaveEnded) {
  const auto made = std::views::iota(1, 4) |
                    std::views::transform([](int x) { return std::string(100, char('a' + x)); });
  const auto body = [](const std::string& s) -> task<std::string> {
    co_await yield();
    co_return s.substr(99);
  };
  EXPECT_THAT(sync_wait(each(pool_, made, body, options())), ElementsAre("b", "c", "d"));
}

TEST_P(Each, NeedsNoCopiesOfResults) {
  const std::vector<int> items{7};
  auto values =
      sync_wait(each(pool_, items, [](int x) { return std::make_unique<int>(x); }, options()));
  EXPECT_EQ(*values.at(0), 7);
}

TEST_P(Each, RunsAllAndThrowsTheErrorOfTheLowestIndex) {
  std::mutex mutex;
  int ran = 0;
  const std::vector<int> items{0, 1, 2, 3};
  const auto body = [&](int x) {
    {
      const std::lock_guard lock(mutex);
      ++ran;
    }
    if (x % 2 == 1) throw std::runtime_error("error " + std::to_string(x));
  };
  EXPECT_THAT([&] { sync_wait(each(pool_, items, body, options())); },
              ThrowsMessage<std::runtime_error>("error 1"));
  EXPECT_EQ(ran, 4);
}

TEST_P(Each, StopsItsInstancesWhenTheTaskIsAskedToStop) {
  async_event never;
  std::stop_source stop;
  std::latch begun(2);
  const std::vector<int> items{0, 1};
  std::jthread stopper([&] {
    begun.wait();
    stop.request_stop();
  });
  const auto body = [&](int) -> task<> {
    begun.count_down();
    co_await never.wait();
  };
  EXPECT_THROW(sync_wait(each(pool_, items, body, options()), stop.get_token()), cancelled);
}

TEST_P(Each, BeginsNothingForATaskThatWasAskedToStopBefore) {
  std::stop_source stop;
  stop.request_stop();
  int ran = 0;
  const std::vector<int> items{0};
  pool alone({.deterministic_seed = 1});
  EXPECT_THROW(sync_wait(alone,
                         each(
                             alone, items, [&](int) { ++ran; }, options()),
                         stop.get_token()),
               cancelled);
  EXPECT_EQ(ran, 0);
}

TEST_P(Each, GivesItsBodyAStopToken) {
  std::stop_source stop;
  std::latch begun(1);
  const std::vector<int> items{0};
  std::jthread stopper([&] {
    begun.wait();
    stop.request_stop();
  });
  const auto body = [&](const std::stop_token& token, int) {
    begun.count_down();
    while (!token.stop_requested()) std::this_thread::yield();
  };
  EXPECT_THROW(sync_wait(each(pool_, items, body, options()), stop.get_token()), cancelled);
}

TEST_P(Each, RunsInTheLaneOfItsKindAndComesBack) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const auto is_cpu = [&hs] { return pool::current() == &hs.cpu_pool(); };
  const auto program = [](hybrid_scheduler& s, auto where, instance_options o) -> task<> {
    const std::vector<int> items{0};
    co_await s.io();
    const auto functions = co_await each(s, items, [&](int) -> int { return where(); }, o);
    EXPECT_THAT(functions, ElementsAre(1));
    EXPECT_FALSE(where()) << "the caller is back in its lane";
    co_await s.cpu();
    const auto coroutine = [&](int) -> task<int> { co_return where(); };
    const auto coroutines = co_await each(s, items, coroutine, o);
    EXPECT_THAT(coroutines, ElementsAre(0));
    EXPECT_TRUE(where());
    o.lane = lane_kind::cpu;
    const auto moved = co_await each(s, items, coroutine, o);
    EXPECT_THAT(moved, ElementsAre(1));
  };
  sync_wait(program(hs, is_cpu, options()));
}

TEST_P(Each, NestsAcrossLanesOfOneIoThread) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const std::vector<int> items{1, 2, 3};
  const auto inner = [&](int x) -> task<int> {
    const auto values = co_await each(hs, items, [x](int y) { return x * y; }, options());
    co_return values[0] + values[1] + values[2];
  };
  EXPECT_THAT(sync_wait(each(hs, items, inner, options())), ElementsAre(6, 12, 18));
}

TEST_P(Each, RunsNothingInAPoolThatTakesNoMore) {
  pool stopped({.workers = 1});
  stopped.shutdown();
  bool ran = false;
  const std::vector<int> items{1};
  EXPECT_THROW(sync_wait(each(stopped, items, [&](int) { ran = true; }, options())), pool_stopped);
  EXPECT_FALSE(ran);
}

TEST_P(Each, SaysWhatIsWrongWithItsOptionsWhenCalled) {
  const std::vector<int> items{1};
  const auto id = [](int x) { return x; };
  EXPECT_THAT([&] { static_cast<void>(each(pool_, items, id, {.total_timeout = -1s})); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("weft: each: ")));
  EXPECT_THAT([&] { static_cast<void>(each(pool_, items, id, {.join = n_of(1)})); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("join leaves instances without")));
  EXPECT_THAT(
      [&] {
        static_cast<void>(each(pool_, items, id, {.tolerated = failure_tolerance{.count = 1}}));
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("use each_outcome()")));
}

class EachWithOptions : public Each {};
INSTANTIATE_TEST_SUITE_P(, EachWithOptions, ::testing::Values(0U));

TEST_P(EachWithOptions, FailsFastWhenNoFailureIsTolerated) {
  async_event never;
  const std::vector<int> items{0, 1, 2};
  const auto body = [&](int x) -> task<> {
    if (x != 1) co_await never.wait();
    throw std::runtime_error("error " + std::to_string(x));
  };
  EXPECT_THAT([&] { sync_wait(each(pool_, items, body, {.tolerated = failure_tolerance{}})); },
              ThrowsMessage<std::runtime_error>("error 1"));
}

TEST_P(EachWithOptions, ThrowsTimedOutWhenTimeIsOver) {
  async_event never;
  const std::vector<int> items{0, 1};
  const auto body = [&](int x) -> task<> {
    if (x == 1) co_await never.wait();
  };
  EXPECT_THAT([&] { sync_wait(each(pool_, items, body, {.timeout = 1ms})); },
              ThrowsMessage<timed_out>(HasSubstr("instance 1 took longer")));
  EXPECT_THROW(sync_wait(each(pool_, items, body, {.total_timeout = 1ms})), timed_out);
}

// The first instance gives a value although it was asked to stop; the second item comes too late.
TEST_P(EachWithOptions, ItemsThatWereNotAddedInTimeTimedOut) {
  const instance_options options{.total_timeout = 1ms};
  std::atomic<bool> is_over = false;
  const auto run = [&](auto call) {
    is_over = false;
    const auto body = [&](const std::stop_token& stop, int x) {
      wait_for_stop(stop);
      is_over = true;
      return x;
    };
    // On a machine that is slow enough not even the first one begins, and says nothing.
    const auto patience = std::chrono::steady_clock::now() + 1s;
    const auto late = std::views::filter([&, patience](int x) {
      while (x > 0 && !is_over && std::chrono::steady_clock::now() < patience)
        std::this_thread::yield();
      return true;
    });
    return call(std::views::iota(0, 3) | late, body);
  };
  try {
    run([&](auto items, auto body) { return sync_wait(each(pool_, items, body, options)); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const timed_out& e) {
    EXPECT_THAT(e.what(), HasSubstr(is_over ? "instance 1 had not begun" : "instance 0"));
  }
  const auto outcomes = run(
      [&](auto items, auto body) { return sync_wait(each_outcome(pool_, items, body, options)); });
  ASSERT_THAT(outcomes, SizeIs(3));
  EXPECT_EQ(outcomes[0].has_value(), is_over.load());
  EXPECT_EQ(outcomes[2].kind(), outcome_kind::timed_out);
  EXPECT_EQ(outcomes[2].index(), 2U);
}

TEST_P(EachWithOptions, RetriesWithTheSameItem) {
  const std::vector<int> items{5};
  int attempts = 0;
  const auto body = [&](int x) {
    if (++attempts < 3) throw std::runtime_error("not yet");
    return x;
  };
  EXPECT_THAT(sync_wait(each(pool_, items, body, {.retry = {.times = 2}})), ElementsAre(5));
}

TEST_P(EachWithOptions, ItsTaskKeepsTheNameOfInstances) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const std::vector<int> items{0};
  const auto body = [&](int) { return hs.dump(); };
  auto work = each(hs, items, body, {.name = std::string("a name that is gone at the semicolon")});
  EXPECT_THAT(sync_wait(std::move(work)),
              ElementsAre(HasSubstr("a name that is gone at the semicolon")));
}

TEST_P(EachWithOptions, CallsInTheBlockingLaneMaySleep) {
  hybrid_scheduler hs({.cpu_workers = 1});
  std::latch all(4);  // more than there are cores
  const std::vector<int> items(4);
  sync_wait(each(hs, items, [&](int) { all.arrive_and_wait(); }, {.lane = lane_kind::blocking}));
}

TEST_P(EachWithOptions, OutcomesTellWhatBecameOfEveryInstance) {
  const std::vector<int> items{0, 1, 2};
  const auto body = [](int x) {
    if (x == 1) throw std::runtime_error("spilled");
    return x;
  };
  const auto outcomes = sync_wait(each_outcome(pool_, items, body));
  ASSERT_THAT(outcomes, SizeIs(3));
  EXPECT_EQ(outcomes[0].value(), 0);
  EXPECT_EQ(outcomes[1].kind(), outcome_kind::error);
  EXPECT_EQ(outcomes[2].value(), 2);
}

// 32, 35: a cancelling join of some of the branches.
TEST_P(EachWithOptions, OutcomesOfAPartialJoinAreThoseThatWereNeeded) {
  async_event never;
  const std::vector<int> items{0, 1, 2, 3};
  const auto body = [&](int x) -> task<int> {
    if (x < 2) co_await never.wait();
    co_return x;
  };
  const auto outcomes = sync_wait(each_outcome(pool_, items, body, {.join = n_of(2)}));
  ASSERT_THAT(outcomes, SizeIs(4));
  EXPECT_EQ(outcomes[0].kind(), outcome_kind::cancelled);
  EXPECT_EQ(outcomes[1].kind(), outcome_kind::cancelled);
  EXPECT_EQ(outcomes[2].value(), 2);
  EXPECT_EQ(outcomes[3].value(), 3);
}

TEST_P(EachWithOptions, OutcomesOfAStaticPartialJoinWaitForTheRest) {
  const std::vector<int> items{0, 1};
  std::latch first_ended(1);
  bool second_ended = false;
  const auto body = [&](int x) {
    if (x == 0) return;
    first_ended.wait();
    second_ended = true;
  };
  std::jthread opener([&] { first_ended.count_down(); });
  const auto outcomes =
      sync_wait(each_outcome(pool_, items, body, {.join = n_of(1, rest::let_finish)}));
  EXPECT_TRUE(second_ended || outcomes.size() == 1) << "or it never began";
}

// 13: the count is in the type.
TEST(Times, CallsWithTheIndexOrWithNothing) {
  pool p({.workers = 2});
  const std::array<std::size_t, 3> squares =
      sync_wait(times<3>(p, [](std::size_t i) { return i * i; }));
  EXPECT_THAT(squares, ElementsAre(0, 1, 4));
  const std::array<std::string, 2> twice = sync_wait(times<2>(p, [] { return std::string("x"); }));
  EXPECT_THAT(twice, ElementsAre("x", "x"));
  const std::array<std::monostate, 6> six =
      sync_wait(times<6>(p, [](std::stop_token) -> task<> { co_return; }, {.max_running = 2}));
  EXPECT_THAT(six, SizeIs(6));
  EXPECT_THAT(sync_wait(times<0>(p, [] { return 1; })), IsEmpty());
}

TEST(Times, NeedsNoDefaultForResults) {
  struct signature {
    explicit signature(std::size_t i) : by(i) {}
    std::size_t by;
  };
  pool p({.workers = 1});
  const auto both = sync_wait(times<2>(p, [](std::size_t i) { return signature(i); }));
  EXPECT_EQ(both[1].by, 1U);
}

TEST(Times, ThrowsTheErrorOfTheLowestIndex) {
  pool p({.workers = 2});
  EXPECT_THAT(
      [&] {
        sync_wait(times<4>(p, [](std::size_t i) {
          if (i > 0) throw std::runtime_error("error " + std::to_string(i));
        }));
      },
      ThrowsMessage<std::runtime_error>("error 1"));
}

// The group that it has made is on the thread that its instances need.
TEST(EachOnAnIoThread, ThrowsWhatTheRangeThrows) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const auto until_two = [](int i) {
    if (i == 2) throw std::runtime_error("bad range");
    return i;
  };
  EXPECT_THROW(hs.spawn_io([](hybrid_scheduler& s, auto make) -> task<> {
                   static_cast<void>(
                       co_await each(s,
                                     std::views::iota(0, 4) | std::views::transform(make) |
                                         std::views::filter([](int) { return true; }),
                                     [](int) -> task<> { co_await yield(); }, {.max_running = 2}));
                 }(hs, until_two))
                   .get(),
               std::runtime_error);
}

}  // namespace
}  // namespace weft
