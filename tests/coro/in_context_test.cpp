#include <weft/coro/in_context.hpp>

#include <latch>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/await_future.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>

namespace {

using namespace std::chrono_literals;
using weft::context;
using weft::task;

std::string current_name() { return std::string(context::current().name()); }
task<std::string> name_now() { co_return current_name(); }

// With how many workers; 0: in the thread of sync_wait.
class InContext : public ::testing::TestWithParam<unsigned> {
 protected:
  template <class T>
  T wait_for(task<T> t) {
    if (GetParam() == 0) return weft::sync_wait(std::move(t));
    weft::pool pool({.workers = GetParam()});
    return weft::sync_wait(pool, std::move(t));
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, InContext, ::testing::Values(0U, 1U, 2U));

TEST_P(InContext, ATaskHasTheContextOfWhoWaitsForIt) {
  const weft::context_scope scope(context::new_trace("request"));
  EXPECT_EQ(wait_for(name_now()), "request");
}

TEST_P(InContext, IsKeptAcrossEveryAwait) {
  const weft::context_scope scope(context::new_trace("request"));
  EXPECT_EQ(wait_for([]() -> task<std::string> {
              std::string seen;
              co_await weft::yield();
              seen += current_name() + " ";
              co_await weft::sleep_for(1ms);
              seen += current_name() + " ";
              seen += co_await name_now() + " ";
              auto [a, b] = co_await weft::when_all(name_now(), name_now());
              co_return seen + a + " " + b;
            }()),
            "request request request request request");
}

TEST_P(InContext, GoesFromATaskToWhatItSpawns) {
  weft::pool other({.workers = 1});
  const weft::context_scope scope(context::new_trace("request"));
  EXPECT_EQ(wait_for([](weft::pool& p) -> task<std::string> {
              const std::string function = co_await p.submit(current_name);
              const std::string coroutine = co_await weft::spawn(p, name_now());
              const std::string named = co_await weft::spawn(p, name_now(), "part");
              co_return function + " " + coroutine + " " + named;
            }(other)),
            "request request part");
}

TEST_P(InContext, RunsATaskOnAnotherBehalf) {
  const weft::context_scope scope(context::new_trace("server"));
  EXPECT_EQ(wait_for([]() -> task<std::string> {
              const std::string inside =
                  co_await weft::in_context(context::new_trace("request"), name_now());
              co_return inside + " " + current_name();
            }()),
            "request server");
}

TEST_P(InContext, ThrowsWhatTheTaskThrows) {
  EXPECT_THROW(wait_for([]() -> task<> {
                 co_await weft::in_context(context::new_trace("request"), []() -> task<> {
                   throw std::runtime_error("boom");
                   co_return;
                 }());
               }()),
               std::runtime_error);
}

TEST_P(InContext, IsAskedToStopWithWhoWaitsForIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(weft::sync_wait(
                   []() -> task<> {
                     co_await weft::in_context(context::new_trace("request"),
                                               []() -> task<> { co_await weft::sleep_for(1h); }());
                   }(),
                   stop.get_token()),
               weft::cancelled);
}

TEST(InContextErrors, AnEmptyTaskIsRefused) {
  EXPECT_THROW(static_cast<void>(weft::in_context(context(), task<>())), std::logic_error);
}

// A task may run before main() does.
const std::string name_at_start = weft::sync_wait(name_now());

TEST(InContextAtStart, IsNone) { EXPECT_EQ(name_at_start, ""); }

// A result that nobody wants is destroyed when its task, with the frame, has ended.
struct asks_at_the_end {
  std::latch* told = nullptr;
  std::string* name = nullptr;
  explicit asks_at_the_end(std::latch* t, std::string* n) : told(t), name(n) {}
  asks_at_the_end(asks_at_the_end&& other) noexcept
      : told(std::exchange(other.told, nullptr)), name(other.name) {}
  asks_at_the_end& operator=(asks_at_the_end&&) = delete;
  ~asks_at_the_end() {
    if (told == nullptr) return;
    *name = current_name();
    told->count_down();
  }
};

TEST(InContextAtTheEnd, IsThatOfTheTask) {
  weft::pool p({.workers = 1});
  std::latch told(1);
  std::string name;
  static_cast<void>(weft::spawn(
      p,
      [](std::latch& t, std::string& n) -> task<asks_at_the_end> {
        co_return asks_at_the_end(&t, &n);
      }(told, name),
      "ends"));
  told.wait();
  EXPECT_TRUE(name == "ends" || name.empty()) << name;
}

// A scope in a task holds between two awaits.
TEST(ContextScope, InATaskGivesWayToTheTasksOwn) {
  EXPECT_EQ(weft::sync_wait([]() -> task<std::string> {
              std::string seen;
              {
                const weft::context_scope scope(context::new_trace("inside"));
                seen = current_name();
              }
              co_return seen + "|" + current_name();
            }()),
            "inside|");
}

}  // namespace
