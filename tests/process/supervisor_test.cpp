#include <weft/process/supervisor.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/scale.hpp>

#include "process/running.hpp"

namespace weft::process {
namespace {

using namespace std::chrono_literals;
using test::program;
using test::run;
using test::shell;
using test::start;
using ::testing::StartsWith;
using weft::test::rounds;

TEST(Supervisor, TellsTheExitCode) {
  supervisor with;
  const outcome ended = run(with, shell("exit 7"));
  EXPECT_EQ(ended.how, ending::exited);
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_FALSE(ended.ok());
  EXPECT_FALSE(ended.left_running);
  EXPECT_TRUE(run(with, program({"/bin/true"})).ok());
}

TEST(Supervisor, TellsTheSignalThatWasNotOurs) {
  supervisor with;
  const outcome ended = run(with, shell("kill -SEGV $$"));
  EXPECT_EQ(ended.how, ending::signalled);
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_EQ(ended.exit_code, -1);
  EXPECT_FALSE(ended.ok());
}

TEST(Supervisor, CapturesBothOutputsInOrder) {
  supervisor with;
  const outcome ended = run(with, shell("echo one; echo two >&2; echo three"));
  EXPECT_EQ(ended.output.text(), "one\ntwo\nthree\n");
}

TEST(Supervisor, TellsWhatACommandTook) {
  supervisor with;
  const auto before = std::chrono::steady_clock::now();
  const outcome ended = run(with, shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
  const auto after = std::chrono::steady_clock::now();
  ASSERT_TRUE(ended.ok());
  EXPECT_GE(ended.started, before);
  EXPECT_LE(ended.started + ended.duration, after);
  EXPECT_GT(ended.user_time + ended.system_time, 0ns);
  EXPECT_GT(ended.peak_rss, 100U << 10U);
}

std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) << 10U;
  }
  return 0;
}

TEST(Supervisor, HugeOutputCostsNoMoreThanItsHeadAndTail) {
  supervisor with;
  ASSERT_TRUE(run(with, shell("echo warm")).ok());
  const std::size_t before = peak_memory();
  ASSERT_GT(before, 0U);
  limits allowed;
  allowed.output_head = 6;
  allowed.output_tail = 4;
  const outcome ended =
      run(with, shell("echo begin; head -c 268435456 /dev/zero; echo end"), allowed);
  EXPECT_EQ(ended.output.head, "begin\n");
  EXPECT_EQ(ended.output.tail, "end\n");
  EXPECT_EQ(ended.output.dropped, 268435456U);
  EXPECT_THAT(ended.output.text(), StartsWith("begin\n[... 268435456 bytes left out ...]\n"));
  EXPECT_LT(peak_memory() - before, std::size_t{32} << 20U);
}

TEST(Supervisor, CommandThatClosesItsOutputHasNotEnded) {
  const test::temporary_directory directory;
  const test::signpost closed(directory / "closed");
  const test::signpost gate(directory / "gate");
  supervisor with;
  auto waiting = start(with, shell("exec >&- 2>&-; echo > " + closed.path() + "; read x < " +
                                   gate.path() + "; exit 3"));
  ASSERT_EQ(closed.read_line(), "");
  EXPECT_EQ(waiting.result.wait_for(0s), std::future_status::timeout);
  std::ofstream(gate.path()) << "go\n";
  EXPECT_EQ(waiting.result.get().exit_code, 3);
}

TEST(Supervisor, CommandThatLeavesSomebodyWithItsOutputEndsAndSaysSo) {
  const test::temporary_directory directory;
  const test::signpost ready(directory / "ready");
  const test::signpost gate(directory / "gate");
  supervisor with;
  auto leaving = start(
      with, shell("(echo left; exec 3> " + ready.path() + "; echo $$ >&3; exec 3>&-; read x < " +
                  gate.path() + ") & read x < " + ready.path() + "; exit 5"));
  const outcome ended = leaving.result.get();
  EXPECT_EQ(ended.how, ending::exited);
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_TRUE(ended.left_running);
  EXPECT_EQ(ended.output.text(), "left\n");
  std::ofstream(gate.path()) << "go\n";
}

TEST(Supervisor, ChainOfCompletionsThatStartTheNextIsAsLongAsYouLike) {
  const int length = rounds(1000);
  supervisor with;
  std::promise<int> last;
  int done = 0;
  std::function<void(outcome)> next = [&](const outcome& ended) {
    EXPECT_TRUE(ended.ok());
    if (++done == length) return last.set_value(done);
    with.start(program({"/bin/true"}), {}, [&](outcome result) { next(std::move(result)); });
  };
  with.start(program({"/bin/true"}), {}, [&](outcome result) { next(std::move(result)); });
  EXPECT_EQ(last.get_future().get(), length);
}

TEST(Supervisor, CommandThatCannotStartIsToldAfterStartHasReturned) {
  supervisor with;
  std::promise<bool> told;
  bool returned = false;
  with.start(program({"/bin/true"}), {}, [&](const outcome&) {
    with.start(program({"/no/such/file"}), {}, [&](const outcome& ended) {
      EXPECT_EQ(ended.how, ending::not_started);
      told.set_value(returned);
    });
    returned = true;
  });
  EXPECT_TRUE(told.get_future().get());
}

TEST(Supervisor, ThreadsMayStartAndStopAtOnce) {
  const int each = rounds(100);
  supervisor with;
  std::mutex mutex;
  std::vector<child_id> ids;
  int others = 0;
  std::latch all(4L * each);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int index = 0; index < each; ++index) {
          const child_id id = with.start(shell("exit 3"), {}, [&](const outcome& ended) {
            const bool is_known = ended.exit_code == 3 || ended.how == ending::stopped;
            const std::lock_guard lock(mutex);
            if (!is_known) ++others;
            all.count_down();
          });
          if (index % 3 == 0) with.stop(id, index % 2 == 0 ? stop_mode::now : stop_mode::gently);
          const std::lock_guard lock(mutex);
          ids.push_back(id);
        }
      });
    }
  }
  all.wait();
  EXPECT_EQ(others, 0);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(ids.size(), 4U * static_cast<std::size_t>(each));
  EXPECT_NE(ids.front(), 0U);
}

TEST(Supervisor, ThousandCommandsLeaveNoDescriptorAndNoZombie) {
  supervisor with;
  ASSERT_TRUE(run(with, program({"/bin/true"})).ok());
  const std::size_t before = test::count_own_descriptors();
  for (int round = 0; round < rounds(100); ++round) {
    std::vector<test::pending> some;
    some.reserve(10);
    for (int index = 0; index < 8; ++index) some.push_back(start(with, shell("echo x")));
    some.push_back(start(with, program({"/no/such/file"})));
    some.push_back(start(with, shell("exec sleep 1000")));
    with.stop(some.back().id, stop_mode::now);
    for (test::pending& each : some) each.result.wait();
  }
  EXPECT_EQ(test::count_own_descriptors(), before);
  EXPECT_EQ(test::count_zombies(), 0U);
}

}  // namespace
}  // namespace weft::process
