// What becomes of a pool in a forked child.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// Runs f in a forked child, returns the exit code or -1.
int in_child(const std::function<void()>& f) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    f();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <class F>
bool throws_used_after_fork(F f) {
  try {
    f();
  } catch (const used_after_fork&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

class Fork : public ::testing::Test {
 protected:
  // A thread that is just starting holds locks of the sanitizers' allocator, which a fork would
  // copy.
  Fork() { started.wait(); }

  test::watchdog guard{60s, [this] { return p.dump(); }};
  std::latch started{2};
  pool p{{.workers = 2, .on_thread_start = [this](unsigned) { started.count_down(); }}};
};

TEST_F(Fork, ChildThatUsesThePoolGetsAnException) {
  EXPECT_EQ(in_child([&] {
              const bool all = throws_used_after_fork([&] { p.run([] {}); }) &&
                               throws_used_after_fork([&] { p.spawn([] {}); }) &&
                               throws_used_after_fork([&] { auto f = p.submit([] {}); }) &&
                               throws_used_after_fork([&] { p.resize(1); }) &&
                               throws_used_after_fork([&] { task_group(p).spawn([] {}); });
              ::_exit(all ? 0 : 1);
            }),
            0);
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1) << "the parent's pool is untouched";
}

TEST_F(Fork, ChildThatUsesTheGlobalPoolGetsAnException) {
  pool::global();
  EXPECT_EQ(in_child([&] {
              const bool all = throws_used_after_fork([&] { pool::global().run([] {}); }) &&
                               throws_used_after_fork([&] { join([] {}, [] {}); });
              ::_exit(all ? 0 : 1);
            }),
            0);
}

TEST_F(Fork, ChildMayLeaveAtOnce) {
  EXPECT_EQ(in_child([] { ::_exit(3); }), 3);
}

TEST_F(Fork, ChildMayLeaveThroughExit) {
  EXPECT_EQ(in_child([] { std::exit(4); }), 4);  // NOLINT(concurrency-mt-unsafe)
}

TEST_F(Fork, ChildMayDestroyAndShutDownThePool) {
  auto q = std::make_unique<pool>(pool_options{.workers = 2});
  EXPECT_EQ(in_child([&] {
              q->shutdown();
              q.reset();
              ::_exit(0);
            }),
            0);
  EXPECT_EQ(q->submit([] { return 1; }).get(), 1);
}

TEST_F(Fork, ChildMayMakeAPoolOfItsOwn) {
  if (test::under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork";
  EXPECT_EQ(in_child([] {
              pool own({.workers = 2});
              const int r = own.submit([] { return 5; }).get();
              own.shutdown();
              ::_exit(r);
            }),
            5);
}

TEST_F(Fork, ForkInsideAJobLeavesTheChildOutsideThePool) {
  const int code = p.run([&] {
    return in_child([&] {
      const bool ok = pool::current() == nullptr && throws_used_after_fork([&] { p.run([] {}); });
      ::_exit(ok ? 0 : 1);
    });
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1);
}

TEST_F(Fork, ForkWhileThePoolWorks) {
  std::atomic<bool> over{false};
  std::latch begun(1);
  auto busy = p.submit([&] {
    begun.count_down();
    int n = 0;
    do {
      auto [a, b] = join([] { return 1; }, [] { return 1; });
      n = a + b;
    } while (!over);
    return n;
  });
  begun.wait();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child([] { ::_exit(0); }), 0);
  over = true;
  EXPECT_GT(busy.get(), 0);
}

TEST_F(Fork, ChildThatWaitsForAJobOfTheParentGetsAnException) {
  std::latch out(1);
  auto f = p.submit([&] { out.wait(); });
  auto g = std::make_unique<task_group>(p);
  g->spawn([] {});
  EXPECT_EQ(in_child([&] {
              const bool get = throws_used_after_fork([&] { f.get(); });
              const bool then = throws_used_after_fork([&] { std::move(f).then([] {}).get(); });
              const bool group = throws_used_after_fork([&] { g->wait(); });
              g.reset();  // does not wait
              ::_exit(get && then && group ? 0 : 1);
            }),
            0);
  out.count_down();
  f.get();  // the job uses this frame
}

TEST_F(Fork, ChildMayUseAPoolOfItsOwnWhileTheParentAllocatesJobs) {
  if (test::under_sanitizer) {
    GTEST_SKIP() << "a sanitizer's allocator is locked in the child when another thread was in it";
  }
  std::atomic<bool> stop{false};
  std::jthread busy([&] {
    while (!stop) {
      std::vector<future<int>> futures;
      for (int i = 0; i < 400; ++i) futures.push_back(p.submit([] { return 1; }));
      for (auto& f : futures) f.get();
    }
  });
  for (int round = 0; round < test::rounds(200); ++round) {
    ASSERT_EQ(in_child([] {
                pool q({.workers = 2});
                std::vector<future<int>> futures;
                for (int i = 0; i < 300; ++i) futures.push_back(q.submit([] { return 1; }));
                for (auto& f : futures) f.get();
                ::_exit(0);
              }),
              0);
  }
  stop = true;
}

}  // namespace
}  // namespace weft
