// A pool in a process that may not call membarrier, as under some container filters.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/asymmetric_fence.hpp>
#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

bool refuse_membarrier() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

const bool refused = refuse_membarrier();

class WithoutMembarrier : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!refused) GTEST_SKIP() << "this kernel has no seccomp filters";
    ASSERT_EQ(::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0U, 0), -1);
    ASSERT_FALSE(detail::asymmetric_fences_work());
  }
  pool p{{.workers = 2}};
  test::watchdog guard{60s, p};
};

int fib(int n) {
  if (n < 2) return n;
  auto [a, b] = join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST_F(WithoutMembarrier, JoinsGiveTheSameResults) {
  for (int i = 0; i < test::rounds(200); ++i) ASSERT_EQ(p.run([] { return fib(16); }), 987);
}

void count_rights(int depth, std::latch& rights) {
  if (depth == 0) return rights.wait();
  join([&] { count_rights(depth - 1, rights); }, [&] { rights.count_down(); });
}

TEST_F(WithoutMembarrier, OthersCompleteEveryForkOfABusyWorker) {
  for (int i = 0; i < test::rounds(2000); ++i) {
    std::latch rights(8);
    p.run([&] { count_rights(8, rights); });
  }
}

TEST_F(WithoutMembarrier, EverySideRunsOnce) {
  const int forks = test::rounds(200'000);
  std::vector<std::atomic<unsigned char>> ran(static_cast<std::size_t>(forks));
  p.run([&] {
    for (int i = 0; i < forks; i += 4) {
      auto side = [&](int k) {
        return [&ran, at = static_cast<std::size_t>(i + k)] { ++ran[at]; };
      };
      join([&] { join(side(0), side(1)); }, [&] { join(side(2), side(3)); });
    }
  });
  for (const auto& times : ran) ASSERT_EQ(times, 1);
}

TEST_F(WithoutMembarrier, GroupsAndFuturesWork) {
  for (int i = 0; i < test::rounds(5000); ++i) {
    std::atomic<int> ran{0};
    task_group g(p);
    for (int k = 0; k < 10; ++k) g.spawn([&] { ++ran; });
    g.wait();
    ASSERT_EQ(ran, 10);
    ASSERT_EQ(p.submit([] { return 1; }).then([](int x) { return x + 1; }).get(), 2);
  }
}

// The job is made public and somebody may be falling asleep: one of the two must see the other.
TEST_F(WithoutMembarrier, SpawnedJobIsTakenWhileTheSpawnerIsBusy) {
  pool eager({.workers = 2, .spin_limit = 0, .yield_limit = 1, .asymmetric_fences = false});
  eager.run([&] {
    for (int i = 0; i < test::rounds(100'000); ++i) {
      std::atomic<bool> ran{false};
      task_group g(eager);
      g.spawn([&] { ran = true; });
      for (int k = 0; k < (i * 7) % 150; ++k) asm volatile("");
      while (!ran)
        std::this_thread::yield();  // no wait that could help: the other worker must come
      g.wait();
    }
  });
}

}  // namespace
}  // namespace weft
