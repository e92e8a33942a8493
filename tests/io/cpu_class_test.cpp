#include <weft/io/cpu_class.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include <support/forbid_call.hpp>

namespace weft::io {
namespace {

struct standing {
  int policy = -1;
  int nice = -1;
};

standing of_this_thread() {
  return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()))};
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
  EXPECT_EQ(lowered.nice, 19);
  EXPECT_EQ(lowered.policy, before.policy);
  EXPECT_EQ(of_this_thread().nice, before.nice);
}

TEST(LowerThisThread, SaysWhyWhenItIsRefused) {
  standing after;
  std::error_code error;
  bool refused = false;
  std::thread([&] {
    refused = test::forbid_call(SYS_setpriority);
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
