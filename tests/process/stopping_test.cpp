// What becomes of a command, and of everything it has started, when its time is up or somebody
// stops it.

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

#include <support/scale.hpp>

#include "process/running.hpp"

namespace weft::process {
namespace {

using namespace std::chrono_literals;
using test::run;
using test::shell;
using test::start;
using weft::test::rounds;

constexpr auto long_time = 1h;
const std::string sleeps = "exec sleep 1000";

limits limits_of(std::chrono::nanoseconds timeout, std::chrono::nanoseconds grace) {
  limits allowed;
  allowed.timeout = timeout;
  allowed.grace = grace;
  return allowed;
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) == -1 && errno == ESRCH; }

class Stopping : public ::testing::Test {
 protected:
  // Orphans come to us, so that not even a zombie of them may be left.
  static void SetUpTestSuite() { ASSERT_TRUE(become_subreaper()); }
  ~Stopping() override { EXPECT_EQ(test::count_zombies(), 0U); }

  const test::temporary_directory directory;
  const test::signpost ready{directory / "ready"};
  supervisor with;
};

// --- Signals and grace -------------------------------------------------------------------------

TEST_F(Stopping, CommandThatTakesTooLongIsTerminated) {
  const outcome ended =
      run(with, shell("echo begun; read x < " + ready.path()), limits_of(1s, long_time));
  EXPECT_EQ(ended.how, ending::timed_out);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_GE(ended.duration, 1s);
  EXPECT_FALSE(ended.left_running);
  EXPECT_EQ(ended.output.text(), "begun\n");
}

TEST_F(Stopping, CommandThatEndsInTimeHasNotTimedOut) {
  EXPECT_TRUE(run(with, shell("exit 0"), limits_of(long_time, 0s)).ok());
  EXPECT_TRUE(run(with, shell("exit 0"), limits_of(std::chrono::nanoseconds::max(), 0s)).ok());
}

TEST_F(Stopping, CommandMayCleanUpAndItsExitCodeIsTold) {
  auto waiting = start(
      with, shell("trap 'echo bye; exit 9' TERM; echo > " + ready.path() + "; while :; do :; done"),
      limits_of(0s, long_time));
  EXPECT_EQ(ready.read_line(), "");
  with.stop(waiting.id, stop_mode::gently);
  const outcome ended = waiting.result.get();
  EXPECT_EQ(ended.how, ending::stopped);
  EXPECT_EQ(ended.exit_code, 9);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.output.text(), "bye\n");
}

TEST_F(Stopping, CommandThatIgnoresSigtermIsKilledAfterTheGrace) {
  auto waiting = start(with, shell("trap '' TERM; echo > " + ready.path() + "; " + sleeps),
                       limits_of(0s, 100ms));
  EXPECT_EQ(ready.read_line(), "");
  with.stop(waiting.id, stop_mode::gently);
  const outcome ended = waiting.result.get();
  EXPECT_EQ(ended.how, ending::stopped);
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_GE(ended.duration, 100ms);
}

TEST_F(Stopping, StopNowGivesNoGrace) {
  auto waiting = start(with, shell("trap '' TERM; echo > " + ready.path() + "; " + sleeps),
                       limits_of(0s, long_time));
  EXPECT_EQ(ready.read_line(), "");
  with.stop(waiting.id, stop_mode::now);
  EXPECT_EQ(waiting.result.get().signal, SIGKILL);
}

TEST_F(Stopping, StopNowHastensAStopThatGivesGrace) {
  auto waiting = start(
      with,
      shell("trap 'echo told' TERM; echo > " + ready.path() + "; while :; do sleep 0.01; done"),
      limits_of(0s, long_time));
  EXPECT_EQ(ready.read_line(), "");
  with.stop(waiting.id, stop_mode::gently);
  with.stop(waiting.id, stop_mode::gently);
  with.stop(waiting.id, stop_mode::now);
  const outcome ended = waiting.result.get();
  EXPECT_EQ(ended.how, ending::stopped);
  EXPECT_EQ(ended.signal, SIGKILL);
}

TEST_F(Stopping, StopNowHastensATimeoutWhichStaysATimeout) {
  const test::signpost told(directory / "told");
  auto waiting =
      start(with, shell("trap 'echo > " + told.path() + "' TERM; while :; do sleep 0.01; done"),
            limits_of(200ms, long_time));
  EXPECT_EQ(told.read_line(), "");
  with.stop(waiting.id, stop_mode::now);
  const outcome ended = waiting.result.get();
  EXPECT_EQ(ended.how, ending::timed_out);
  EXPECT_EQ(ended.signal, SIGKILL);
}

