// What a pool costs while it does nothing, and how many threads it wakes for one job.

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <latch>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

struct usage {
  std::int64_t cpu_ns = 0;
  std::int64_t switches = 0;
};

class Idle : public ::testing::Test {
 protected:
  pool_options options() {
    return {.workers = 3, .on_thread_start = [this](unsigned index) {
              const std::lock_guard lock(mutex);
              tid[index] = static_cast<pid_t>(::syscall(SYS_gettid));
              ::pthread_getcpuclockid(::pthread_self(), &clock[index]);
              started.count_down();
            }};
  }

  usage of(unsigned index) {
    usage u;
    timespec t{};
    ::clock_gettime(clock.at(index), &t);
    u.cpu_ns = std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    std::ifstream status("/proc/self/task/" + std::to_string(tid.at(index)) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.find("ctxt_switches:") != std::string::npos) {
        u.switches += std::stoll(line.substr(line.find(':') + 1));
      }
    }
    EXPECT_GT(u.switches, 0) << "the counters could not be read";
    return u;
  }

  // Until every worker has gone to sleep in the kernel: one that still runs changes its counters.
  void wait_until_quiet() {
    started.wait();
    while (p.stats().idle_workers < p.workers() || p.stats().parks < p.stats().wakes) {
      std::this_thread::yield();
    }
    for (unsigned i = 0; i < p.workers(); ++i) {
      for (char state = 'R'; state != 'S';) {
        std::ifstream stat("/proc/self/task/" + std::to_string(tid.at(i)) + "/stat");
        std::string text;
        std::getline(stat, text);
        state = text.at(text.rfind(')') + 2);
      }
    }
  }

  std::mutex mutex;
  std::latch started{3};
  std::map<unsigned, pid_t> tid;
  std::map<unsigned, clockid_t> clock;
  pool p{options()};
  test::watchdog guard{60s, p};
};

// The one test that lets time pass: it is the idle time itself that is looked at.
TEST_F(Idle, PoolWithoutWorkUsesNoCpuAndSwitchesNoContext) {
  for (int i = 0; i < 1000; ++i) p.spawn([] { join([] {}, [] {}); });
  p.submit([] {}).get();
  wait_until_quiet();
  std::map<unsigned, usage> before;
  for (unsigned i = 0; i < 3; ++i) before[i] = of(i);
  std::this_thread::sleep_for(2s);
  for (unsigned i = 0; i < 3; ++i) {
    const usage now = of(i);
    EXPECT_EQ(now.switches, before[i].switches) << "worker " << i;
    EXPECT_LT(now.cpu_ns - before[i].cpu_ns, 2'000'000) << "worker " << i;
  }
}

TEST_F(Idle, OneJobAtATimeWakesOneWorkerAtATime) {
  const int count = test::rounds(20'000);
  p.submit([] {}).get();
  const std::uint64_t before = p.stats().wakes;
  for (int i = 0; i < count; ++i) p.submit([] {}).get();
  const auto wakes = static_cast<double>(p.stats().wakes - before);
  EXPECT_LE(wakes / count, 1.2);
}

TEST_F(Idle, OneJobAtATimeFromASleepingPoolWakesOneWorker) {
  const int count = test::rounds(2'000);
  wait_until_quiet();
  const std::uint64_t before = p.stats().wakes;
  for (int i = 0; i < count; ++i) {
    p.submit([] {}).get();
    wait_until_quiet();
  }
  const auto wakes = static_cast<double>(p.stats().wakes - before);
  EXPECT_LE(wakes / count, 1.2);
}

}  // namespace
}  // namespace weft
