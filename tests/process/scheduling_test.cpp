// The scheduling class of commands: that of the program, whichever thread starts them.

#include "process/scheduling.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

#include "process/running.hpp"

namespace weft::process {
namespace {

using test::pending;
using test::program;
using test::run;
using test::shell;
using test::start;
using ::testing::HasSubstr;

bool make_idle_class() {
  const sched_param none{};
  return ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
}

bool make_nice() { return ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19) == 0; }

// For the calling thread and those it creates.
bool give_up_privilege() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  const unsigned bit = 1U << static_cast<unsigned>(CAP_SYS_NICE);
  sets[0].effective &= ~bit;
  sets[0].permitted &= ~bit;
  sets[0].inheritable &= ~bit;
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

bool has_privilege() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  const unsigned bit = 1U << static_cast<unsigned>(CAP_SYS_NICE);
  return ::syscall(SYS_capget, &header, sets.data()) == 0 && (sets[0].effective & bit) != 0;
}

struct shown_standing {
  int policy = -1;
  int nice = -1;
};

// Of the process that has printed its /proc/self/stat: nice is field 19 there, and policy field 41.
shown_standing standing_in(const outcome& ended) {
  const std::string text = ended.output.text();
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::vector<std::string> values{"pid", "comm"};
  for (std::string value; fields >> value;) values.push_back(value);
  if (values.size() < 41) return {};
  return {std::stoi(values[40]), std::stoi(values[18])};
}

shown_standing of_main_thread() {
  return {::sched_getscheduler(::getpid()),
          ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid()))};
}

const command show_standing = program({"/bin/cat", "/proc/self/stat"});

void in_thread(const std::function<void()>& body) { std::thread(body).join(); }

void expect_standing_of_main_thread(const outcome& ended) {
  const shown_standing shown = standing_in(ended);
  EXPECT_EQ(shown.policy, of_main_thread().policy) << ended.output.text();
  EXPECT_EQ(shown.nice, of_main_thread().nice) << ended.output.text();
}

TEST(Standing, TellsALoweredThreadFromTheMainThread) {
  EXPECT_FALSE(is_lowered(standing_of_this_thread(), standing_of_main_thread()));
  in_thread([] { EXPECT_FALSE(is_lowered(standing_of_this_thread(), standing_of_main_thread())); });
  in_thread([] {
    ASSERT_TRUE(make_idle_class());
    EXPECT_TRUE(is_lowered(standing_of_this_thread(), standing_of_main_thread()));
  });
  in_thread([] {
    ASSERT_TRUE(make_nice());
    EXPECT_TRUE(is_lowered(standing_of_this_thread(), standing_of_main_thread()));
  });
}

TEST(Standing, IsLoweredByClassOrByNiceValue) {
  const standing normal{};
  EXPECT_FALSE(is_lowered(normal, normal));
  EXPECT_FALSE(is_lowered(normal, {.is_idle_class = true}));
  EXPECT_FALSE(is_lowered({.nice = -5}, normal));
  EXPECT_FALSE(is_lowered({.nice = 10}, {.nice = 10}));
  EXPECT_TRUE(is_lowered({.is_idle_class = true}, normal));
  EXPECT_TRUE(is_lowered({.nice = 11}, {.nice = 10}));
}

// --- Commands ------------------------------------------------------------------------------------

TEST(Scheduling, CommandsStartedByALoweredThreadRunInTheClassOfTheMainThread) {
  for (const auto lower : {&make_idle_class, &make_nice}) {
    supervisor with;
    in_thread([&] {
      ASSERT_TRUE(lower());
      expect_standing_of_main_thread(run(with, show_standing));
      expect_standing_of_main_thread(run(with, shell("cat /proc/self/stat; true")));
    });
  }
}

TEST(Scheduling, ThatTakesNoPrivilege) {
  for (const auto lower : {&make_idle_class, &make_nice}) {
    in_thread([&] {
      ASSERT_TRUE(give_up_privilege());
      supervisor with;
      in_thread([&] {
        ASSERT_TRUE(lower());
        expect_standing_of_main_thread(run(with, show_standing));
      });
    });
  }
}

TEST(Scheduling, SupervisorMadeByALoweredThreadRaisesItselfWherePermitted) {
  if (!has_privilege()) GTEST_SKIP() << "needs CAP_SYS_NICE";
  for (const auto lower : {&make_idle_class, &make_nice}) {
    in_thread([&] {
      ASSERT_TRUE(lower());
      supervisor with;
      expect_standing_of_main_thread(run(with, show_standing));
    });
  }
}

TEST(Scheduling, SupervisorMadeByALoweredThreadWithoutPrivilegeStillRunsCommands) {
  rlimit allowed{};
  ASSERT_EQ(::getrlimit(RLIMIT_NICE, &allowed), 0);
  if (allowed.rlim_cur != 0) GTEST_SKIP() << "nice values may be lowered here";
  in_thread([] {
    ASSERT_TRUE(give_up_privilege());
    ASSERT_TRUE(make_idle_class());
    supervisor with;
    EXPECT_EQ(standing_in(run(with, show_standing)).policy, SCHED_IDLE);
  });
}

TEST(Scheduling, CommandThatALoweredThreadHasOrderedCanBeStoppedAtOnce) {
  supervisor with;
  in_thread([&] {
    ASSERT_TRUE(make_idle_class());
    pending sleeping = start(with, program({"/bin/sleep", "1000"}));
    with.stop(sleeping.id, stop_mode::now);
    EXPECT_FALSE(sleeping.result.get().ok());
  });
}

TEST(Scheduling, CommandThatALoweredThreadCannotStartSaysWhy) {
  supervisor with;
  in_thread([&] {
    ASSERT_TRUE(make_idle_class());
    const outcome failed = run(with, program({"/no/such/program"}));
    EXPECT_EQ(failed.start_error, ENOENT);
    EXPECT_THAT(failed.problem, HasSubstr("/no/such/program"));
  });
}

TEST(Scheduling, EveryCommandOfALoweredThreadEndsWithTheSupervisor) {
  auto with = std::make_unique<supervisor>();
  std::vector<pending> ordered;
  in_thread([&] {
    ASSERT_TRUE(make_idle_class());
    for (int i = 0; i < 8; ++i) ordered.push_back(start(*with, program({"/bin/sleep", "1000"})));
  });
  with.reset();
  for (pending& each : ordered) EXPECT_FALSE(each.result.get().ok());
}

}  // namespace
}  // namespace weft::process
