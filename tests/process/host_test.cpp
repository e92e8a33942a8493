// The program around a supervisor: its signals, its own children, its forks.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

#include <support/scale.hpp>

#include "process/running.hpp"

namespace weft::process {
namespace {

using namespace std::chrono_literals;
using test::program;
using test::run;
using test::shell;
using test::start;
using ::testing::HasSubstr;

TEST(Host, DispositionsAndMaskStayAsTheyWere) {
  sigset_t mask_before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  {
    supervisor with;
    ASSERT_TRUE(run(with, program({"/bin/true"})).ok());
    auto waiting = start(with, shell("exec sleep 1000"));
    with.stop(waiting.id, stop_mode::gently);
    waiting.result.wait();
  }
  for (const int signal : {SIGCHLD, SIGPIPE, SIGTERM}) {
    struct sigaction now{};
    ASSERT_EQ(::sigaction(signal, nullptr, &now), 0);
    EXPECT_EQ(now.sa_handler, SIG_DFL) << signal;
  }
  sigset_t mask_after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  for (int signal = 1; signal < 32; ++signal) {
    EXPECT_EQ(::sigismember(&mask_after, signal), ::sigismember(&mask_before, signal)) << signal;
  }
}

TEST(Host, ItsOwnChildrenAreLeftToIt) {
  supervisor with;
  const pid_t own = ::fork();
  if (own == 0) ::_exit(42);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(own), &info, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(run(with, program({"/bin/true"})).ok());
  auto waiting = start(with, shell("exec sleep 1000"));
  with.stop(waiting.id, stop_mode::now);
  EXPECT_EQ(waiting.result.get().how, ending::stopped);
  int status = 0;
  EXPECT_EQ(::waitpid(own, &status, 0), own);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Host, ThatIgnoresSigchldLosesExitStatusesAndIsTold) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    supervisor with;
    const outcome ended = run(with, shell("echo x; exit 3"));
    EXPECT_EQ(ended.how, ending::exited);
    EXPECT_EQ(ended.exit_code, -1);
    EXPECT_FALSE(ended.ok());
    EXPECT_THAT(ended.problem, HasSubstr("ignores SIGCHLD"));
    EXPECT_EQ(ended.output.text(), "x\n");
    auto waiting = start(with, shell("exec sleep 1000"));
    with.stop(waiting.id, stop_mode::gently);
    EXPECT_EQ(waiting.result.get().how, ending::stopped);
  }
  std::signal(SIGCHLD, before);
}

TEST(HostDeathTest, UseInAForkedChildIsABug) {
  if (weft::test::under_tsan) GTEST_SKIP() << "does not follow a fork with threads";
  supervisor with;
  EXPECT_DEATH(with.start(program({"/bin/true"}), {}, [](const outcome&) {}), "forked child");
}

}  // namespace
}  // namespace weft::process
