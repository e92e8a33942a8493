// Ways a program with a pool can end. Each test is a program of its own.

#include <cstdlib>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

namespace weft {
namespace {

using ::testing::ExitedWithCode;

class ExitDeathTest : public ::testing::Test {
 protected:
  ExitDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

[[noreturn]] void leave() { std::exit(0); }  // NOLINT(concurrency-mt-unsafe)

[[noreturn]] void leave_with_static_pool() {
  static pool p({.workers = 2});
  for (int i = 0; i < 100; ++i) p.spawn([] {});
  leave();
}
TEST_F(ExitDeathTest, StaticPoolIsDrainedAtExit) {
  EXPECT_EXIT(leave_with_static_pool(), ExitedWithCode(0), "");
}

[[noreturn]] void leave_with_global_pool() {
  std::latch inside(1);
  pool::global().spawn([&] { inside.count_down(); });
  inside.wait();
  static_cast<void>(pool::global().submit([] { return 1; }));
  leave();
}
TEST_F(ExitDeathTest, GlobalPoolDoesNotHinderTheExit) {
  EXPECT_EXIT(leave_with_global_pool(), ExitedWithCode(0), "");
}

pool& static_pool() {
  static pool p({.workers = 2});
  return p;
}

struct submits_when_destroyed {
  ~submits_when_destroyed() {
    if (armed && static_pool().submit([] { return 5; }).get() != 5) std::abort();
    if (armed) join([] {}, [] {});
  }
  bool armed = false;
};

thread_local submits_when_destroyed at_thread_end;

[[noreturn]] void leave_with_thread_local() {
  static_pool().run([] {});
  at_thread_end.armed = true;
  leave();
}
TEST_F(ExitDeathTest, ThreadLocalObjectsMaySubmitWhenTheyAreDestroyed) {
  EXPECT_EXIT(leave_with_thread_local(), ExitedWithCode(0), "");
}

[[noreturn]] void leave_with_thread_locals_of_others() {
  for (int i = 0; i < 4; ++i) {
    std::jthread([] {
      static_pool().run([] {});
      at_thread_end.armed = true;
    });
  }
  leave();
}
TEST_F(ExitDeathTest, ThreadsThatEndMaySubmit) {
  EXPECT_EXIT(leave_with_thread_locals_of_others(), ExitedWithCode(0), "");
}

[[noreturn]] void leave_from_static_destructor() {
  static submits_when_destroyed last;  // made after the pool, so destroyed before it
  static_pool().run([] {});
  last.armed = true;
  leave();
}
TEST_F(ExitDeathTest, StaticObjectsMaySubmitBeforeThePoolIsGone) {
  EXPECT_EXIT(
      {
        static_pool();
        leave_from_static_destructor();
      },
      ExitedWithCode(0), "");
}

[[noreturn]] void leave_from_a_job() {
  pool::global().spawn([] { leave(); });
  std::latch never(1);
  never.wait();
  std::abort();
}
TEST_F(ExitDeathTest, JobOfTheGlobalPoolMayCallExit) {
  EXPECT_EXIT(leave_from_a_job(), ExitedWithCode(0), "");
}

[[noreturn]] void leave_with_blocked_job() {
  static std::latch never(1);
  static std::latch inside(1);
  pool::global().spawn([] {
    inside.count_down();
    never.wait();
  });
  inside.wait();
  leave();
}
TEST_F(ExitDeathTest, JobThatNeverEndsOnTheGlobalPoolDoesNotHinderTheExit) {
  EXPECT_EXIT(leave_with_blocked_job(), ExitedWithCode(0), "");
}

[[noreturn]] void bad_variable() {
  ::setenv("WEFT_WORKERS", "many", 1);
  try {
    join([] {}, [] {});
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s\n", e.what());
    leave();
  }
  std::abort();
}
TEST_F(ExitDeathTest, BadVariableIsReportedByTheFirstUseOfTheGlobalPool) {
  EXPECT_EXIT(bad_variable(), ExitedWithCode(0), "WEFT_WORKERS.*many");
}

}  // namespace
}  // namespace weft