TEST_F(Stopping, StoppedProcessIsTerminatedWithoutWaitingForTheGrace) {
  auto waiting =
      start(with, shell("echo $$ > " + ready.path() + "; " + sleeps), limits_of(0s, long_time));
  const pid_t pid = ready.read_pid();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  with.stop(waiting.id, stop_mode::gently);
  EXPECT_EQ(waiting.result.get().signal, SIGTERM);
}

TEST_F(Stopping, NobodyIsStoppedUnderAnUnknownNumber) {
  with.stop(0, stop_mode::now);
  with.stop(12345, stop_mode::now);
  EXPECT_TRUE(run(with, shell("exit 0")).ok());
}

TEST_F(Stopping, StopThatRacesWithTheEndGivesOneOfTheTwo) {
  for (int round = 0; round < rounds(300); ++round) {
    auto racing = start(with, shell("exit 3"));
    const auto mode = round % 2 == 0 ? stop_mode::now : stop_mode::gently;
    // From not at all to longer than the command takes.
    std::this_thread::sleep_for(std::chrono::microseconds(round * 17 % 2000));
    with.stop(racing.id, mode);
    const outcome ended = racing.result.get();
    if (ended.how == ending::exited) {
      EXPECT_EQ(ended.exit_code, 3);
    } else {
      ASSERT_EQ(ended.how, ending::stopped);
      EXPECT_TRUE(ended.signal == SIGTERM || ended.signal == SIGKILL || ended.exit_code == 3);
    }
  }
}

// --- The whole tree ----------------------------------------------------------------------------

// A script whose process, told by `ready`, is not the command's first one.
struct tree_case {
  const char* name;
  const char* script;
};

void PrintTo(const tree_case& which, std::ostream* out) { *out << which.name; }

class Tree : public Stopping, public ::testing::WithParamInterface<tree_case> {
 protected:
  [[nodiscard]] command script() const {
    command what = shell(GetParam().script);
    what.env = {{"READY", ready.path()}};
    return what;
  }
};

TEST_P(Tree, IsGoneAfterTheTimeout) {
  // Long enough for the script to say who it is, also on a machine that is busy.
  constexpr auto timeout = 1s;
  constexpr auto grace = 200ms;
  auto waiting = start(with, script(), limits_of(timeout, grace));
  const test::watched_process other(ready.read_pid());
  const outcome ended = waiting.result.get();
  EXPECT_TRUE(other.has_ended());
  EXPECT_TRUE(is_gone(other.pid()));
  EXPECT_EQ(ended.how, ending::timed_out);
  EXPECT_FALSE(ended.left_running);
  EXPECT_LT(std::chrono::steady_clock::now() - ended.started, 10 * (timeout + grace));
}

TEST_P(Tree, IsGoneAfterAStopNow) {
  auto waiting = start(with, script());
  const test::watched_process other(ready.read_pid());
  with.stop(waiting.id, stop_mode::now);
  const outcome ended = waiting.result.get();
  EXPECT_TRUE(other.has_ended());
  EXPECT_TRUE(is_gone(other.pid()));
  EXPECT_EQ(ended.how, ending::stopped);
  EXPECT_FALSE(ended.left_running);
}

TEST_P(Tree, IsGoneWhenTheSupervisorIs) {
  std::future<outcome> result;
  pid_t other = 0;
  {
    supervisor shorter;
    auto waiting = start(shorter, script());
    result = std::move(waiting.result);
    other = ready.read_pid();
  }
  EXPECT_TRUE(is_gone(other));
  EXPECT_EQ(result.get().how, ending::stopped);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Tree,
    ::testing::Values(
        tree_case{"child in the group", "sh -c 'echo $$ > $READY; exec sleep 1000'; :"},
        tree_case{"child that ignores SIGTERM",
                  "sh -c 'trap \"\" TERM; echo $$ > $READY; exec sleep 1000' & wait"},
        tree_case{"child in a session of its own that holds the output",
                  "setsid sh -c 'echo $$ > $READY; exec sleep 1000' & wait"},
        tree_case{"orphan in the group",
                  "(sh -c 'echo $$ > $READY; exec sleep 1000' &); exec sleep 1000"},
        tree_case{"orphan in a session of its own",
                  "(setsid sh -c 'echo $$ > $READY; exec sleep 1000' &); exec sleep 1000"},
        tree_case{"orphan in a session of its own that ignores SIGTERM",
                  "(setsid sh -c 'trap \"\" TERM; echo $$ > $READY; exec sleep 1000' &); exec "
                  "sleep 1000"},
        tree_case{"orphan that let go of the output",
                  "(setsid sh -c 'echo $$ > $READY; exec sleep 1000' > /dev/null 2>&1 &); exec "
                  "sleep 1000"},
        tree_case{"child with an empty environment in a session of its own",
                  "R=$READY; setsid env -i R=$R /bin/sh -c 'echo $$ > $R; exec /bin/sleep 1000' & "
                  "wait"}));

