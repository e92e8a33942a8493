// What a command sees of the process that starts it: its arguments, and nothing by accident.

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

#include <support/property.hpp>
#include "process/running.hpp"

namespace weft::process {
namespace {

using namespace std::chrono_literals;
using test::program;
using test::run;
using test::shell;
using test::start;
using ::testing::ElementsAre;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream from(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

// --- Arguments ---------------------------------------------------------------------------------

rc::Gen<std::string> any_argument() {
  const auto byte =
      rc::gen::map(rc::gen::inRange(1, 256), [](int value) { return static_cast<char>(value); });
  return rc::gen::oneOf(
      rc::gen::container<std::string>(byte),
      rc::gen::element<std::string>("", "; rm -rf /", "$(touch x)", "`id`", "a\nb", "-rf", "--",
                                    "%s%n", "*", "~", "\\", "'", "\"", "${PATH}", "a b\tc", "|&"));
}

TEST(Arguments, ArriveByteForByte) {
  supervisor with;
  std::size_t checked = 0;
  EXPECT_TRUE(weft::test::holds("arguments", [&] {
    const auto arguments = *rc::gen::container<std::vector<std::string>>(40, any_argument());
    std::vector<std::string> argv = {"/usr/bin/printf", "%s\\0"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    limits allowed;
    allowed.output_head = std::size_t{1} << 20U;
    const outcome ended = run(with, program(argv), allowed);
    std::string expected;
    for (const std::string& argument : arguments) expected += argument + '\0';
    RC_ASSERT(ended.ok());
    RC_ASSERT(ended.output.head == expected);
    checked += arguments.size();
  }));
  EXPECT_GE(checked, 2000U);
}

TEST(Arguments, FirstOneIsLookedUpInThePathOfTheCommand) {
  const test::temporary_directory directory;
  std::filesystem::create_directory(directory / "a");
  std::filesystem::create_directory(directory / "b");
  std::filesystem::create_directories(directory / "c/tool");
  test::write_file(directory / "a/tool", "#!/bin/sh\necho a\n", 0644);
  test::write_file(directory / "b/tool", "#!/bin/sh\necho b $0\n", 0755);
  supervisor with;
  command what = program({"tool"});
  what.env = {{"PATH", (directory / "c") + ":" + (directory / "a") + ":" + (directory / "b")}};
  const outcome ended = run(with, what);
  EXPECT_EQ(ended.output.text(), "b " + (directory / "b/tool") + "\n") << ended.problem;
  what.cwd = directory.path();
  what.env = {{"PATH", "a:b"}};
  EXPECT_EQ(run(with, what).output.text(), "b b/tool\n");
  what.cwd = directory / "b";
  what.env = {{"PATH", ":/nowhere"}};
  EXPECT_EQ(run(with, what).output.text(), "b ./tool\n");
  EXPECT_EQ(run(with, program({"echo", "from our own PATH"})).output.text(), "from our own PATH\n");
}

// --- Environment and directory -----------------------------------------------------------------

TEST(Surroundings, EnvironmentIsOursAndWhatIsAdded) {
  ::setenv("WEFT_TEST_OURS", "ours", 1);
  supervisor with;
  command what = shell("echo $WEFT_TEST_OURS $WEFT_TEST_ADDED");
  what.env = {{"WEFT_TEST_ADDED", "added"}};
  EXPECT_EQ(run(with, what).output.text(), "ours added\n");
  what.env.emplace_back("WEFT_TEST_OURS", "theirs");
  EXPECT_EQ(run(with, what).output.text(), "theirs added\n");
  ::unsetenv("WEFT_TEST_OURS");
}

TEST(Surroundings, DirectoryIsTheOneGiven) {
  const test::temporary_directory directory;
  supervisor with;
  command what = program({"/bin/pwd", "-P"});
  what.cwd = directory.path();
  EXPECT_EQ(run(with, what).output.text(),
            std::filesystem::canonical(directory.path()).string() + "\n");
  test::write_file(directory / "here.sh", "#!/bin/sh\necho here\n", 0755);
  what.argv = {"./here.sh"};
  EXPECT_EQ(run(with, what).output.text(), "here\n");
}

TEST(Surroundings, StandardInputIsEmpty) {
  supervisor with;
  const outcome ended = run(with, shell("cat; readlink /proc/self/fd/0"));
  EXPECT_EQ(ended.output.text(), "/dev/null\n");
}

TEST(Surroundings, GroupIsItsOwn) {
  supervisor with;
  const outcome ended = run(with, shell("cut -d ' ' -f 1,5 /proc/$$/stat"));
  std::istringstream fields(ended.output.text());
  pid_t pid = 0;
  pid_t group = 0;
  fields >> pid >> group;
  EXPECT_GT(pid, 0);
  EXPECT_EQ(group, pid);
}

// --- Descriptors -------------------------------------------------------------------------------

std::vector<std::string> descriptors_seen_by_a_command(supervisor& with) {
  const outcome ended = run(with, shell("for f in 0 1 2 3 4 5 6 7 8 9 10 20 50 100; do "
                                        "[ -e /proc/$$/fd/$f ] && echo $f; done; :"));
  return lines_of(ended.output.text());
}

TEST(Descriptors, CommandHasThreeWhateverWeHaveOpen) {
  std::vector<descriptor> leaking;  // without O_CLOEXEC
  for (int index = 0; index < 60; ++index) leaking.emplace_back(::open("/dev/null", O_RDONLY));
  ASSERT_GE(leaking.back().get(), 50);
  supervisor with;
  EXPECT_THAT(descriptors_seen_by_a_command(with), ElementsAre("0", "1", "2"));
}

TEST(Descriptors, HostWithoutStandardStreamsCanStartCommandsToo) {
  std::array<int, 3> saved{};
  for (int number = 0; number < 3; ++number) {
    saved.at(static_cast<std::size_t>(number)) = ::fcntl(number, F_DUPFD_CLOEXEC, 10);
    ::close(number);
  }
  std::vector<std::string> seen;
  std::string text;
  {
    supervisor with;
    seen = descriptors_seen_by_a_command(with);
    text = run(with, shell("echo out; echo err >&2; cat")).output.text();
  }
  for (int number = 0; number < 3; ++number) {
    ::dup2(saved.at(static_cast<std::size_t>(number)), number);
    ::close(saved.at(static_cast<std::size_t>(number)));
  }
  EXPECT_THAT(seen, ElementsAre("0", "1", "2"));
  EXPECT_EQ(text, "out\nerr\n");
}

// A pipe that another child inherits never comes to its end.
TEST(Descriptors, EveryOutputEndsWhileAnotherCommandLives) {
  const test::temporary_directory directory;
  const test::signpost gate(directory / "gate");
  supervisor with;
  std::vector<test::pending> before;
  std::vector<test::pending> after;
  for (int index = 0; index < 32; ++index) before.push_back(start(with, shell("echo x")));
  auto living = start(with, shell("read x < " + gate.path()));
  for (int index = 0; index < 32; ++index) after.push_back(start(with, shell("echo x")));
  for (auto* group : {&before, &after}) {
    for (test::pending& each : *group) {
      const outcome ended = each.result.get();
      EXPECT_TRUE(ended.ok());
      EXPECT_FALSE(ended.left_running);
      EXPECT_EQ(ended.output.text(), "x\n");
    }
  }
  EXPECT_EQ(living.result.wait_for(0s), std::future_status::timeout);
  std::ofstream(gate.path()) << "go\n";
  EXPECT_TRUE(living.result.get().ok());
}

// --- Signals -----------------------------------------------------------------------------------

TEST(Signals, NoneIsBlockedOrIgnoredWhateverWeBlockAndIgnore) {
  sigset_t some;
  sigset_t before;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGINT);
  ::sigaddset(&some, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &some, &before);
  const auto pipe_before = std::signal(SIGPIPE, SIG_IGN);
  const auto hang_up_before = std::signal(SIGHUP, SIG_IGN);
  supervisor with;
  const outcome ended = run(with, program({"/bin/grep", "^Sig[BI]", "/proc/self/status"}));
  const outcome from_completion = [&] {
    std::promise<outcome> second;
    with.start(program({"/bin/true"}), {}, [&](const outcome&) {
      with.start(program({"/bin/grep", "^Sig[BI]", "/proc/self/status"}), {},
                 [&](outcome result) { second.set_value(std::move(result)); });
    });
    return second.get_future().get();
  }();
  std::signal(SIGPIPE, pipe_before);
  std::signal(SIGHUP, hang_up_before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const auto none = ElementsAre("SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000");
  EXPECT_THAT(lines_of(ended.output.text()), none);
  EXPECT_THAT(lines_of(from_completion.output.text()), none);
}

}  // namespace
}  // namespace weft::process
