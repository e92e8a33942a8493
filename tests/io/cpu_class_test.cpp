#include <weft/io/cpu_class.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

namespace weft::io {
namespace {

struct standing {
  int policy = -1;
  int nice = -1;
};

standing of_this_thread() {
  return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()))};
}

// For the calling thread, for ever: these two calls fail.
bool refuse(int first, int second) {
  const auto number = [](int call) { return static_cast<unsigned>(call); };
  std::array<sock_filter, 5> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(first), 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(second), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  }};
  sock_fprog filter{.len = program.size(), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(LowerThisThread, LowersTheCallingThreadAndNoOther) {
  const standing before = of_this_thread();
  standing lowered;
  std::error_code error;
  std::thread([&] {
    error = lower_this_thread();
    lowered = of_this_thread();
  }).join();
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(lowered.policy, SCHED_IDLE);
  EXPECT_EQ(of_this_thread().policy, before.policy);
  EXPECT_NE(before.policy, SCHED_IDLE);
}

TEST(LowerThisThread, TakesTheHighestNiceValueWhereTheClassIsRefused) {
  const standing before = of_this_thread();
  standing lowered;
  std::error_code error;
  bool refused = false;
  std::thread([&] {
    refused = refuse(SYS_sched_setscheduler, SYS_sched_setscheduler);
    error = lower_this_thread();
    lowered = of_this_thread();
  }).join();
  if (!refused) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(lowered.policy, SCHED_OTHER);
  EXPECT_EQ(lowered.nice, 19);
  EXPECT_EQ(of_this_thread().nice, before.nice);
}

TEST(LowerThisThread, SaysWhyWhenBothAreRefused) {
  standing after;
  std::error_code error;
  bool refused = false;
  std::thread([&] {
    refused = refuse(SYS_sched_setscheduler, SYS_setpriority);
    error = lower_this_thread();
    after = of_this_thread();
  }).join();
  if (!refused) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(error, std::errc::operation_not_permitted);
  EXPECT_EQ(after.policy, of_this_thread().policy);
  EXPECT_EQ(after.nice, of_this_thread().nice);
}

}  // namespace
}  // namespace weft::io