TEST_F(Stopping, TreeThatGrowsWhileItIsKilledIsGone) {
  // Each of them starts its successor in another session and ends.
  const std::string script = directory / "grow.sh";
  test::write_file(script,
                   "#!/bin/sh\n[ $1 = 3 ] && echo $$ > " + ready.path() +
                       "\nsleep 0.02\nsetsid \"$0\" $(($1 + 1)) &\nexit 0\n",
                   0755);
  auto waiting = start(with, shell(script + " 0; " + sleeps));
  EXPECT_GT(ready.read_pid(), 0);
  with.stop(waiting.id, stop_mode::now);
  EXPECT_FALSE(waiting.result.get().left_running);
  const process_table table = process_table::read();
  for (const process_info& who : table.all()) {
    std::ifstream line("/proc/" + std::to_string(who.pid) + "/cmdline");
    const std::string text{std::istreambuf_iterator<char>(line), {}};
    EXPECT_EQ(text.find(script), std::string::npos) << who.pid;
  }
  // Those that ended before anybody looked have come to us, and nobody knows whose they were.
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_F(Stopping, CommandInsideACommandIsFoundByTheOuterMark) {
  // What a supervisor inside a command does: its commands have marks of their own.
  auto outer = start(with, shell("export WEFT_COMMAND_ID=$WEFT_COMMAND_ID:1-2-3; (setsid sh -c "
                                 "'echo $$ > " +
                                 ready.path() + "; exec sleep 1000' &); " + sleeps));
  const pid_t inner = ready.read_pid();
  with.stop(outer.id, stop_mode::now);
  outer.result.wait();
  EXPECT_TRUE(is_gone(inner));
}

TEST_F(Stopping, OrphansOfCommandsThatEndedAreWaitedForWhenOthersEnd) {
  const test::signpost gate(directory / "gate");
  ASSERT_TRUE(run(with, shell("(read x < " + gate.path() + ") > /dev/null 2>&1 &")).ok());
  EXPECT_TRUE(run(with, shell("exit 0")).ok());
  const test::watched_process orphan = [&] {
    const process_table table = process_table::read();
    for (const process_info& who : table.all()) {
      if (who.parent == ::getpid()) return test::watched_process(who.pid);
    }
    return test::watched_process(0);
  }();
  ASSERT_FALSE(orphan.has_ended());
  std::ofstream(gate.path()) << "go\n";
  orphan.wait();
  EXPECT_EQ(test::count_zombies(), 1U);
  EXPECT_TRUE(run(with, shell("exit 0")).ok());
  EXPECT_TRUE(is_gone(orphan.pid()));
}

TEST_F(Stopping, OtherCommandsGoOn) {
  const test::signpost gate(directory / "gate");
  auto other = start(with, shell("read x < " + gate.path() + "; echo $x"));
  auto waiting = start(with, shell("echo > " + ready.path() + "; " + sleeps));
  EXPECT_EQ(ready.read_line(), "");
  with.stop(waiting.id, stop_mode::now);
  EXPECT_EQ(waiting.result.get().how, ending::stopped);
  std::ofstream(gate.path()) << "still here\n";
  EXPECT_EQ(other.result.get().output.text(), "still here\n");
}

// --- The destructor ----------------------------------------------------------------------------

TEST_F(Stopping, DestructorKillsWhatRunsAndCallsEveryCompletion) {
  std::vector<std::future<outcome>> results;
  {
    supervisor shorter;
    for (int index = 0; index < 20; ++index) {
      results.push_back(start(shorter, shell("trap '' TERM; " + sleeps)).result);
    }
  }
  for (auto& result : results) {
    ASSERT_EQ(result.wait_for(0s), std::future_status::ready);
    const outcome ended = result.get();
    EXPECT_EQ(ended.how, ending::stopped);
    EXPECT_EQ(ended.signal, SIGKILL);
  }
}

TEST_F(Stopping, CompletionThatStartsAnotherDuringTheDestructorIsToldThatItIsTooLate) {
  std::vector<ending> endings;
  {
    supervisor shorter;
    shorter.start(shell(sleeps), {}, [&](const outcome& first) {
      endings.push_back(first.how);
      shorter.start(shell(sleeps), {}, [&](const outcome& second) {
        endings.push_back(second.how);
        EXPECT_EQ(second.start_error, ECANCELED);
      });
    });
  }
  EXPECT_EQ(endings, (std::vector{ending::stopped, ending::not_started}));
}

}  // namespace
}  // namespace weft::process
